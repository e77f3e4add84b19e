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

use chatmill_diag::{Limits, Severity};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part, ToolCall, ToolResult};

use crate::reader::{
    Keep as _, RequestForm, Requests, Site, Turn, Vendor, arguments, divided, has, holds, message_object,
    present, text, word,
};
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
    answer: Some("response"),
    known: &["role", "content"],
    turn,
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

/// Reads a turn, or the system text.
fn turn(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Turn {
    let mut turn = Turn::default();
    if value.kind() != Kind::Object {
        content(&mut turn, "", value, site, limits);
        return turn;
    }
    turn.take_role("role", value, site, message_object::role);
    turn.id = word(value.get("id"), "id", site);
    match present(value, "content") {
        None => site.missing("content", Severity::Error),
        Some(value) => content(&mut turn, "content", value, site, limits),
    }
    turn.keep_rest(value, "", &["role", "content", "id"]);
    turn
}

/// Reads text or a list of blocks; anything else is read as its JSON text.
fn content(turn: &mut Turn, path: &str, value: Value<'_>, site: &mut Site<'_>, limits: &Limits) {
    if value.kind() == Kind::Array {
        for (index, block) in value.items().enumerate() {
            let path = format!("{path}[{index}]");
            if !read_block(turn, &path, block, site, limits) {
                turn.unknown(&path, block, site);
            }
        }
        return;
    }
    if value.kind() == Kind::String {
        turn.parts.push(Part::Text(message_object::text_of(value)));
    } else {
        let text = "the content is neither a string nor a list of blocks and is read as its JSON text";
        turn.odd_content(path, text, value, site);
    }
}

/// Reads a block; false when it is none that is known.
fn read_block(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> bool {
    let kind = text(block.get("type"));
    let is_read = match kind.as_deref() {
        Some("text") => simple(turn, path, block, "text", Part::Text),
        Some("thinking") => simple(turn, path, block, "thinking", Part::Reasoning),
        Some("image") => media_item(turn, path, block, MediaKind::Image),
        Some("document") => media_item(turn, path, block, MediaKind::File),
        Some("tool_use") => {
            call(turn, path, block, site, limits);
            true
        }
        Some("tool_result") => {
            result(turn, path, block, site);
            true
        }
        _ => false,
    };
    if is_read && let Some(mark) = present(block, "cache_control") {
        turn.parts.push(Part::CacheMark);
        let is_plain = text(mark.get("type")).as_deref() == Some("ephemeral");
        let known: &[&str] = if is_plain { &["type"] } else { &[] };
        turn.keep_rest(mark, &format!("{path}.cache_control"), known);
    }
    is_read
}

fn simple(turn: &mut Turn, path: &str, block: Value<'_>, key: &str, part: fn(String) -> Part) -> bool {
    let Some(words) = text(block.get(key)) else {
        return false;
    };
    turn.parts.push(part(words));
    turn.keep_rest(block, path, &["type", key, "cache_control"]);
    true
}

/// A picture or document by its address, its bytes, or the id under which it was uploaded.
fn media_item(turn: &mut Turn, path: &str, block: Value<'_>, kind: MediaKind) -> bool {
    let Some(source) = block.get("source").filter(|source| source.kind() == Kind::Object) else {
        return false;
    };
    let (place, key) = match text(source.get("type")).as_deref() {
        Some("base64") => (text(source.get("data")).map(MediaSource::Inline), "data"),
        Some("url") => (text(source.get("url")).map(MediaSource::Url), "url"),
        // The id, or the text of a document, stays among the fields without a place.
        Some("file" | "text") => (Some(MediaSource::Upload), "type"),
        _ => (None, "type"),
    };
    let Some(place) = place else { return false };
    turn.parts.push(Part::Media(Media {
        kind,
        source: place,
        media_type: text(source.get("media_type")),
        name: text(block.get("title")),
    }));
    turn.keep_rest(block, path, &["type", "source", "title", "cache_control"]);
    turn.keep_rest(source, &format!("{path}.source"), &["type", "media_type", key]);
    true
}

fn call(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>, limits: &Limits) {
    let input = arguments(present(block, "input"), &format!("{path}.input"), site, limits);
    let id = word(block.get("id"), &format!("{path}.id"), site);
    let name = word(block.get("name"), &format!("{path}.name"), site);
    turn.parts.push(Part::ToolCall(ToolCall::new(id, name, input)));
    turn.keep_rest(block, path, &["type", "id", "name", "input", "cache_control"]);
}

/// A result: its texts are the answer, joined by line breaks, and pictures follow it.
fn result(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) {
    let (mut content, mut others) = (String::new(), Vec::new());
    let inside = format!("{path}.content");
    match block.get("content") {
        Some(list) if list.kind() == Kind::Array => {
            let mut inner = Turn::default();
            for (index, part) in list.items().enumerate() {
                let place = format!("{inside}[{index}]");
                let is_read = match text(part.get("type")).as_deref() {
                    Some("text") => simple(&mut inner, &place, part, "text", Part::Text),
                    Some("image") => media_item(&mut inner, &place, part, MediaKind::Image),
                    Some("document") => media_item(&mut inner, &place, part, MediaKind::File),
                    _ => false,
                };
                if !is_read {
                    inner.unknown(&place, part, site);
                }
            }
            (content, others) = divided(inner.parts);
            turn.rest.extend(inner.rest);
        }
        Some(value) => content = message_object::text_of(value),
        None => {}
    }
    let is_error = block.get("is_error").and_then(Value::as_bool);
    turn.parts.push(Part::ToolResult(ToolResult {
        call_id: word(block.get("tool_use_id"), &format!("{path}.tool_use_id"), site),
        content,
        is_error: is_error.unwrap_or_default(),
        ..ToolResult::default()
    }));
    turn.parts.extend(others);
    if is_error.is_none()
        && let Some(odd) = present(block, "is_error")
    {
        turn.keep(format!("{path}.is_error"), odd);
    }
    let known = ["type", "tool_use_id", "content", "is_error", "cache_control"];
    turn.keep_rest(block, path, &known);
}
