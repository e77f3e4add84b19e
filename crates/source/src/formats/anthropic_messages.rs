//! Requests of Anthropic's Messages API: turns of blocks, system text beside them.
//!
//! A record is one request or one line of a file of requests. The smallest example:
//!
//! ```json
//! {"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"},
//!  {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}]}
//! ```
//!
//! A user turn that holds nothing but results is the tool's; one that says more is the user's, results and all. Blocks of
//! tools that run at the vendor, and thoughts that are hidden, are kept as they are.

use chatmill_intake::RecordSketch;

pub(crate) use crate::reader::vendor::anthropic::content;
use crate::reader::vendor::anthropic::turn;
use crate::reader::{RequestForm, Requests, Vendor, has, holds};
use crate::source::{About, NO_TEXT_ARGUMENTS};

static ABOUT: About = About {
    id: "anthropic-messages",
    title: "Anthropic Messages requests",
    specification: "Anthropic API reference, Messages",
    shapes: &["anthropic"],
    carries: "roles, text, pictures and documents, tool definitions, calls and results, failures, reasoning, cache marks",
    customs: NO_TEXT_ARGUMENTS.of_one_request(),
};

static FORM: RequestForm = RequestForm {
    list: "messages",
    may_be_text: false,
    system: Some("system"),
    tools: "tools",
    known: &["role", "content"],
    turn,
    described: None,
};

/// The source `anthropic-messages`.
pub static ANTHROPIC_MESSAGES: Requests = Requests {
    about: &ABOUT,
    form: &FORM,
    recognise,
    vendor: Some(Vendor::Anthropic),
};

/// What speaks for the format in one record: fields that no other request with `messages` has.
fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    if !holds(record, "messages", "role") {
        return None;
    }
    if has(record, "anthropic_version") {
        return Some((95, "the record has anthropic_version".to_owned()));
    }
    if holds(record, "tools", "input_schema") {
        return Some((95, "tools are defined by input_schema".to_owned()));
    }
    // Converse has system text too: a list of blocks without a type.
    let is_converse = holds(record, "system", "text") && !holds(record, "system", "type");
    let is_system = has(record, "system") && !is_converse && !has(record, "toolConfig");
    is_system.then(|| (80, "system text stands beside the messages".to_owned()))
}
