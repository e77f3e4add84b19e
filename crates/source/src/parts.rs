//! Content parts as OpenAI's APIs write them: text, pictures, sound, files, refusals, thoughts, cache marks.
//!
//! What a part holds beyond the model goes into the message's extra fields under its path, for example
//! `content[1].image_url.detail`, so that nothing is lost. Parts of other vendors' formats are kept whole in the same way.

use chatmill_diag::{Severity, codes};
use chatmill_intake::json::{Kind, Value, append_key};
use chatmill_model::json::push_compact;
use chatmill_model::{Media, MediaKind, MediaSource, Part, RawJson, ToolResult};

use crate::notes::Site;
use crate::sharegpt;

/// Levels of JSON inside the text of a part.
const DEPTH: u32 = 128;

/// The cache mark that says nothing but that it is one.
const PLAIN_MARK: &str = "{\"type\":\"ephemeral\"}";

/// What a list of parts became.
#[derive(Debug, Default)]
pub struct Content {
    /// The pieces of the message.
    pub parts: Vec<Part>,
    /// What has no place in them, by path.
    pub extra: Vec<(String, RawJson)>,
}

impl Content {
    fn keep(&mut self, path: String, value: Value<'_>) {
        self.extra.push((path, RawJson(value.raw().to_owned())));
    }

    /// Keeps the fields of an object that are not among `known`.
    fn keep_rest(&mut self, object: Value<'_>, path: &str, known: &[&str]) {
        for (key, value) in object.fields() {
            if !known.contains(&&*key) && !value.is_null() {
                let mut place = path.to_owned();
                append_key(&mut place, &key);
                self.keep(place, value);
            }
        }
    }
}

/// Whether a list is one of parts: an element is an object with a `type` or a `text`, or all are strings.
pub fn is_parts(list: Value<'_>) -> bool {
    let is_part = |part: Value<'_>| {
        part.kind() == Kind::Object && part.get("type").or_else(|| part.get("text")).is_some()
    };
    list.items().any(is_part) || list.items().all(|part| part.kind() == Kind::String)
}

/// Reads the parts of the field `field`.
pub fn read(list: Value<'_>, field: &str, site: &mut Site<'_>) -> Content {
    let mut content = Content::default();
    for (index, value) in list.items().enumerate() {
        let path = format!("{field}[{index}]");
        match value.kind() {
            Kind::Object => object(value, &path, &mut content, site),
            Kind::String => {
                let text = "a part is a bare string and is read as text";
                site.wrong(&path, text, Severity::Warning, value);
                content.parts.extend(owned(value).map(Part::Text));
            }
            _ => {
                let text = "a part is neither a string nor an object and is kept as it is";
                site.wrong(&path, text, Severity::Error, value);
                content.keep(path, value);
            }
        }
    }
    content
}

fn object(value: Value<'_>, path: &str, content: &mut Content, site: &mut Site<'_>) {
    let word = value.get("type").and_then(Value::as_str);
    let is_read = match word.as_deref() {
        Some("text" | "input_text" | "output_text") | None => {
            text(value, path, "text", content) || text(value, path, "value", content)
        }
        Some("refusal") => {
            let is_read = text(value, path, "refusal", content);
            if let Some(word) = value.get("type").filter(|_| is_read) {
                content.keep(format!("{path}.type"), word);
            }
            is_read
        }
        Some("thinking") => {
            thought(value, path, "thinking", content) || thoughts(value, path, "thinking", content)
        }
        Some("reasoning") => thought(value, path, "text", content) || thought(value, path, "value", content),
        Some("tool_call" | "tool_calls") => calls(value, path, content),
        Some("image_url" | "input_image") => medium(value, path, "image_url", MediaKind::Image, content),
        Some("audio_url") => medium(value, path, "audio_url", MediaKind::Audio, content),
        Some("video_url") => medium(value, path, "video_url", MediaKind::Video, content),
        Some("image") => plain_medium(value, path, "image", MediaKind::Image, content),
        Some("audio") => plain_medium(value, path, "audio", MediaKind::Audio, content),
        Some("video") => plain_medium(value, path, "video", MediaKind::Video, content),
        Some("input_audio") => sound(value, path, content),
        Some("file" | "input_file") => file(value, path, content),
        Some(_) => false,
    };
    if !is_read {
        let text = "the part has no form that is known here and is kept as it is";
        site.note(
            &codes::UNKNOWN_MESSAGE_TYPE,
            text,
            format!(".{path}"),
            value.get("type").unwrap_or(value),
        );
        content.keep(path.to_owned(), value);
        return;
    }
    if let Some(mark) = value.get("cache_control").filter(|mark| !mark.is_null()) {
        content.parts.push(Part::CacheMark);
        let mut compact = String::new();
        push_compact(&mut compact, mark.raw());
        if compact != PLAIN_MARK {
            content.keep(format!("{path}.cache_control"), mark);
        }
    }
}

fn owned(value: Value<'_>) -> Option<String> {
    value.as_str().map(std::borrow::Cow::into_owned)
}

fn text(value: Value<'_>, path: &str, key: &str, content: &mut Content) -> bool {
    let Some(said) = value.get(key).and_then(owned) else {
        return false;
    };
    content.parts.push(Part::Text(said));
    content.keep_rest(value, path, &["type", key, "cache_control"]);
    true
}

fn thought(value: Value<'_>, path: &str, key: &str, content: &mut Content) -> bool {
    let Some(thought) = value.get(key).and_then(owned) else {
        return false;
    };
    content.parts.push(Part::Reasoning(thought));
    content.keep_rest(value, path, &["type", key, "cache_control"]);
    true
}

/// Thoughts as a list of texts, as Mistral's models give them.
fn thoughts(value: Value<'_>, path: &str, key: &str, content: &mut Content) -> bool {
    let Some(list) = value.get(key).filter(|list| list.kind() == Kind::Array) else {
        return false;
    };
    if list
        .items()
        .any(|chunk| chunk.get("text").and_then(Value::as_str).is_none())
    {
        return false;
    }
    for (index, chunk) in list.items().enumerate() {
        content
            .parts
            .extend(chunk.get("text").and_then(owned).map(Part::Reasoning));
        content.keep_rest(chunk, &format!("{path}.{key}[{index}]"), &["type", "text"]);
    }
    content.keep_rest(value, path, &["type", key, "cache_control"]);
    true
}

/// A medium known by its address, which stands in a field as a string or as an object with `url`.
fn address(value: Value<'_>, path: &str, key: &str, kind: MediaKind, content: &mut Content) -> bool {
    let Some(field) = value.get(key) else {
        return false;
    };
    let url = if field.kind() == Kind::Object {
        field.get("url").and_then(owned)
    } else {
        owned(field)
    };
    let Some(url) = url else { return false };
    content.parts.push(Part::Media(located(kind, url, None)));
    content.keep_rest(value, path, &["type", key, "cache_control"]);
    content.keep_rest(field, &format!("{path}.{key}"), &["url"]);
    true
}

/// A medium by its address, or as the `value` of its part.
fn medium(value: Value<'_>, path: &str, key: &str, kind: MediaKind, content: &mut Content) -> bool {
    address(value, path, key, kind, content) || address(value, path, "value", kind, content)
}

/// A medium as training files write it: by address or path, or as a mark for one that stands beside the messages.
fn plain_medium(value: Value<'_>, path: &str, key: &str, kind: MediaKind, content: &mut Content) -> bool {
    if [key, "url", "path", "value"]
        .into_iter()
        .any(|field| address(value, path, field, kind, content))
    {
        return true;
    }
    let is_mark = value
        .fields()
        .all(|(field, inside)| inside.is_null() || matches!(&*field, "type" | "cache_control"));
    if is_mark {
        content.parts.push(Part::Media(Media {
            kind,
            source: MediaSource::Upload,
            media_type: None,
            name: None,
        }));
    }
    is_mark
}

/// Calls as the JSON text that a model is to write: an object with name and arguments, or a list of such.
fn calls(value: Value<'_>, path: &str, content: &mut Content) -> bool {
    let Some(text) = value.get("value").and_then(owned) else {
        return false;
    };
    let calls = sharegpt::calls(text, DEPTH);
    content.parts.extend(calls.into_iter().map(Part::ToolCall));
    content.keep_rest(value, path, &["type", "value", "cache_control"]);
    true
}

/// A medium at an address; a plain base64 data URL is the bytes themselves.
pub fn located(kind: MediaKind, url: String, name: Option<String>) -> Media {
    let (source, media_type) = match inline(&url) {
        Some((media_type, bytes)) => (MediaSource::Inline(bytes.to_owned()), Some(media_type.to_owned())),
        None => (MediaSource::Url(url), None),
    };
    Media {
        kind,
        source,
        media_type,
        name,
    }
}

/// Type and bytes of a data URL of the form `data:TYPE;base64,BYTES`.
fn inline(url: &str) -> Option<(&str, &str)> {
    let (media_type, bytes) = url.strip_prefix("data:")?.split_once(";base64,")?;
    (media_type.contains('/') && !media_type.contains([';', ','])).then_some((media_type, bytes))
}

fn sound(value: Value<'_>, path: &str, content: &mut Content) -> bool {
    let Some(field) = value.get("input_audio") else {
        return false;
    };
    let Some(bytes) = field.get("data").and_then(owned) else {
        return false;
    };
    let format = field.get("format").and_then(owned);
    content.parts.push(Part::Media(Media {
        kind: MediaKind::Audio,
        source: MediaSource::Inline(bytes),
        media_type: format.map(|format| format!("audio/{format}")),
        name: None,
    }));
    content.keep_rest(value, path, &["type", "input_audio", "cache_control"]);
    content.keep_rest(field, &format!("{path}.input_audio"), &["data", "format"]);
    true
}

/// A file: its bytes, or the id under which it was uploaded, which then also serves as its name.
fn file(value: Value<'_>, path: &str, content: &mut Content) -> bool {
    let nested = value.get("file").filter(|file| file.kind() == Kind::Object);
    let holder = nested.unwrap_or(value);
    let field = |key: &str| holder.get(key).and_then(owned);
    let name = field("filename");
    let mut known = vec!["type", "file", "cache_control", "filename"];
    let media = if let Some(bytes) = field("file_data") {
        known.push("file_data");
        located(MediaKind::File, bytes, name)
    } else if let Some(url) = field("file_url") {
        known.push("file_url");
        located(MediaKind::File, url, name)
    } else if let Some(id) = field("file_id") {
        if name.is_none() {
            known.push("file_id");
        }
        Media {
            kind: MediaKind::File,
            source: MediaSource::Upload,
            media_type: None,
            name: name.or(Some(id)),
        }
    } else {
        return false;
    };
    content.parts.push(Part::Media(media));
    if nested.is_some() {
        content.keep_rest(value, path, &["type", "file", "cache_control"]);
        content.keep_rest(holder, &format!("{path}.file"), &known);
    } else {
        content.keep_rest(holder, path, &known);
    }
    true
}

/// A tool's content is its result: the texts are the answer, joined by line breaks, and everything else follows.
pub fn answer(content: Vec<Part>, call_id: Option<String>, name: Option<String>) -> Vec<Part> {
    let mut texts: Vec<String> = Vec::new();
    let mut others = Vec::new();
    for part in content {
        match part {
            Part::Text(text) => texts.push(text),
            other => others.push(other),
        }
    }
    let mut parts = vec![Part::ToolResult(ToolResult {
        call_id,
        name,
        content: texts.join("\n"),
        is_error: false,
        metadata_id: None,
        caller: None,
    })];
    parts.extend(others);
    parts
}
