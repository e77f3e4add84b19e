//! Files of agents and of their evaluations that hold no conversation, or hold it where nothing leads to it.

use super::{Known, known};

/// High enough to overrule a source that recognises the records.
const SURE: u8 = 97;
/// For files that no source recognises.
const PLAIN: u8 = 50;

pub(super) static FORMATS: &[Known] = &[
    known(
        "cline-display",
        "what Cline or Roo Code showed of a task",
        SURE,
        |seen| {
            let is_shown = seen.has(&["ts", "type", "say"]) || seen.has(&["ts", "type", "ask"]);
            is_shown.then_some(
                "records have ts, and say or ask; the conversation is api_conversation_history.json beside it",
            )
        },
    ),
    known(
        "opencode-storage",
        "a single file of OpenCode's own folder",
        PLAIN,
        |seen| {
            let is_part = seen.has(&["messageID", "type"]);
            let is_message = seen.has(&["sessionID", "role", "time.created"]);
            let is_session = seen.has(&["projectID", "directory", "time.created"]);
            (is_part || is_message || is_session).then_some(
                "the record names a message, session or project; `opencode export` writes the whole session",
            )
        },
    ),
    known(
        "inspect-no-samples",
        "a log of an Inspect evaluation without samples",
        PLAIN,
        |seen| {
            let is_log = seen.has(&["eval.task_id", "plan"]) && !seen.has(&["samples[].messages"]);
            is_log.then_some("the record has eval and plan, and no samples")
        },
    ),
    known(
        "tau2-voice",
        "a simulation of voices of tau2-bench",
        PLAIN,
        |seen| {
            seen.has(&["ticks[].agent_chunk"])
                .then_some("the record has ticks with chunks of what is said")
        },
    ),
    known(
        "tau-bench-display",
        "conversations of tau-bench, each as one text",
        PLAIN,
        |seen| {
            seen.has(&["messages_display"])
                .then_some("records have messages_display")
        },
    ),
    known("toolbench", "a tree of answers of ToolBench", PLAIN, |seen| {
        seen.has(&["answer_generation", "tree"])
            .then_some("the record has a tree and answer_generation")
    }),
    known("mt-bench", "questions or answers of MT-Bench", PLAIN, |seen| {
        let asks = seen.has(&["question_id", "category", "turns"]);
        let answers = seen.has(&["question_id", "choices[].turns"]);
        (asks || answers).then_some("records have question_id and turns, of questions or of answers")
    }),
    known(
        "bfcl",
        "questions of the Berkeley Function-Calling Leaderboard",
        PLAIN,
        |seen| {
            seen.has(&["id", "question[][].role"])
                .then_some("records have lists of questions, and no answers")
        },
    ),
    known(
        "parlai-log",
        "a log of ParlAI, whose turns stand in pairs",
        PLAIN,
        |seen| {
            seen.has(&["dialog[][].text"])
                .then_some("the turns of a dialog stand in lists of their own")
        },
    ),
];
