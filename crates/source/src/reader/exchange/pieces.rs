//! Pieces of messages as frameworks write them: calls, results, files, and calls together with what came of them.

use std::collections::{HashMap, HashSet};

use chatmill_diag::Limits;
use chatmill_intake::json::Value;
use chatmill_model::{ArgumentForm, Arguments, Media, MediaKind, MediaSource, Part, ToolCall, ToolResult};

use crate::reader::{
    Keep as _, Site, Turn, arguments, kind_of, message_object, parts, present, repeats, text,
};

/// Calls with their results that stand beside the parts; those that parts tell are told there.
pub(super) fn invocations(turn: &mut Turn, value: Value<'_>, site: &mut Site<'_>, limits: &Limits) {
    let told: HashSet<Option<String>> = turn
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.id.clone()),
            _ => None,
        })
        .collect();
    let inside = present(value, "parts").into_iter().flat_map(Value::items);
    let mut originals: HashMap<Option<&str>, Value<'_>> = HashMap::new();
    for own in inside.filter_map(|part| present(part, "toolInvocation")) {
        let id = own.get("toolCallId").map(Value::written);
        originals.entry(id).or_insert(own);
    }
    for (index, part) in present(value, "toolInvocations")
        .into_iter()
        .flat_map(Value::items)
        .enumerate()
    {
        if told.contains(&text(part.get("toolCallId"))) {
            let own = originals.get(&part.get("toolCallId").map(Value::written));
            own.inspect(|own| repeats(part, **own));
            continue;
        }
        invoked(
            turn,
            &format!("toolInvocations[{index}]"),
            part,
            None,
            site,
            limits,
        );
    }
}

/// Files that stand beside the parts.
pub(super) fn attachments(turn: &mut Turn, value: Value<'_>, site: &mut Site<'_>) {
    for (index, file) in present(value, "experimental_attachments")
        .into_iter()
        .flat_map(Value::items)
        .enumerate()
    {
        if !media(turn, file, "file") {
            turn.unknown(&format!("experimental_attachments[{index}]"), file, site);
        }
    }
}

/// What parts say: each text, and all of them together.
pub(super) struct Words<'p> {
    texts: HashSet<&'p str>,
    whole: String,
}

impl<'p> Words<'p> {
    pub(super) fn of(parts: &'p [Part]) -> Self {
        let texts = parts.iter().filter_map(|part| match part {
            Part::Text(text) | Part::Reasoning(text) => Some(text.as_str()),
            _ => None,
        });
        Self {
            texts: texts.clone().collect(),
            whole: texts.collect(),
        }
    }

    /// Whether they say a text; then it is read.
    pub(super) fn say(&self, said: Option<Value<'_>>) -> bool {
        let is_said = |said: &str| said.is_empty() || self.texts.contains(said) || self.whole == said;
        said.is_some_and(|value| {
            value.string().is_some_and(|said| is_said(&said)) && value.as_str().is_some()
        })
    }
}

/// Whether parts say a text.
pub(super) fn says(parts: &[Part], said: Option<Value<'_>>) -> bool {
    Words::of(parts).say(said)
}

/// A call with what came of it, as the AI SDK has both in one part.
pub(super) fn invoked(
    turn: &mut Turn,
    path: &str,
    part: Value<'_>,
    tool: Option<&str>,
    site: &mut Site<'_>,
    limits: &Limits,
) {
    let field = |keys: &[&str]| keys.iter().find_map(|key| present(part, key));
    let name = field(&["toolName"])
        .and_then(|name| text(Some(name)))
        .or_else(|| tool.map(str::to_owned));
    let given = field(&["input", "args"]);
    let given = given.map_or_else(
        || (Arguments::Malformed(String::new()), ArgumentForm::Text),
        |given| arguments(Some(given), path, site, limits),
    );
    let id = text(part.get("toolCallId"));
    turn.parts
        .push(Part::ToolCall(ToolCall::new(id.clone(), name.clone(), given)));
    let failed = field(&["errorText"]);
    if let Some(result) = field(&["output", "result"]).or(failed) {
        turn.parts.push(Part::ToolResult(ToolResult {
            call_id: id,
            name,
            content: message_object::text_of(result),
            is_error: failed.is_some(),
            ..ToolResult::default()
        }));
    }
    let known = [
        "type",
        "toolCallId",
        "toolName",
        "state",
        "step",
        "input",
        "args",
        "output",
        "result",
        "errorText",
    ];
    turn.keep_rest(part, path, &known);
}

pub(super) fn call(
    turn: &mut Turn,
    path: &str,
    id: Option<Value<'_>>,
    name: Option<Value<'_>>,
    given: Option<Value<'_>>,
    site: &mut Site<'_>,
    limits: &Limits,
) {
    let given = match given {
        Some(_) => arguments(given, path, site, limits),
        None => (Arguments::Malformed(String::new()), ArgumentForm::Text),
    };
    let call = ToolCall::new(text(id), text(name), given);
    turn.parts.push(Part::ToolCall(call));
}

pub(super) fn answer(
    turn: &mut Turn,
    id: Option<Value<'_>>,
    name: Option<Value<'_>>,
    result: Option<Value<'_>>,
    is_error: bool,
) {
    // The AI SDK says of a result what it is: {"type": "text", "value": …}.
    let kind = result.and_then(|result| text(result.get("type")));
    let inner = result
        .and_then(|result| present(result, "value"))
        .filter(|_| kind.is_some());
    let texts = |list: Value<'_>| {
        let texts: Option<Vec<String>> = list.items().map(|part| text(part.get("text"))).collect();
        texts.map(|texts| texts.join("\n"))
    };
    let shown = inner
        .filter(|_| kind.as_deref() == Some("content"))
        .and_then(texts);
    let content = shown.unwrap_or_else(|| inner.or(result).map(message_object::text_of).unwrap_or_default());
    turn.parts.push(Part::ToolResult(ToolResult {
        call_id: text(id),
        name: text(name),
        content,
        is_error: is_error || kind.is_some_and(|kind| kind.starts_with("error-")),
        ..ToolResult::default()
    }));
}

pub(super) fn media(turn: &mut Turn, part: Value<'_>, kind: &str) -> bool {
    let media_type = ["mime_type", "mimeType", "mediaType", "contentType"]
        .iter()
        .find_map(|key| text(part.get(key)));
    let modality = match text(part.get("modality")).as_deref() {
        Some("image") => Some(MediaKind::Image),
        Some("audio") => Some(MediaKind::Audio),
        Some("video") => Some(MediaKind::Video),
        _ => None,
    };
    let is_image = kind == "image";
    let known = modality.or_else(|| kind_of(media_type.as_deref()));
    let known = known.unwrap_or(if is_image {
        MediaKind::Image
    } else {
        MediaKind::File
    });
    let field = |keys: &[&str]| keys.iter().find_map(|key| text(part.get(key)));
    let bytes =
        field(&["content", "data"]).or_else(|| field(&["image"]).filter(|image| !image.contains(':')));
    let media =
        if let Some(url) = field(&["uri", "url"]).or_else(|| field(&["image"]).filter(|_| bytes.is_none())) {
            parts::located(known, url, field(&["filename", "name"]))
        } else if let Some(bytes) = bytes {
            let source = MediaSource::Inline(bytes);
            Media {
                kind: known,
                source,
                media_type,
                name: field(&["filename"]),
            }
        } else {
            let Some(name) = field(&["file_id", "filename"]) else {
                return false;
            };
            Media {
                kind: known,
                source: MediaSource::Upload,
                media_type,
                name: Some(name),
            }
        };
    turn.parts.push(Part::Media(media));
    true
}
