//! Turns of Anthropic's Messages API: text, or a list of blocks.

use chatmill_diag::Limits;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part, ToolCall, ToolResult};

use super::blocks;
use crate::base::{
    Keep as _, Site, Turn, arguments, divided, media::result_of, present, text, text_of, word,
};

/// Reads a turn, or the system text.
pub(crate) fn turn(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Turn {
    blocks::message(value, &["role", "content", "id"], content, site, limits)
}

/// Reads text or a list of blocks; anything else is read as its JSON text.
pub(crate) fn content(turn: &mut Turn, path: &str, value: Value<'_>, site: &mut Site<'_>, limits: &Limits) {
    match value.kind() {
        Kind::Array => blocks::each(turn, path, value, read_block, site, limits),
        Kind::String => turn.parts.push(Part::Text(text_of(value))),
        _ => {
            let text = "the content is neither a string nor a list of blocks and is read as its JSON text";
            turn.malformed_content(path, text, value, site);
        }
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
        Some("text") => (text(source.get("data")).map(MediaSource::Text), "data"),
        Some("content") => return document_of_blocks(turn, path, block, source),
        // The id stays among the fields without a place.
        Some("file") => (Some(MediaSource::Upload), "type"),
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

/// A document that is a text or a list of blocks: their texts, joined by line breaks, and pictures behind them.
fn document_of_blocks(turn: &mut Turn, path: &str, block: Value<'_>, source: Value<'_>) -> bool {
    let inside = format!("{path}.source.content");
    let mut inner = Turn::default();
    match source.get("content") {
        Some(list) if list.kind() == Kind::Array => {
            for (index, part) in list.items().enumerate() {
                let place = format!("{inside}[{index}]");
                let is_read = match text(part.get("type")).as_deref() {
                    Some("text") => simple(&mut inner, &place, part, "text", Part::Text),
                    Some("image") => media_item(&mut inner, &place, part, MediaKind::Image),
                    _ => false,
                };
                if !is_read {
                    inner.keep(place, part);
                }
            }
        }
        Some(words) if words.kind() == Kind::String => {
            inner.parts.push(Part::Text(text_of(words)));
        }
        _ => return false,
    }
    let (words, others) = divided(inner.parts);
    turn.parts.push(Part::Media(Media {
        kind: MediaKind::File,
        source: MediaSource::Text(words),
        media_type: None,
        name: text(block.get("title")),
    }));
    turn.parts.extend(others);
    turn.rest.extend(inner.rest);
    turn.keep_rest(block, path, &["type", "source", "title", "cache_control"]);
    turn.keep_rest(source, &format!("{path}.source"), &["type", "content"]);
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
    let inside = format!("{path}.content");
    let answered = match block.get("content") {
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
            turn.rest.extend(inner.rest);
            divided(inner.parts)
        }
        Some(value) => (text_of(value), Vec::new()),
        None => Default::default(),
    };
    let is_error = block.get("is_error").and_then(Value::as_bool);
    let result = ToolResult {
        call_id: word(block.get("tool_use_id"), &format!("{path}.tool_use_id"), site),
        is_error: is_error.unwrap_or_default(),
        ..ToolResult::default()
    };
    turn.parts.extend(result_of(result, answered));
    if is_error.is_none()
        && let Some(malformed) = present(block, "is_error")
    {
        turn.keep(format!("{path}.is_error"), malformed);
    }
    let known = ["type", "tool_use_id", "content", "is_error", "cache_control"];
    turn.keep_rest(block, path, &known);
}
