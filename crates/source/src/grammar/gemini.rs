//! Gemini's parts, in camel case and in snake case: text, thoughts, media, function calls and responses.
//!
//! Fields of a part without a place in the model are kept under the path of the part, in the spelling of the API's proto.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{
    ArgumentForm, Arguments, Media, MediaKind, MediaSource, Part, RawJson, ToolCall, ToolResult, Vendor,
};

use super::blocks::vendor_item;
use super::frameworks::of_parts;
use super::{BlockForm, Grammar, Read, Sign, UsageForm, When, only};
use crate::base::{Keep as _, Site, Turn, kind_of, present, text, text_of, word, words};
use crate::base::{arguments, media::media_of_answer};

/// Messages of Gemini.
pub(crate) static GEMINI: Grammar = Grammar {
    verified: "google-genai 3.6.1, 2026-11",
    blocks: &[
        with("text", words_of),
        only(with("function_call", function_call)),
        only(with("functionCall", function_call)),
        only(with("function_response", function_response)),
        only(with("functionResponse", function_response)),
        only(with("inline_data", inline_data)),
        only(with("inlineData", inline_data)),
        only(with("file_data", file_data)),
        only(with("fileData", file_data)),
        only(with("executable_code", hosted)),
        only(with("executableCode", hosted)),
        only(with("code_execution_result", hosted)),
        only(with("codeExecutionResult", hosted)),
        only(with("toolCall", hosted)),
        only(with("toolResponse", hosted)),
        with("tool_call", hosted),
        with("tool_response", hosted),
        with("file_uri", bare_file),
        with("fileUri", bare_file),
    ],
    lists: &["parts"],
    joins_texts: true,
    signs: &[Sign::Untyped],
    usage: Some(UsageForm {
        input: &["promptTokenCount", "toolUsePromptTokenCount"],
        output: &["candidatesTokenCount", "thoughtsTokenCount"],
        cached: &["cachedContentTokenCount"],
        total: Some("totalTokenCount"),
        ..UsageForm::NOTHING
    }),
    ..Grammar::own("gemini", &["role", "parts"], |value, site| {
        // A chat of google-genai has a content for each piece of a stream.
        let continues = is_plain(value);
        Turn {
            continues,
            is_cut: continues,
            ..of_parts(&GEMINI, value, "parts", site)
        }
    })
};

/// A kind of part that is recognised by one of its fields.
const fn with(key: &'static str, read: super::ReadBlock) -> BlockForm {
    BlockForm::of(When::Has(key), Read::Own(read))
}

/// Whether a content is the model's and has no fields of a chat program, such as an id or a time.
pub(crate) fn is_plain(content: Value<'_>) -> bool {
    let is_model = content.get("role").and_then(Value::string).as_deref() == Some("model");
    is_model && content.fields().all(|(key, _)| matches!(&*key, "role" | "parts"))
}

/// The first of two spellings that an object has.
fn either<'d>(object: Value<'d>, one: &str, other: &str) -> Option<Value<'d>> {
    present(object, one).or_else(|| present(object, other))
}

fn words_of(turn: &mut Turn, path: &str, part: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(words) = text(part.get("text")) else {
        return false;
    };
    let (piece, known): (_, &[&str]) = match part.get("thought").and_then(Value::as_bool) {
        Some(true) => (Part::Reasoning(words), &["text", "thought"]),
        _ => (Part::Text(words), &["text"]),
    };
    turn.parts.push(piece);
    turn.keep_rest(part, path, known);
    true
}

/// Reads one part. A part of an unknown kind, or one that is not an object, is kept whole, and a bare string is text.
pub(crate) fn one(turn: &mut Turn, path: &str, part: Value<'_>, site: &mut Site<'_>) {
    if part.kind() != Kind::Object {
        if let Some(text) = part.as_str() {
            site.warn(path, "a part is a bare string and is read as text", part);
            turn.parts.push(Part::Text(text.into_owned()));
        } else {
            let message = "a part is neither an object nor a string and is kept as it is";
            site.error(path, message, part);
            turn.keep(path.to_owned(), part);
        }
    } else if !GEMINI.block(turn, path, part, site) {
        turn.unknown(path, part, site);
    }
}

fn function_call(turn: &mut Turn, path: &str, part: Value<'_>, site: &mut Site<'_>) -> bool {
    let call = either(part, "function_call", "functionCall");
    let Some(call) = call.filter(|call| call.kind() == Kind::Object) else {
        return false;
    };
    let own = format!("{path}.function_call");
    let given = match present(call, "args") {
        None => (
            Arguments::Object(RawJson("{}".to_owned())),
            ArgumentForm::Embedded,
        ),
        given => arguments(given, &format!("{own}.args"), site),
    };
    let id = word(call.get("id"), &format!("{own}.id"), site);
    let name = word(call.get("name"), &format!("{own}.name"), site);
    let call_part = ToolCall::new(id, name, given);
    turn.parts.push(Part::ToolCall(call_part));
    turn.keep_rest(call, &own, &["id", "name", "args"]);
    turn.keep_rest(part, path, &["function_call", "functionCall"]);
    true
}

/// Reads a response: an object, kept as its JSON text; one with only the field `error` is a failure.
fn function_response(turn: &mut Turn, path: &str, part: Value<'_>, site: &mut Site<'_>) -> bool {
    let response = either(part, "function_response", "functionResponse");
    let Some(response) = response.filter(|response| response.kind() == Kind::Object) else {
        return false;
    };
    let own = format!("{path}.function_response");
    let answer = present(response, "response");
    if answer.is_none() {
        site.empty(&format!("{own}.response"));
    }
    let mut others = turn.inside();
    let mut known = vec!["id", "name", "response"];
    if let Some(list) = response.get("parts").filter(|list| list.kind() == Kind::Array) {
        known.push("parts");
        for (index, part) in list.items().enumerate() {
            one(&mut others, &format!("{own}.parts[{index}]"), part, site);
        }
    }
    turn.parts.push(Part::ToolResult(ToolResult {
        call_id: word(response.get("id"), &format!("{own}.id"), site),
        name: word(response.get("name"), &format!("{own}.name"), site),
        content: answer.map(text_of).unwrap_or_default(),
        is_error: answer.is_some_and(|answer| answer.len() == 1 && answer.get("error").is_some()),
        media: media_of_answer(&others.parts),
        is_json: true,
        ..ToolResult::default()
    }));
    turn.keep_rest(response, &own, &known);
    turn.parts.extend(others.parts);
    turn.rest.extend(others.rest);
    turn.keep_rest(part, path, &["function_response", "functionResponse"]);
    true
}

/// Steps that run at Google, in the spellings that are read and the one that is written.
const HOSTED: [(&str, &str); 8] = [
    ("executable_code", "executableCode"),
    ("executableCode", "executableCode"),
    ("code_execution_result", "codeExecutionResult"),
    ("codeExecutionResult", "codeExecutionResult"),
    ("tool_call", "toolCall"),
    ("toolCall", "toolCall"),
    ("tool_response", "toolResponse"),
    ("toolResponse", "toolResponse"),
];

/// Keeps a step that runs at Google unchanged. A signature next to it has no place.
fn hosted(turn: &mut Turn, path: &str, part: Value<'_>, _: &mut Site<'_>) -> bool {
    let found = HOSTED
        .iter()
        .find_map(|(read, written)| Some((*read, *written, present(part, read)?)));
    let Some((read, written, step)) = found else {
        return false;
    };
    turn.parts
        .push(Part::Item(vendor_item(Vendor::Gemini, [(written.into(), step)])));
    turn.keep_rest(part, path, &[read]);
    true
}

fn inline_data(turn: &mut Turn, path: &str, part: Value<'_>, _: &mut Site<'_>) -> bool {
    let found = either(part, "inline_data", "inlineData");
    let Some((inline, bytes)) = found.and_then(|inline| Some((inline, text(inline.get("data"))?))) else {
        return false;
    };
    turn.parts.push(media_item(inline, MediaSource::Inline(bytes)));
    let known = ["data", "mime_type", "mimeType", "display_name", "displayName"];
    turn.keep_rest(inline, &format!("{path}.inline_data"), &known);
    turn.keep_rest(part, path, &["inline_data", "inlineData"]);
    true
}

/// Fields of a file that are read.
const FILE: [&str; 6] = words!(file_uri fileUri mime_type mimeType display_name displayName);

fn file_data(turn: &mut Turn, path: &str, part: Value<'_>, _: &mut Site<'_>) -> bool {
    let found = either(part, "file_data", "fileData");
    let Some((file, uri)) = found.and_then(|file| Some((file, text(either(file, "file_uri", "fileUri"))?)))
    else {
        return false;
    };
    turn.parts.push(media_item(file, MediaSource::Url(uri)));
    turn.keep_rest(file, &format!("{path}.file_data"), &FILE);
    turn.keep_rest(part, path, &["file_data", "fileData"]);
    true
}

/// Reads a file with its address as a field of the part, as in gryag's document.
fn bare_file(turn: &mut Turn, path: &str, file: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(uri) = text(either(file, "file_uri", "fileUri")) else {
        return false;
    };
    turn.parts.push(media_item(file, MediaSource::Url(uri)));
    turn.keep_rest(file, path, &FILE);
    // This field distinguishes gryag's form from the other.
    turn.rest
        .push((format!("{path}.file_uri"), RawJson("true".to_owned())));
    true
}

/// A media item of this type and name. An address without a type is a video if it leads to `YouTube`, else a file.
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
