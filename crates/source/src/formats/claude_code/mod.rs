//! Sessions of Claude Code: one event a line, in a file for each session and one for each of its subagents.
//!
//! The smallest example:
//!
//! ```json
//! {"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","message":{"role":"user","content":"Hi"}}
//! {"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s1","message":{"id":"m1","role":"assistant",
//!  "content":[{"type":"text","text":"Hello"}]}}
//! ```
//!
//! Lines are grouped by session, so that one file may contain several; a subagent's lines are a separate conversation, and
//! its id combines session and agent. A session that was resumed in another file is grouped with it, and forks of one are
//! conversations that share a trunk. The lines of one streamed answer share a message id and become one message
//! ([`messages`]). Lines form a tree by `parentUuid`: the path to the last turn is the visible conversation, and rewound
//! turns become notices ([`path`]). Texts that the program writes in the user's name (commands, reminders, summaries) are
//! separated from the user's own ([`injected`]). Older exports hold the lines as a list, `loglines`.

mod injected;
mod line;
mod messages;
mod path;

use chatmill_diag::{Finding, Limits};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Conversation, ParticipantKind, Scene};

use crate::base::{Wire as _, present, text};
use crate::frame::{FrameView, Reading, Row};
use crate::layout::{Element, best, list};
use crate::rust_format::{Read, RustFormat};
use crate::source::{About, NO_TEXT_ARGUMENTS};
use line::{Line, Wires};
use messages::Reader;

/// The list of lines in exports of the web application.
const LINES: &str = "loglines";

static ABOUT: About = About {
    id: "claude-code",
    title: "Claude Code sessions",
    specification: "session files of Claude Code, 1.0 to 2.1",
    verified: "claude-code 2.1.220, 2026-11",
    shapes: &["session", "subagent"],
    carries: "text, pictures, reasoning, tool calls and results, failures, models, times, subagents, rewinds, titles",
    traits: NO_TEXT_ARGUMENTS,
};

/// The source `claude-code`.
pub static CLAUDE_CODE: RustFormat = RustFormat {
    rows: Some(rows),
    resumes: true,
    can_merge: true,
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Stored(read))
};

fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    if root.kind() != Kind::Object {
        return None;
    }
    match root.get(LINES).filter(|list| list.kind() == Kind::Array) {
        Some(list) => Some(list.items().map(row).collect()),
        None => Some(vec![row(root)]),
    }
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let has = |names: &[&str]| names.iter().all(|name| record.names(name));
    if has(&["sessionId", "uuid", "message"]) {
        return Some((98, "lines have sessionId, uuid and message".to_owned()));
    }
    // Usage trackers, which keep only token counts, and the program's own streams leave out some of these fields.
    let speakers = ["user", "assistant"];
    let is_turn = record.has_value("type", &speakers)
        || !has(&["type"]) && has(&["sessionId"]) && record.has_value("message.role", &speakers);
    if is_turn && (has(&["message.content"]) || has(&["message.usage"])) {
        let text = "lines of a user or an assistant have a message with content or usage";
        return Some((96, text.to_owned()));
    }
    if has(&["loglines[].message"]) {
        return Some((98, "the record has loglines with messages".to_owned()));
    }
    let is_summary = has(&["leafUuid", "summary"]) && record.has_value("type", &["summary"]);
    let is_snapshot = has(&["messageId", "snapshot"]) && record.has_value("type", &["file-history-snapshot"]);
    (is_summary || is_snapshot).then(|| (97, "lines are a summary with leafUuid, or a snapshot".to_owned()))
}

/// A line with its conversation: the session, or an agent that the session started. A turn without session belongs to the
/// one unnamed conversation of its file, and every other line without session to all conversations of the file.
fn row(value: Value<'_>) -> Row {
    let session = text(value.get("sessionId")).filter(|id| !id.is_empty());
    let is_turn = present(value, "message").is_some();
    match session {
        Some(session) if is_true(value, "isSidechain") => {
            let agent = text(value.get("agentId")).filter(|id| !id.is_empty());
            let agent = agent.as_deref().unwrap_or("sidechain");
            Row::of(Some(format!("{session}/{agent}")), value)
        }
        None if !is_turn => Row::shared(None, value),
        session => Row::of(session, value),
    }
    .beginning(begins(value))
}

/// The identity of a line without parent, by which its copies in resumed or forked sessions are recognised: its id with its
/// text, because ids made by hand may be short. Lines without a message have copies, too.
fn begins(value: Value<'_>) -> Option<String> {
    value.get("parentUuid").filter(|parent| parent.is_null())?;
    let uuid = text(value.get("uuid")).filter(|uuid| !uuid.is_empty())?;
    let is_turn = || matches!(text(value.get("type")).as_deref(), Some("user" | "assistant"));
    let words = present(value, "message").map(Value::raw);
    let words = words.or_else(|| is_turn().then_some("null"))?;
    Some(format!("{uuid} {words}"))
}

fn is_true(value: Value<'_>, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool) == Some(true)
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let listed = present(frame.root(), LINES).filter(|list| list.kind() == Kind::Array);
    let within = listed.map(|list| ("lines", format!("$.{LINES}"), list));
    let rows = list::lines(frame, "the conversation", within, limits)?;
    let mut reader = Reader::new(frame, limits);
    let mut lines = Vec::new();
    for (index, value) in (0..).zip(rows) {
        let place = || reader_path(frame, index);
        let wire = reader.turns.list.element(Element::Row, place, value, Wires::read);
        lines.extend(wire.map(|wire| Line::of(index, value, wire.without_nulls())));
    }
    let is_sent = !lines.is_empty()
        && lines
            .iter()
            .filter(|line| line.is_turn())
            .all(|line| line.is_sidechain)
        && lines.iter().any(Line::is_turn);
    let of_line = || lines.iter().find_map(|line| line.session.clone());
    let source_id = frame.key.map(str::to_owned).or_else(of_line);
    let mut reading = reader.read(&lines, is_sent);
    let also = reading.also.iter_mut().map(|also| &mut also.conversation);
    let all = std::iter::once(&mut reading.conversation).chain(also);
    for conversation in all.flatten() {
        // A resumed session has the id of its last file, and a fork the id of the session that left.
        let own = conversation.source_id.take().filter(|_| !is_sent);
        let source_id = own.or_else(|| source_id.clone());
        let source_id = source_id.filter(|id| !id.is_empty());
        *conversation = Conversation {
            source_id,
            shape: if is_sent { "subagent" } else { "session" },
            scene: Scene::Assistant,
            ..std::mem::take(conversation)
        };
        // A subagent is asked by the agent that sent it, not by a person.
        let asking = conversation.participants.iter_mut();
        for asking in asking.filter(|one| is_sent && one.kind == ParticipantKind::Human) {
            asking.kind = ParticipantKind::Unknown;
        }
    }
    Ok(reading)
}

/// The path of a line in the record.
fn reader_path(frame: FrameView<'_>, index: u32) -> String {
    match frame.root().kind() {
        Kind::Array => format!("$[{index}]"),
        _ if frame.root().get(LINES).is_some() => format!("$.{LINES}[{index}]"),
        _ => "$".to_owned(),
    }
}
