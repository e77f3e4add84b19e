//! Parts of a turn, in camel case and in snake case: text, thoughts, media, function calls and responses.
//!
//! Fields of a part without a place in the model are kept in the message's extra fields under their paths. A
//! part of an unknown kind is kept whole.

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{
    ArgumentForm, Arguments, Media, MediaKind, MediaSource, Part, RawJson, ToolCall, ToolResult,
};

use crate::base::{
    Content, Keep as _, Site, embedded, kind_of, media::media_of_answer, present, text, text_of, word, words,
};

/// The first of two spellings that an object has.
fn either<'d>(object: Value<'d>, one: &str, other: &str) -> Option<Value<'d>> {
    object
        .get(one)
        .or_else(|| object.get(other))
        .filter(|value| !value.is_null())
}

/// Reads one part into `content`.
pub(crate) fn read(value: Value<'_>, path: &str, content: &mut Content, site: &mut Site<'_>) {
    if value.kind() != Kind::Object {
        if let Some(text) = value.as_str() {
            site.warn(path, "a part is a bare string and is read as text", value);
            content.parts.push(Part::Text(text.into_owned()));
        } else {
            let message = "a part is neither an object nor a string and is kept as it is";
            site.error(path, message, value);
            content.keep(path.to_owned(), value);
        }
        return;
    }
    let is_read = if let Some(words) = text(value.get("text")) {
        let (part, known): (_, &[&str]) = match value.get("thought").and_then(Value::as_bool) {
            Some(true) => (Part::Reasoning(words), &["text", "thought"]),
            _ => (Part::Text(words), &["text"]),
        };
        content.parts.push(part);
        content.keep_rest(value, path, known);
        true
    } else if let Some(call) = either(value, "function_call", "functionCall") {
        function_call(call, value, path, content, site)
    } else if let Some(response) = either(value, "function_response", "functionResponse") {
        function_response(response, value, path, content, site)
    } else if let Some(inline) = either(value, "inline_data", "inlineData") {
        inline_data(inline, value, path, content)
    } else if let Some(file) = either(value, "file_data", "fileData") {
        file_data(file, Some(value), path, content)
    } else {
        file_data(value, None, path, content)
    };
    if !is_read {
        let text = "the part has no form that is known here and is kept as it is";
        site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, format!(".{path}"), value);
        content.keep_reported(path, value);
    }
}

fn function_call(
    call: Value<'_>,
    part: Value<'_>,
    path: &str,
    content: &mut Content,
    site: &mut Site<'_>,
) -> bool {
    if call.kind() != Kind::Object {
        return false;
    }
    let none = || Arguments::Object(RawJson("{}".to_owned()));
    let arguments = present(call, "args").map_or_else(none, embedded);
    let own = format!("{path}.function_call");
    let id = word(call.get("id"), &format!("{own}.id"), site);
    let name = word(call.get("name"), &format!("{own}.name"), site);
    let call_part = ToolCall::new(id, name, (arguments, ArgumentForm::Embedded));
    content.parts.push(Part::ToolCall(call_part));
    content.keep_rest(call, &own, &["id", "name", "args"]);
    content.keep_rest(part, path, &["function_call", "functionCall"]);
    true
}

/// A response is an object, kept as its JSON text; one that holds nothing but `error` is a failure.
fn function_response(
    response: Value<'_>,
    part: Value<'_>,
    path: &str,
    content: &mut Content,
    site: &mut Site<'_>,
) -> bool {
    if response.kind() != Kind::Object {
        return false;
    }
    let own = format!("{path}.function_response");
    let answer = present(response, "response");
    if answer.is_none() {
        site.empty(&format!("{own}.response"));
    }
    let mut others = Content::default();
    let mut known = vec!["id", "name", "response"];
    if let Some(list) = response.get("parts").filter(|list| list.kind() == Kind::Array) {
        known.push("parts");
        for (index, part) in list.items().enumerate() {
            read(part, &format!("{own}.parts[{index}]"), &mut others, site);
        }
    }
    content.parts.push(Part::ToolResult(ToolResult {
        call_id: word(response.get("id"), &format!("{own}.id"), site),
        name: word(response.get("name"), &format!("{own}.name"), site),
        content: answer.map(text_of).unwrap_or_default(),
        is_error: answer.is_some_and(|answer| answer.len() == 1 && answer.get("error").is_some()),
        media: media_of_answer(&others.parts),
        ..ToolResult::default()
    }));
    content.keep_rest(response, &own, &known);
    content.parts.extend(others.parts);
    content.extra.extend(others.extra);
    content.keep_rest(part, path, &["function_response", "functionResponse"]);
    true
}

fn inline_data(inline: Value<'_>, part: Value<'_>, path: &str, content: &mut Content) -> bool {
    let Some(bytes) = text(inline.get("data")) else {
        return false;
    };
    content.parts.push(media_item(inline, MediaSource::Inline(bytes)));
    let known = ["data", "mime_type", "mimeType", "display_name", "displayName"];
    content.keep_rest(inline, &format!("{path}.inline_data"), &known);
    content.keep_rest(part, path, &["inline_data", "inlineData"]);
    true
}

/// A file by its address, in `file_data` or, as gryag's document has it, bare in the part.
fn file_data(file: Value<'_>, part: Option<Value<'_>>, path: &str, content: &mut Content) -> bool {
    let Some(uri) = text(either(file, "file_uri", "fileUri")) else {
        return false;
    };
    content.parts.push(media_item(file, MediaSource::Url(uri)));
    let known = words!(file_uri fileUri mime_type mimeType display_name displayName);
    if let Some(part) = part {
        content.keep_rest(file, &format!("{path}.file_data"), &known);
        content.keep_rest(part, path, &["file_data", "fileData"]);
    } else {
        content.keep_rest(file, path, &known);
        // gryag's own code tells this form from the other.
        content
            .extra
            .push((format!("{path}.file_uri"), RawJson("true".to_owned())));
    }
    true
}

/// A media item of this type and name; addresses without a type are those of videos where they lead to `YouTube`, else of files.
fn media_item(object: Value<'_>, source: MediaSource) -> Part {
    let by_address = || {
        let uri = if let MediaSource::Url(uri) = &source {
            uri
        } else {
            ""
        };
        let (_, rest) = uri.split_once("://").unwrap_or_default();
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        match host {
            "youtube.com" | "www.youtube.com" | "m.youtube.com" | "youtu.be" => MediaKind::Video,
            _ => MediaKind::File,
        }
    };
    let media_type = text(either(object, "mime_type", "mimeType"));
    Part::Media(Media {
        kind: kind_of(media_type.as_deref()).unwrap_or_else(by_address),
        source,
        media_type,
        name: text(either(object, "display_name", "displayName")),
    })
}
