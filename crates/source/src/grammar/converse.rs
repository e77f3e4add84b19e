//! Turns of Bedrock's Converse API: blocks with one field, whose name is the kind of block.

use chatmill_diag::Limits;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part, ToolCall, ToolResult};

use super::blocks;
use crate::base::{Keep as _, Site, Turn, arguments, media::media_of_answer, present, text, text_of, word};

/// Reads a turn, or the system text.
pub(crate) fn turn(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Turn {
    blocks::message(value, &["role", "content"], content, site, limits)
}

/// Reads a list of blocks; anything else is read as its text.
fn content(turn: &mut Turn, path: &str, value: Value<'_>, site: &mut Site<'_>, limits: &Limits) {
    if value.kind() != Kind::Array {
        let text = "the content is not a list of blocks and is read as its text";
        turn.malformed_content(path, text, value, site);
        return;
    }
    blocks::each(turn, path, value, read_block, site, limits);
}

/// Reads a block; false when it is none that is known.
fn read_block(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> bool {
    let mut fields = block.fields().filter(|(_, value)| !value.is_null());
    let (Some((key, value)), None) = (fields.next(), fields.next()) else {
        return false;
    };
    let inside = format!("{path}.{key}");
    match &*key {
        "text" => {
            let words = text(Some(value));
            let is_text = words.is_some();
            turn.parts.extend(words.map(Part::Text));
            is_text
        }
        "image" => media_item(turn, &inside, value, MediaKind::Image),
        "video" => media_item(turn, &inside, value, MediaKind::Video),
        "audio" => media_item(turn, &inside, value, MediaKind::Audio),
        "document" => media_item(turn, &inside, value, MediaKind::File),
        "reasoningContent" => thought(turn, &inside, value),
        "cachePoint" => {
            turn.parts.push(Part::CacheMark);
            let is_plain = text(value.get("type")).as_deref() == Some("default");
            turn.keep_rest(value, &inside, if is_plain { &["type"] } else { &[] });
            true
        }
        "toolUse" if value.kind() == Kind::Object => {
            call(turn, &inside, value, site, limits);
            true
        }
        "toolResult" if value.kind() == Kind::Object => {
            result(turn, &inside, value, site);
            true
        }
        _ => false,
    }
}

/// The formats of documents, and their types.
const DOCUMENTS: [(&str, &str); 9] = [
    ("pdf", "application/pdf"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    ("xls", "application/vnd.ms-excel"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("html", "text/html"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
];

/// The text of a document that is text, or whose blocks are all text; and the field that holds it.
fn document_text(source: Value<'_>) -> Option<(String, &'static str)> {
    if let Some(words) = text(source.get("text")) {
        return Some((words, "text"));
    }
    let blocks = source.get("content").filter(|list| list.kind() == Kind::Array)?;
    let words: Option<Vec<String>> = blocks.items().map(|block| text(block.get("text"))).collect();
    Some((words?.join("\n"), "content"))
}

/// A media item as bytes or by its place in S3, or a document of text; its type is the kind and the format.
fn media_item(turn: &mut Turn, path: &str, block: Value<'_>, kind: MediaKind) -> bool {
    let Some(source) = block.get("source") else {
        return false;
    };
    let place = source.get("s3Location");
    let (place, key) = match (
        text(source.get("bytes")),
        text(place.and_then(|place| place.get("uri"))),
    ) {
        (Some(bytes), _) => (MediaSource::Inline(bytes), "bytes"),
        (None, Some(uri)) => (MediaSource::Url(uri), "s3Location"),
        (None, None) => match document_text(source) {
            Some((words, key)) => (MediaSource::Text(words), key),
            None => return false,
        },
    };
    let format = text(block.get("format"));
    let family = match kind {
        MediaKind::Image => Some("image"),
        MediaKind::Video => Some("video"),
        MediaKind::Audio => Some("audio"),
        MediaKind::File | MediaKind::Link => None,
    };
    let media_type = match (family, &format) {
        (Some(family), Some(format)) => Some(format!("{family}/{format}")),
        (_, Some(format)) => {
            let known = DOCUMENTS.iter().find(|(known, _)| known == format);
            known.map(|(_, media_type)| (*media_type).to_owned())
        }
        _ => None,
    };
    let is_typed = media_type.is_some();
    turn.parts.push(Part::Media(Media {
        kind,
        source: place,
        media_type,
        name: text(block.get("name")),
    }));
    let known: &[&str] = if is_typed {
        &["format", "source", "name"]
    } else {
        &["source", "name"]
    };
    turn.keep_rest(block, path, known);
    turn.keep_rest(source, &format!("{path}.source"), &[key]);
    if let Some(place) = source.get("s3Location").filter(|_| key == "s3Location") {
        turn.keep_rest(place, &format!("{path}.source.s3Location"), &["uri"]);
    }
    true
}

fn thought(turn: &mut Turn, path: &str, value: Value<'_>) -> bool {
    let Some(holder) = value.get("reasoningText") else {
        return false;
    };
    let Some(thought) = text(holder.get("text")) else {
        return false;
    };
    turn.parts.push(Part::Reasoning(thought));
    turn.keep_rest(holder, &format!("{path}.reasoningText"), &["text"]);
    turn.keep_rest(value, path, &["reasoningText"]);
    true
}

fn call(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>, limits: &Limits) {
    let input = arguments(present(block, "input"), &format!("{path}.input"), site, limits);
    let id = word(block.get("toolUseId"), &format!("{path}.toolUseId"), site);
    let name = word(block.get("name"), &format!("{path}.name"), site);
    turn.parts.push(Part::ToolCall(ToolCall::new(id, name, input)));
    turn.keep_rest(block, path, &["toolUseId", "name", "input"]);
}

/// A result: texts and JSON values are the answer, joined by line breaks, and media follow it.
fn result(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) {
    let mut texts: Vec<String> = Vec::new();
    let mut inner = Turn::default();
    match block.get("content") {
        Some(list) if list.kind() == Kind::Array => {
            for (index, part) in list.items().enumerate() {
                let place = format!("{path}.content[{index}]");
                if let Some(words) = text(part.get("text")) {
                    texts.push(words);
                    inner.keep_rest(part, &place, &["text"]);
                } else if let Some(json) = part.get("json") {
                    texts.push(text_of(json));
                    inner.keep_rest(part, &place, &["json"]);
                } else if !is_media_item(&mut inner, &place, part) {
                    inner.unknown(&place, part, site);
                }
            }
        }
        Some(value) => {
            let text = "the content of a result is not a list and is read as its text";
            site.warn(&format!("{path}.content"), text, value);
            texts.push(text_of(value));
        }
        None => {}
    }
    let status = text(block.get("status"));
    turn.parts.push(Part::ToolResult(ToolResult {
        call_id: word(block.get("toolUseId"), &format!("{path}.toolUseId"), site),
        content: texts.join("\n"),
        is_error: status.as_deref() == Some("error"),
        media: media_of_answer(&inner.parts),
        ..ToolResult::default()
    }));
    turn.parts.extend(inner.parts);
    turn.rest.extend(inner.rest);
    let known: &[&str] = match status.as_deref() {
        Some("error" | "success") | None => &["toolUseId", "content", "status"],
        Some(_) => &["toolUseId", "content"],
    };
    turn.keep_rest(block, path, known);
}

fn is_media_item(turn: &mut Turn, path: &str, part: Value<'_>) -> bool {
    let kinds = [
        ("image", MediaKind::Image),
        ("video", MediaKind::Video),
        ("document", MediaKind::File),
    ];
    kinds.into_iter().any(|(key, kind)| {
        let inside = format!("{path}.{key}");
        part.get(key)
            .is_some_and(|value| media_item(turn, &inside, value, kind))
    })
}
