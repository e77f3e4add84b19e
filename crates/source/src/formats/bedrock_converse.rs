//! Requests of Bedrock's Converse API, and the lines of its fine-tuning files, which are the same with a version.
//!
//! The smallest example:
//!
//! ```json
//! {"schemaVersion": "bedrock-conversation-2024", "system": [{"text": "Be brief."}],
//!  "messages": [{"role": "user", "content": [{"text": "Hi"}]}, {"role": "assistant", "content": [{"text": "Hello"}]}]}
//! ```
//!
//! A block is an object with one field, which says what it is; a cache mark is a block of its own. A user turn that holds
//! nothing but results is the tool's; one that says more is the user's, results and all.

use chatmill_diag::{Limits, Severity};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part, ToolCall, ToolResult};

use crate::reader::{
    Keep as _, RequestForm, Requests, Site, Turn, Vendor, arguments, has, holds, message_object, present,
    text, word,
};
use crate::source::{About, NO_TEXT_ARGUMENTS};

static ABOUT: About = About {
    id: "bedrock-converse",
    title: "Bedrock Converse requests",
    specification: "Amazon Bedrock runtime, Converse, and the schema bedrock-conversation-2024",
    shapes: &["converse"],
    carries: "roles, text, pictures, films and documents, tool definitions, calls and results, failures, reasoning, cache marks",
    customs: NO_TEXT_ARGUMENTS.of_one_request(),
};

static FORM: RequestForm = RequestForm {
    list: "messages",
    may_be_text: false,
    system: Some("system"),
    tools: "toolConfig",
    answer: Some("response"),
    known: &["role", "content"],
    turn,
};

/// The source `bedrock-converse`.
pub static BEDROCK_CONVERSE: Requests = Requests {
    about: &ABOUT,
    form: &FORM,
    recognise,
    vendor: Some(Vendor::Converse),
};

/// Fields that only these requests have beside `messages`.
const OWN: [&str; 3] = ["toolConfig", "inferenceConfig", "additionalModelRequestFields"];

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    if !holds(record, "messages", "role") {
        return None;
    }
    if let Some(key) = OWN.into_iter().find(|key| has(record, key)) {
        return Some((95, format!("the record has {key}")));
    }
    let mut strings = record.strings.iter();
    if strings.any(|(key, text)| key == "schemaVersion" && text.starts_with("bedrock-conversation")) {
        return Some((
            95,
            "the record has the schema version of Bedrock's conversations".to_owned(),
        ));
    }
    let is_system = holds(record, "system", "text") && !holds(record, "system", "type");
    is_system.then(|| (85, "system text is a list of blocks without a type".to_owned()))
}

/// Reads a turn, or the system text.
fn turn(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Turn {
    let mut turn = Turn::default();
    if value.kind() != Kind::Object {
        content(&mut turn, "", value, site, limits);
        return turn;
    }
    turn.take_role("role", value, site, message_object::role);
    match present(value, "content") {
        None => site.missing("content", Severity::Error),
        Some(value) => content(&mut turn, "content", value, site, limits),
    }
    turn.keep_rest(value, "", &["role", "content"]);
    turn
}

/// Reads a list of blocks; anything else is read as its text.
fn content(turn: &mut Turn, path: &str, value: Value<'_>, site: &mut Site<'_>, limits: &Limits) {
    if value.kind() != Kind::Array {
        let text = "the content is not a list of blocks and is read as its text";
        turn.odd_content(path, text, value, site);
        return;
    }
    for (index, block) in value.items().enumerate() {
        let path = format!("{path}[{index}]");
        if !read_block(turn, &path, block, site, limits) {
            turn.unknown(&path, block, site);
        }
    }
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

/// A media item as bytes or by its place in S3; its type is the kind and the format.
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
        (None, None) => return false,
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
        (None, Some(format)) if format == "pdf" => Some("application/pdf".to_owned()),
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
                    texts.push(message_object::text_of(json));
                    inner.keep_rest(part, &place, &["json"]);
                } else if !is_media_item(&mut inner, &place, part) {
                    inner.unknown(&place, part, site);
                }
            }
        }
        Some(value) => {
            let text = "the content of a result is not a list and is read as its text";
            site.warn(&format!("{path}.content"), text, value);
            texts.push(message_object::text_of(value));
        }
        None => {}
    }
    let status = text(block.get("status"));
    turn.parts.push(Part::ToolResult(ToolResult {
        call_id: word(block.get("toolUseId"), &format!("{path}.toolUseId"), site),
        content: texts.join("\n"),
        is_error: status.as_deref() == Some("error"),
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
