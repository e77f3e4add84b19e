//! Content parts as OpenAI's APIs write them: text, pictures, sound, files, refusals, thoughts, cache marks.
//!
//! Fields of a part without a place in the model go into the message's extra fields under their paths, for
//! example `content[1].image_url.detail`, so that nothing is lost. Parts of other vendors' formats are kept
//! whole in the same way.

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part};

use crate::base::{Content, Keep, Site, compact, media::located, media::upload, present, text};
use crate::grammar::openai::calls::spelled;

/// Levels of JSON inside the text of a part.
const MAX_SPELLED_DEPTH: u32 = 128;

/// The cache mark that says nothing but that it is one.
const PLAIN_MARK: &str = "{\"type\":\"ephemeral\"}";

/// Whether a list is one of parts: an element is an object with a `type` or a `text`, or all are strings.
pub(crate) fn is_parts(list: Value<'_>) -> bool {
    let is_part = |part: Value<'_>| {
        part.kind() == Kind::Object && part.get("type").or_else(|| part.get("text")).is_some()
    };
    list.items().any(is_part) || list.items().all(|part| part.kind() == Kind::String)
}

/// Reads the parts of the field `field`.
pub(crate) fn read(list: Value<'_>, field: &str, site: &mut Site<'_>) -> Content {
    let mut content = Content::default();
    for (index, value) in list.items().enumerate() {
        let path = format!("{field}[{index}]");
        match value.kind() {
            Kind::Object => object(value, &path, &mut content, site),
            Kind::String => {
                site.warn(&path, "a part is a bare string and is read as text", value);
                content.parts.extend(text(Some(value)).map(Part::Text));
            }
            _ => {
                let message = "a part is neither a string nor an object and is kept as it is";
                site.error(&path, message, value);
                content.keep(path, value);
            }
        }
    }
    content
}

fn object(value: Value<'_>, path: &str, content: &mut Content, site: &mut Site<'_>) {
    if !known(value, path, content) {
        let text = "the part has no form that is known here and is kept as it is";
        let place = value.get("type").unwrap_or(value);
        site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, format!(".{path}"), place);
        content.keep_reported(path, value);
    }
}

/// Reads a part, if it has a form that is known here.
pub(crate) fn known(value: Value<'_>, path: &str, content: &mut Content) -> bool {
    let word = value.get("type").and_then(Value::as_str);
    let is_read = match word.as_deref() {
        Some("text" | "input_text" | "output_text") | None => {
            words(value, path, "text", Part::Text, content)
                || words(value, path, "value", Part::Text, content)
        }
        Some("refusal") => {
            let is_read = words(value, path, "refusal", Part::Text, content);
            if let Some(word) = value.get("type").filter(|_| is_read) {
                content.keep(format!("{path}.type"), word);
            }
            is_read
        }
        Some("thinking") => {
            words(value, path, "thinking", Part::Reasoning, content)
                || thoughts(value, path, "thinking", content)
        }
        Some("reasoning") => {
            words(value, path, "text", Part::Reasoning, content)
                || words(value, path, "value", Part::Reasoning, content)
        }
        Some("tool_call" | "tool_calls") => calls(value, path, content),
        Some("image_url" | "input_image") => media_item(value, path, "image_url", MediaKind::Image, content),
        Some("audio_url") => media_item(value, path, "audio_url", MediaKind::Audio, content),
        Some("video_url") => media_item(value, path, "video_url", MediaKind::Video, content),
        Some("image") => plain_media_item(value, path, "image", MediaKind::Image, content),
        Some("audio") => plain_media_item(value, path, "audio", MediaKind::Audio, content),
        Some("video") => plain_media_item(value, path, "video", MediaKind::Video, content),
        Some("input_audio") => sound(value, path, content),
        Some("file" | "input_file") => file(value, path, content),
        Some(_) => false,
    };
    if let Some(mark) = present(value, "cache_control").filter(|_| is_read) {
        content.parts.push(Part::CacheMark);
        if compact(mark) != PLAIN_MARK {
            content.keep(format!("{path}.cache_control"), mark);
        }
    }
    is_read
}

/// A field of words, as a piece of this kind.
fn words(value: Value<'_>, path: &str, key: &str, part: fn(String) -> Part, content: &mut Content) -> bool {
    let Some(words) = text(value.get(key)) else {
        return false;
    };
    content.parts.push(part(words));
    content.keep_rest(value, path, &["type", key, "cache_control"]);
    true
}

/// Thoughts as a list of texts, as Mistral's models give them.
fn thoughts(value: Value<'_>, path: &str, key: &str, content: &mut Content) -> bool {
    let Some(list) = value.get(key).filter(|list| list.kind() == Kind::Array) else {
        return false;
    };
    let is_text = |chunk: Value<'_>| chunk.get("text").and_then(Value::as_str).is_some();
    if !list.items().all(is_text) {
        return false;
    }
    for (index, chunk) in list.items().enumerate() {
        content.parts.extend(text(chunk.get("text")).map(Part::Reasoning));
        content.keep_rest(chunk, &format!("{path}.{key}[{index}]"), &["type", "text"]);
    }
    content.keep_rest(value, path, &["type", key, "cache_control"]);
    true
}

/// A media item known by its address, which stands in a field as a string or as an object with `url`.
fn address(value: Value<'_>, path: &str, key: &str, kind: MediaKind, content: &mut Content) -> bool {
    let Some(field) = value.get(key) else {
        return false;
    };
    let is_object = field.kind() == Kind::Object;
    let Some(url) = text(if is_object { field.get("url") } else { Some(field) }) else {
        return false;
    };
    content.parts.push(Part::Media(located(kind, url, None)));
    content.keep_rest(value, path, &["type", key, "cache_control"]);
    content.keep_rest(field, &format!("{path}.{key}"), &["url"]);
    true
}

/// A media item by its address, or as the `value` of its part.
fn media_item(value: Value<'_>, path: &str, key: &str, kind: MediaKind, content: &mut Content) -> bool {
    address(value, path, key, kind, content) || address(value, path, "value", kind, content)
}

/// A media item as training files write it: by address or path, or as a mark for one that stands beside the messages.
fn plain_media_item(value: Value<'_>, path: &str, key: &str, kind: MediaKind, content: &mut Content) -> bool {
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
        content.parts.push(upload(kind, None));
    }
    is_mark
}

/// Calls as the JSON text that a model is to write: an object with name and arguments, or a list of such.
fn calls(value: Value<'_>, path: &str, content: &mut Content) -> bool {
    let Some(words) = text(value.get("value")) else {
        return false;
    };
    let calls = spelled(words, MAX_SPELLED_DEPTH);
    content.parts.extend(calls.into_iter().map(Part::ToolCall));
    content.keep_rest(value, path, &["type", "value", "cache_control"]);
    true
}

fn sound(value: Value<'_>, path: &str, content: &mut Content) -> bool {
    let Some(field) = value.get("input_audio") else {
        return false;
    };
    let Some(bytes) = text(field.get("data")) else {
        return false;
    };
    let format = text(field.get("format"));
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
    let field = |key: &str| text(holder.get(key));
    let name = field("filename");
    let mut known = vec!["type", "file", "cache_control", "filename"];
    let mut sources = ["file_data", "file_url"].into_iter();
    let part = if let Some((key, url)) = sources.find_map(|key| Some((key, field(key)?))) {
        known.push(key);
        Part::Media(located(MediaKind::File, url, name))
    } else if let Some(id) = field("file_id") {
        if name.is_none() {
            known.push("file_id");
        }
        upload(MediaKind::File, name.or(Some(id)))
    } else {
        return false;
    };
    content.parts.push(part);
    if nested.is_some() {
        content.keep_rest(value, path, &["type", "file", "cache_control"]);
        content.keep_rest(holder, &format!("{path}.file"), &known);
    } else {
        content.keep_rest(holder, path, &known);
    }
    true
}
