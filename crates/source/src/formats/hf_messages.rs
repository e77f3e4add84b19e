//! Hugging Face conversational data: rows whose columns are lists of messages in `OpenAI`'s shape, or texts.
//!
//! The smallest example:
//!
//! ```json
//! {"prompt": [{"role": "user", "content": "Hi"}], "completion": [{"role": "assistant", "content": "Hello"}]}
//! ```
//!
//! A row has `messages`, or a `prompt` with its `completion`: both together are the conversation. Of a row that compares two
//! answers it is the `prompt` with the `chosen` one, or `chosen` alone where that begins with the question; the other answer is
//! an alternative to it, and a finding says so. `chosen_messages` and `input` with `preferred_output` are the same by other names. A
//! column may be a text instead of a list. The column `conversation` of LMSYS-Chat-1M and `WildChat` is a list of messages, too,
//! and `data` of `UltraChat` one of texts, the person's first. A row with a `label` judges its answer: a bad one is no part of the conversation. A row with nothing but
//! `messages` is left to `openai-messages`, which reads it alike.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::Role;

use crate::formats::openai_messages;
use crate::formats::openai_messages::{Record, Turns, lists};
use crate::frame::{FrameView, Reading};
use crate::reader::{best, has, present, reading, too_many};
use crate::source::{About, NO_TEXT_ARGUMENTS, Source};

const ID: &str = "hf-messages";

/// Columns that hold turns, in the order in which they follow one another.
static COLUMNS: [&str; 8] = [
    "prompt",
    "completion",
    "chosen",
    "chosen_messages",
    "input.messages",
    "preferred_output",
    "conversation",
    "data",
];

/// Columns that hold the answer that another one was preferred to.
static PREFERRED: [&str; 3] = ["chosen", "chosen_messages", "preferred_output"];

/// The source `hf-messages`.
#[derive(Debug)]
pub struct HfMessages;

static ABOUT: About = About {
    id: ID,
    title: "Hugging Face messages",
    specification: "TRL, dataset formats",
    shapes: &["messages", "prompt"],
    carries: "roles, text, tool definitions, calls and results, reasoning",
    customs: NO_TEXT_ARGUMENTS,
};

impl Source for HfMessages {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        best(sketch, recognise)
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        let root = frame.root();
        let is_split =
            present(root, "messages").is_none() && COLUMNS.iter().any(|name| column(root, name).is_some());
        if !is_split {
            return openai_messages::read((ID, &ABOUT), Some("messages"), *frame, limits);
        }
        let record = columns(*frame, limits);
        reading(ABOUT.customs, record.map(|record| record.read(*frame, limits)))
    }

    fn message_path(&self, index: u32) -> String {
        lists::path(index)
    }
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let is_list =
        |name: &str| record.names(&format!("{name}[].role")) && record.names(&format!("{name}[].content"));
    if is_list("messages") && has(record, "chat_template_kwargs") {
        return Some((92, "the record has messages and chat_template_kwargs".to_owned()));
    }
    if let Some(name) = COLUMNS.into_iter().find(|name| is_list(name)) {
        let is_row = name != "prompt" || ["completion", "chosen"].iter().any(|key| has(record, key));
        let confidence = if is_row { 90 } else { 70 };
        return Some((confidence, format!("the column {name} holds messages")));
    }
    if has(record, "data") && has(record, "id") && record.names("data[]") && !record.names("data[].role") {
        return Some((80, "the column data holds texts in turn".to_owned()));
    }
    let is_text = |name: &str| {
        let mut strings = record.strings.iter().chain(&record.starts);
        strings.any(|(key, _)| key == name)
    };
    if is_text("chosen") && has(record, "rejected") {
        return Some((
            85,
            "the record has chosen and rejected answers as text".to_owned(),
        ));
    }
    let is_pair = is_text("prompt") && is_text("completion");
    is_pair.then(|| (75, "the record has prompt and completion as text".to_owned()))
}

/// A column, or a list inside the column that its name begins with.
fn column<'d>(root: Value<'d>, name: &str) -> Option<Value<'d>> {
    let found = match name.split_once('.') {
        Some((outer, inner)) => root.get(outer)?.get(inner),
        None => root.get(name),
    };
    found.filter(|value| !value.is_null())
}

/// The columns of a row that has no `messages`.
fn columns<'d>(frame: FrameView<'d>, limits: &Limits) -> Result<Record<'d>, Box<Finding>> {
    let root = frame.root();
    let mut turns = Vec::new();
    let mut preferred = None;
    let mut columns: &'static [&'static str] = &COLUMNS;
    for name in COLUMNS {
        let Some(value) = column(root, name) else {
            continue;
        };
        let place = format!("$.{name}");
        let fault = if root.fields().filter(|(key, _)| key == name).count() > 1 {
            let text = format!("{name} stands more than once in the record");
            Some((&codes::DUPLICATE_KEY, text))
        } else {
            match value.kind() {
                Kind::Array => too_many(value, "the conversation", "messages", limits)
                    .map(|text| (&codes::CONVERSATION_TOO_LARGE, text)),
                Kind::String => None,
                _ => {
                    let text = format!("{name} is neither a list of messages nor a text");
                    Some((&codes::WRONG_TYPE, text))
                }
            }
        };
        if let Some((code, text)) = fault {
            return Err(frame.fault(code, text, place, value));
        }
        let first = lists::first(&place);
        if PREFERRED.contains(&name) {
            if holds_question(value) {
                turns.clear();
                columns = &PREFERRED;
            }
            preferred.get_or_insert(turns.len());
        }
        if name == "data" {
            let odd = value
                .items()
                .zip(0..)
                .find(|(text, _)| text.kind() != Kind::String);
            if let Some((odd, index)) = odd {
                let text = "data holds something else than texts";
                return Err(frame.fault(&codes::WRONG_TYPE, text, format!("$.data[{index}]"), odd));
            }
            // Texts in turn, the person's first.
            let roles = [Role::User, Role::Assistant].into_iter().cycle();
            let texts = (first..).zip(roles).zip(value.items());
            turns.extend(texts.map(|((index, role), text)| Turns::Text(index, role, text)));
            continue;
        }
        turns.push(match value.kind() {
            Kind::String if name == "prompt" => Turns::Text(first, Role::User, value),
            Kind::String => Turns::Text(first, Role::Assistant, value),
            _ => Turns::List(first, value),
        });
    }
    Ok(Record {
        source: ID,
        shape: Some("prompt"),
        columns,
        turns,
        preferred,
        path: lists::path,
    })
}

/// Whether a list begins with what was asked, so that it is the whole conversation.
fn holds_question(value: Value<'_>) -> bool {
    let first = value.items().next().and_then(|message| message.get("role"));
    let word = first.and_then(Value::as_str);
    matches!(word.as_deref(), Some("user" | "system" | "developer"))
}
