//! Sessions of Codex: items of the Responses API and events, one a line, in a file for each session and each subagent.
//!
//! The smallest example:
//!
//! ```json
//! {"timestamp":"2026-05-01T10:00:00Z","type":"session_meta","payload":{"id":"s1"}}
//! {"timestamp":"2026-05-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user",
//!  "content":[{"type":"input_text","text":"Hi"}]}}
//! ```
//!
//! There are three generations: one object with `session` and `items`; lines that are items, behind a first line without a
//! type; and lines with a payload. Events say again what items say: an event is a message only where no item has its words,
//! and what a command gave counts once ([`twins`]). Reasoning that is encrypted is kept as it is and never shown. What the
//! program tells the model in the person's name (the place it works in, files with instructions) is a notice ([`items`]).

mod items;
mod twins;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Conversation, Scene};

use crate::frame::{FrameView, Reading, Row};
use crate::reader::{best, list, present};
use crate::source::{About, NO_TEXT_ARGUMENTS, Source};
use items::Reader;

const ID: &str = "codex";

/// The source `codex`.
#[derive(Debug)]
pub struct Codex;

static ABOUT: About = About {
    id: ID,
    title: "Codex sessions",
    specification: "session files of the Codex CLI, spring 2025 to 2026",
    shapes: &["object", "items", "events"],
    carries: "text, pictures, instructions, summaries of reasoning, calls of functions, shells and own tools, results, models, times",
    customs: NO_TEXT_ARGUMENTS,
};

impl Source for Codex {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        best(sketch, recognise)
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        Reading::stored(ABOUT.customs, read(*frame, limits))
    }

    fn gathers(&self, _sketch: &Sketch) -> bool {
        true
    }

    /// The lines of a file are one session; the object of the first generation is one by itself.
    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        let is_line = root.kind() == Kind::Object && session_of(root).is_none();
        is_line.then(|| vec![Row::of(None, root)])
    }

    fn message_path(&self, index: u32) -> Option<String> {
        Some(format!("$.items[{index}]"))
    }
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let has = |names: &[&str]| names.iter().all(|name| record.names(name));
    let kinds = [
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
    ];
    if has(&["payload"]) && record.says("type", &kinds) {
        return Some((
            98,
            "lines have a payload and are of type session_meta or response_item".to_owned(),
        ));
    }
    if has(&["record_type"]) && record.says("record_type", &["state"]) {
        return Some((97, "lines are states of a session".to_owned()));
    }
    let is_first = has(&["id", "timestamp", "instructions"]) && !has(&["type"]) && !has(&["messages"]);
    if is_first && !has(&["input"]) {
        return Some((97, "the first line has id, timestamp and instructions".to_owned()));
    }
    let is_object = has(&["session.id", "items[].type"]);
    is_object.then(|| (97, "the record has a session and its items".to_owned()))
}

/// The head of a session that is one object.
fn session_of(root: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let session = present(root, "session").filter(|value| value.kind() == Kind::Object)?;
    let items = present(root, "items").filter(|value| value.kind() == Kind::Array)?;
    Some((session, items))
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    let neither = "the line is JSON, but not an object";
    let whole = session_of(root);
    let lines = match whole {
        Some((_, items)) => {
            if let Some(text) = list::too_many(items, "the conversation", "items", limits) {
                return Err(frame.fault(&codes::CONVERSATION_TOO_LARGE, text, "$.items", items));
            }
            items.items().collect()
        }
        None => list::rows(frame, "the conversation", None, neither, limits)?,
    };
    if !lines.is_empty() && lines.iter().all(|line| line.kind() != Kind::Object) {
        return Err(frame.fault(&codes::WRONG_TYPE, neither, "$", root));
    }
    let mut reader = Reader::new(frame, limits, whole.is_some());
    if let Some((session, _)) = whole {
        reader.meta(session);
    }
    let session = reader.read(&lines);
    let source_id = session.id.clone().or_else(|| frame.key.map(str::to_owned));
    let conversation = Conversation {
        source: ID,
        source_id: source_id.filter(|id| !id.is_empty()),
        format_version: session.version,
        shape: match whole {
            Some(_) => "object",
            None if session.has_payloads => "events",
            None => "items",
        },
        scene: Scene::Assistant,
        participants: reader.turns.roster.participants,
        extra: session.beside,
        ..Conversation::default()
    };
    Ok(reader.turns.list.finish(conversation))
}
