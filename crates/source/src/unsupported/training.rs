//! Public data sets, logs of requests, and traces.

use super::{Known, known};

/// For files that no source recognises.
const PLAIN: u8 = 50;

pub(super) static FORMATS: &[Known] = &[
    known("langsmith", "runs of LangSmith", PLAIN, |seen| {
        let is_run = seen.has(&["dotted_order"]) || seen.has(&["run_type", "inputs"]);
        is_run.then_some("records have run_type or dotted_order")
    }),
    known(
        "completions",
        "answers of OpenAI's API without their requests",
        PLAIN,
        |seen| {
            let is_answer = seen.has(&["choices[].message"]) || seen.has(&["data[].choices[].message"]);
            is_answer.then_some("records have choices with a message")
        },
    ),
    known("glaive", "rows of glaive-function-calling-v2", PLAIN, |seen| {
        seen.has(&["system", "chat"])
            .then_some("records have a system text and a chat that is written out in one text")
    }),
    known("seed-tasks", "seed tasks of Self-Instruct", PLAIN, |seen| {
        seen.has(&["instruction", "instances[].output"])
            .then_some("records have an instruction with several instances")
    }),
    known("evaluation", "samples of an evaluation", PLAIN, |seen| {
        let is_sample = seen.has(&["input", "ideal"]) || seen.has(&["input", "target"]);
        is_sample.then_some("records have an input and the answer that is expected")
    }),
    known("rows", "rows of a table", PLAIN, |seen| {
        let whose = crate::formats::openai_messages::WHOSE;
        let is_row = whose.into_iter().any(|key| {
            let texts = ["content", "text", "body", "message"];
            seen.has(&[key]) && texts.iter().any(|text| seen.has(&[text]))
        });
        is_row.then_some(
            "each record is one message and names its conversation; a [table_map] says which field is what",
        )
    }),
];
