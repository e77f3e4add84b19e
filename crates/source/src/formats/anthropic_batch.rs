//! Message batches of Anthropic: requests, a line each or all in one object, and a file of results, joined by `custom_id`.
//!
//! The smallest example:
//!
//! ```json
//! {"custom_id":"a","params":{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}}
//! {"custom_id":"a","result":{"type":"succeeded","message":{"role":"assistant","content":[{"type":"text","text":"Hello"}]}}}
//! ```
//!
//! A result that was `errored`, `canceled` or `expired` is a notice. Everything else is as in `openai-batch`.

use crate::formats::openai_batch::BatchFiles;
use crate::source::{About, NO_TEXT_ARGUMENTS};

static ABOUT: About = About {
    id: "anthropic-batch",
    title: "Anthropic batches",
    specification: "Anthropic API reference, Message Batches",
    verified: "anthropic 2.14, 2026-11",
    shapes: &["batch"],
    carries: "requests and answers of the Messages API, tool definitions, reasoning, models, usage, failures",
    traits: NO_TEXT_ARGUMENTS.of_one_request(),
};

/// The source `anthropic-batch`.
pub static ANTHROPIC_BATCH: BatchFiles = BatchFiles {
    about: &ABOUT,
    body: "params",
    result: "result",
};
