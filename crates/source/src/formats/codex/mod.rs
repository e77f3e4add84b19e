//! Sessions of Codex: items of the Responses API and events, one a line, in a file for each session and each
//! subagent.
//!
//! The smallest example:
//!
//! ```json
//! {"timestamp":"2026-05-01T10:00:00Z","type":"session_meta","payload":{"id":"s1"}}
//! {"timestamp":"2026-05-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user",
//!  "content":[{"type":"input_text","text":"Hi"}]}}
//! ```
//!
//! There are three generations: one object with `session` and `items`; lines that are items, after a first
//! line without a type; and lines with a payload. Events repeat items: an event is a message only if no item
//! has its text, and the output of a command counts once ([`twins`]). Encrypted reasoning is kept unchanged
//! and never shown. Texts that the program sends to the model in the user's name (the working directory,
//! instruction files) are notices ([`items`]).

mod items;
mod twins;

use chatmill_diag::{Finding, Limits};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Conversation, Scene};
use items::Reader;

use crate::base::{present, words};
use crate::frame::{FrameView, Reading, Row};
use crate::layout::{best, list};
use crate::rust_format::{Read, RustFormat};
use crate::source::{About, NO_TEXT_ARGUMENTS};

static ABOUT: About = About {
    id: "codex",
    title: "Codex sessions",
    specification: "session files of the Codex CLI, spring 2025 to 2026",
    verified: "codex 0.146.0, 2026-11",
    shapes: &["object", "items", "events"],
    carries: "text, pictures, instructions, tool definitions, summaries of reasoning, calls of functions, shells and own tools, results, models, times",
    traits: NO_TEXT_ARGUMENTS,
};

/// The source `codex`.
pub static CODEX: RustFormat = RustFormat {
    message_path: Some(|index| Some(format!("$.items[{index}]"))),
    rows: Some(rows),
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Stored(read))
};

/// The lines of a file are one session; the single object of the first generation is a session by itself.
fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    let is_line = root.kind() == Kind::Object && session_of(root).is_none();
    is_line.then(|| vec![Row::of(None, root)])
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let has = |names: &[&str]| names.iter().all(|name| record.names(name));
    let kinds = words!(session_meta response_item event_msg turn_context compacted);
    if has(&["payload"]) && record.has_value("type", &kinds) {
        return Some((
            98,
            "lines have a payload and are of type session_meta or response_item".to_owned(),
        ));
    }
    if has(&["record_type"]) && record.has_value("record_type", &["state"]) {
        return Some((97, "lines are states of a session".to_owned()));
    }
    let is_first = has(&["id", "timestamp", "instructions"]) && !has(&["type"]) && !has(&["messages"]);
    if is_first && !has(&["input"]) && !has(&["request"]) {
        return Some((97, "the first line has id, timestamp and instructions".to_owned()));
    }
    let is_object = has(&["session.id", "items[].type"]);
    is_object.then(|| (97, "the record has a session and its items".to_owned()))
}

/// The session and its items, if the record is one object.
fn session_of(root: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let session = present(root, "session").filter(|value| value.kind() == Kind::Object)?;
    let items = present(root, "items").filter(|value| value.kind() == Kind::Array)?;
    Some((session, items))
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let whole = session_of(frame.root());
    let within = whole.map(|(_, items)| ("items", "$.items".to_owned(), items));
    let lines = list::lines(frame, "the conversation", within, limits)?;
    let mut reader = Reader::new(frame, limits, whole.is_some());
    if let Some((session, _)) = whole {
        reader.meta(session);
    }
    let session = reader.read(&lines);
    let source_id = session.id.clone().or_else(|| frame.key.map(str::to_owned));
    let conversation = Conversation {
        source_id: source_id.filter(|id| !id.is_empty()),
        format_version: session.version,
        shape: match whole {
            Some(_) => "object",
            None if session.has_payloads => "events",
            None => "items",
        },
        scene: Scene::Assistant,
        tools: session.tools,
        extra: session.beside,
        ..Conversation::default()
    };
    Ok(reader.turns.finish(conversation))
}
