//! Lists of messages as `OpenAI`'s chat API takes them, and Suna's LLM API format, which is the same with ids.
//!
//! A record is one request, one line of a fine-tuning file, or one captured context: an object with `messages` and maybe
//! `tools`. The smallest example:
//!
//! ```json
//! {"messages": [{"role": "user", "content": "Morning"}, {"role": "assistant", "content": "Good morning."}]}
//! ```
//!
//! Other fields of the request (`model`, `temperature`, …) are extra fields of the conversation. The list may come without
//! an object around it: as a whole file, which is cut into its messages like every top-level array and gathered again, as
//! a line, or as an element of an array of lists. A single message is not a conversation.

use std::collections::BTreeSet;

use chatmill_diag::Limits;
use chatmill_intake::json::{Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{FormatTraits, Part};

use crate::base::conversations::{is_word_for_conversation, names_conversation};
use crate::base::{present, words};
use crate::frame::{self, FrameView, Reading};
use crate::grammar::signs::is_openai;
use crate::layout::{Requests, has, holds, is_bare_list, spelled_list, surest};
use crate::rust_format::{Read, RustFormat};
use crate::source::About;

static ABOUT: About = About {
    id: "openai-messages",
    title: "OpenAI message lists",
    specification: "OpenAI Chat Completions requests and fine-tuning lines, and the LLM API format of Suna's \
                    Message Structures (November 2025)",
    verified: "openai 3.57, 2026-11",
    shapes: &["openai", "suna"],
    carries: "roles, names, text, pictures, sound and files, tool definitions, calls and results, reasoning, cache marks",
    traits: FormatTraits::USUAL.of_one_request(),
};

static REQUESTS: Requests = Requests::of_openai(&ABOUT);

/// The source `openai-messages`.
pub static OPENAI_MESSAGES: RustFormat = RustFormat {
    message_path: Some(|index| REQUESTS.form.path(index)),
    rows: Some(rows),
    groups_rows: Some(is_one_list),
    ..RustFormat::of(
        &ABOUT,
        |sketch| surest(sketch, recognise).or_else(|| recognise_bare_list(sketch)),
        Read::Own(read),
    )
};

/// Whether a file is a bare list of messages: it is one conversation.
fn is_one_list(sketch: &Sketch) -> bool {
    is_bare_list(sketch, is_message) && !is_of_several(sketch)
}

/// Cuts a bare list into rows, one for each element. A whole request, or an array in a list, is a record by itself.
fn rows(root: Value<'_>) -> Option<Vec<frame::Row>> {
    let is_whole_record = root.kind() == Kind::Array || root.get("messages").is_some();
    (!is_whole_record).then(|| vec![frame::Row::of(None, root)])
}

/// Fields next to `messages` that only requests of other APIs have.
const FOREIGN: [&str; 4] = words!(anthropic_version inferenceConfig toolConfig conversation_list);

/// Recognises the format in one record.
fn recognise(record: &RecordSketch) -> Option<(u8, Vec<String>)> {
    let has = |wanted: &str| has(record, wanted);
    let holds = |wanted: &str| record.names(&format!("messages[].{wanted}"));
    let is_foreign = FOREIGN.iter().any(|key| has(key)) && !is_openai(record);
    if !has("messages") || !holds("role") || is_foreign {
        return None;
    }
    let fields_of_turns = ["content", "tool_calls", "function_call", "refusal"];
    // Messages with calls, and with text under another name than `content`, belong to another format.
    let speaks_otherwise = !holds("content") && (holds("text") || holds("body"));
    if speaks_otherwise || !fields_of_turns.into_iter().any(holds) {
        return None;
    }
    let mut why = vec![
        "the record has messages, and these have a role".to_owned(),
        "messages hold content or tool_calls".to_owned(),
    ];
    let mut confidence = 85;
    if holds("message_id") {
        why.push("messages hold message_id, as Suna writes them".to_owned());
    }
    for key in ["tools", "functions", "parallel_tool_calls"] {
        if has(key) {
            why.push(format!("the record has {key}"));
            confidence = 90;
        }
    }
    if has("system") {
        why.push("the record has system, which is another API's field".to_owned());
        confidence = 50;
    }
    Some((confidence, why))
}

/// Recognises a list of messages without an object around it: the whole file, or each record.
fn recognise_bare_list(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    if is_one_list(sketch) {
        let why = "the top-level array is a bare list of messages: one conversation";
        // A single message could come from any format.
        let confidence = if sketch.records.len() > 1 { 60 } else { 30 };
        return Some((confidence, vec![why.to_owned()]));
    }
    let why = "the record is a bare list of messages";
    let is_list = sketch.records.iter().any(is_list_of_messages);
    is_list.then(|| (60, vec![why.to_owned()]))
}

/// Whether a record is a message, as far as a sketch shows it.
fn is_message(record: &RecordSketch) -> bool {
    is_like_message(|wanted| has(record, wanted))
}

/// Whether the records name several conversations. An id that is not a short text may have any value.
fn is_of_several(sketch: &Sketch) -> bool {
    let keys = sketch.records.iter().flat_map(|record| &record.keys);
    // The channel of an answer separates its thoughts from its text.
    let keys: BTreeSet<&String> = keys
        .filter(|key| is_word_for_conversation(key) && *key != "channel")
        .collect();
    keys.into_iter().any(|key| {
        let named = sketch.records.iter().filter_map(|record| record.names.get(key));
        let words: BTreeSet<&String> = named.flat_map(|name| &name.words).collect();
        words.len() > 1 || words.is_empty() && names_conversation(key)
    })
}

/// Whether a record is an array with a message as its first object.
fn is_list_of_messages(record: &RecordSketch) -> bool {
    !record.is_object && is_like_message(|wanted| holds(record, "", wanted))
}

fn is_like_message(has: impl Fn(&str) -> bool) -> bool {
    has("role") && (has("content") || has("tool_calls") || has("function_call"))
}

/// Reads a record with one list of messages; its structure follows from the messages.
fn read(frame: FrameView<'_>, limits: &Limits) -> Reading {
    spelled_list::reading(frame, limits, |frame| of_request(frame, limits))
}

fn of_request(frame: FrameView<'_>, limits: &Limits) -> Reading {
    let reading = REQUESTS.reading(frame, limits);
    let conversation = reading.conversation.iter();
    let mut parts = conversation
        .flat_map(|conversation| &conversation.messages)
        .flat_map(|message| &message.parts);
    let root = frame.root();
    let mut messages = root.get("messages").unwrap_or(root).items();
    let is_suna = parts.any(|part| matches!(part, Part::CacheMark))
        || messages.any(|message| present(message, "message_id").is_some());
    if is_suna {
        reading.of_shape("suna")
    } else {
        reading
    }
}
