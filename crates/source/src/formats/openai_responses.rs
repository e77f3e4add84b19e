//! Requests of OpenAI's Responses API: a list of items, each a message, a call, an output, or a step at the vendor's.
//!
//! The smallest example:
//!
//! ```json
//! {"input": [{"role": "user", "content": "Hi"},
//!  {"type": "function_call", "call_id": "c1", "name": "clock", "arguments": "{}"},
//!  {"type": "function_call_output", "call_id": "c1", "output": "12:30"}]}
//! ```
//!
//! A call is a piece of the assistant's turn before it, and reasoning one of the turn after it, as all that a model answers
//! at once is one turn. Steps that ran at
//! the vendor's (searches, code) are notices and kept as they are. Records that expect an answer beside their input are
//! evaluation samples and not claimed.

use chatmill_intake::RecordSketch;
use chatmill_model::Customs;

use crate::reader::columns::{self, Holds};
pub(crate) use crate::reader::vendor::responses::turn;
use crate::reader::{RequestForm, Requests, Vendor, has, words};
use crate::source::About;

static ABOUT: About = About {
    id: "openai-responses",
    title: "OpenAI Responses requests",
    specification: "OpenAI API reference, Responses",
    shapes: &["responses"],
    carries: "roles, text, pictures and files, tool definitions, calls and outputs, summaries of reasoning",
    customs: Customs::USUAL.of_one_request(),
};

static FORM: RequestForm = RequestForm {
    list: "input",
    may_be_text: true,
    system: Some("instructions"),
    tools: "tools",
    known: &words!(type role content call_id name arguments output),
    turn,
    described: None,
};

/// The source `openai-responses`.
pub static OPENAI_RESPONSES: Requests = Requests {
    about: &ABOUT,
    form: &FORM,
    recognise,
    vendor: Some(Vendor::Responses),
};

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let is_sample = ["ideal", "target", "expected"].iter().any(|key| has(record, key));
    let is_item = record.names("input[].role") || record.names("input[].call_id");
    if is_sample && columns::names(Holds::Answer).all(|key| !has(record, key)) {
        return None;
    }
    if !is_item {
        return is_text(record).then(|| (80, "the record has a model and an input that is text".to_owned()));
    }
    let sure = [
        "instructions",
        "previous_response_id",
        "max_output_tokens",
        "store",
    ];
    Some(match sure.into_iter().find(|key| has(record, key)) {
        Some(key) => (95, format!("the record has input items and {key}")),
        None => (80, "the record has input, and its items have a role".to_owned()),
    })
}

/// Fields of requests to other APIs that take a model and a text.
const FOREIGN: [&str; 4] = words!(voice encoding_format dimensions response_format);

/// Whether a record asks a model with a text. Models that embed, moderate or speak are asked so, too.
fn is_text(record: &RecordSketch) -> bool {
    let is_string = |name: &str| {
        record
            .strings
            .iter()
            .chain(&record.starts)
            .any(|(key, _)| key == name)
    };
    let is_other = |model: &str| {
        ["embed", "moderation", "tts"]
            .iter()
            .any(|word| model.contains(word))
    };
    let mut models = record.strings.iter().filter(|(key, _)| key == "model");
    is_string("input")
        && FOREIGN.iter().all(|key| !has(record, key))
        && models.any(|(_, model)| !is_other(model))
}
