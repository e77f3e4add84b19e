//! Public data sets, logs of requests, and traces.

use super::Known;

/// What no source takes for its own.
const PLAIN: u8 = 50;

pub(super) static LOOKS: &[Known] = &[
    Known {
        id: "oasst",
        name: "OpenAssistant's data",
        confidence: PLAIN,
        sees: |seen| {
            let is_tree = seen.has(&["message_tree_id"])
                || seen.has(&["prompt.message_id"])
                || seen.says("role", &["prompter"]) && seen.has(&["text"]);
            is_tree.then_some("messages are a tree whose speakers are prompter and assistant")
        },
    },
    Known {
        id: "wildchat",
        name: "WildChat's data",
        confidence: PLAIN,
        sees: |seen| {
            seen.has(&["conversation_hash", "conversation"])
                .then_some("records have conversation_hash")
        },
    },
    Known {
        id: "lmsys",
        name: "LMSYS-Chat's data",
        confidence: PLAIN,
        sees: |seen| {
            seen.has(&["conversation[].role", "conversation[].content"])
                .then_some("records have a conversation of messages with role and content")
        },
    },
    Known {
        id: "ultrachat",
        name: "UltraChat's data",
        confidence: PLAIN,
        sees: |seen| {
            seen.has(&["id", "data[]"])
                .then_some("records have data, a list of texts in turn")
        },
    },
    Known {
        id: "alpaca",
        name: "instruction data as Alpaca has it",
        confidence: PLAIN,
        sees: |seen| {
            seen.has(&["instruction", "output"])
                .then_some("records have instruction and output")
        },
    },
    Known {
        id: "openai-batch",
        name: "a batch file of OpenAI's",
        confidence: PLAIN,
        sees: |seen| {
            let is_batch = seen.has(&["custom_id", "body"]) || seen.has(&["custom_id", "response"]);
            is_batch.then_some("lines have custom_id with a body or a response")
        },
    },
    Known {
        id: "anthropic-batch",
        name: "a batch file of Anthropic's",
        confidence: PLAIN,
        sees: |seen| {
            let is_batch = seen.has(&["custom_id", "params"])
                || seen.has(&["custom_id", "result"])
                || seen.has(&["requests[].custom_id"]);
            is_batch.then_some("records have custom_id with params or a result")
        },
    },
    Known {
        id: "langfuse",
        name: "a trace of Langfuse",
        confidence: PLAIN,
        sees: |seen| {
            let is_trace = seen.has(&["trace", "observations"])
                || seen.has(&["observations[].traceId"])
                || seen.has(&["projectId", "observations"]);
            is_trace.then_some("the record has a trace and its observations")
        },
    },
    Known {
        id: "langsmith",
        name: "runs of LangSmith",
        confidence: PLAIN,
        sees: |seen| {
            let is_run = seen.has(&["dotted_order"]) || seen.has(&["run_type", "inputs"]);
            is_run.then_some("records have run_type or dotted_order")
        },
    },
    Known {
        id: "opentelemetry",
        name: "spans of OpenTelemetry",
        confidence: PLAIN,
        sees: |seen| {
            seen.has(&["resourceSpans"])
                .then_some("the record has resourceSpans")
        },
    },
    Known {
        id: "completions",
        name: "answers of OpenAI's API without their requests",
        confidence: PLAIN,
        sees: |seen| {
            seen.has(&["choices[].message"])
                .then_some("records have choices with a message")
        },
    },
    Known {
        id: "evaluation",
        name: "samples of an evaluation",
        confidence: PLAIN,
        sees: |seen| {
            let is_sample = seen.has(&["input", "ideal"]) || seen.has(&["input", "target"]);
            is_sample.then_some("records have an input and the answer that is expected")
        },
    },
    Known {
        id: "rows",
        name: "rows of a table",
        confidence: PLAIN,
        sees: |seen| {
            let whose = crate::formats::openai_messages::WHOSE;
            let is_row = whose.into_iter().any(|key| {
                let texts = ["content", "text", "body", "message"];
                seen.has(&[key]) && texts.iter().any(|text| seen.has(&[text]))
            });
            is_row.then_some("each record is one message and names its conversation; a [table_map] says which field is what")
        },
    },
];
