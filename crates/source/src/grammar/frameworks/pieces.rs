//! Pieces of messages as frameworks write them: calls, results, files, and calls together with what came of them.

use std::collections::{HashMap, HashSet};

use chatmill_intake::json::Value;
use chatmill_model::{Media, MediaKind, MediaSource, Part, Role, ToolCall, ToolResult};

use crate::base::{
    Keep as _, Site, Turn, arguments, first_present, first_text, items, kind_of, media, present, repeats,
    text, text_of, words,
};

/// A message of a framework's, piece after piece.
pub(crate) struct Pieces<'p, 's> {
    /// The turn so far.
    pub turn: Turn,
    pub site: &'p mut Site<'s>,
}

impl<'p, 's> Pieces<'p, 's> {
    /// A message of which only the speaker is known.
    pub(crate) fn of(role: Option<Role>, site: &'p mut Site<'s>) -> Self {
        let turn = Turn {
            role,
            ..Turn::default()
        };
        Self { turn, site }
    }

    /// Keeps a part that has no form which is known.
    pub(crate) fn unknown(&mut self, path: &str, part: Value<'_>) {
        self.turn.unknown(path, part, self.site);
    }

    /// Reads calls with their results beside the parts; calls that are also parts are read there.
    pub(crate) fn invocations<'v>(&mut self, value: Value<'v>) {
        let calls = self.turn.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.id.clone()),
            _ => None,
        });
        let known_ids: HashSet<Option<String>> = calls.collect();
        let id = |call: Value<'v>| call.get("toolCallId").map(Value::written);
        let mut originals = HashMap::new();
        for own in items(value, "parts").filter_map(|part| present(part, "toolInvocation")) {
            originals.entry(id(own)).or_insert(own);
        }
        for (index, part) in items(value, "toolInvocations").enumerate() {
            if !known_ids.contains(&text(part.get("toolCallId"))) {
                self.invoked(&format!("toolInvocations[{index}]"), part, None);
            } else if let Some(own) = originals.get(&id(part)) {
                repeats(part, *own);
            }
        }
    }

    /// Files that stand beside the parts.
    pub(crate) fn attachments(&mut self, value: Value<'_>) {
        for (index, file) in items(value, "experimental_attachments").enumerate() {
            if !self.media(file, "file") {
                self.unknown(&format!("experimental_attachments[{index}]"), file);
            }
        }
    }

    /// A call with what came of it, as the AI SDK has both in one part.
    pub(crate) fn invoked(&mut self, path: &str, part: Value<'_>, tool: Option<&str>) {
        let name = text(present(part, "toolName")).or_else(|| tool.map(str::to_owned));
        let given = first_present(part, &["input", "args"]);
        let given = arguments(given, path, self.site);
        let id = text(part.get("toolCallId"));
        let call = ToolCall::new(id.clone(), name.clone(), given);
        self.turn.parts.push(Part::ToolCall(call));
        let failed = present(part, "errorText");
        if let Some(result) = first_present(part, &["output", "result"]).or(failed) {
            self.turn.parts.push(Part::ToolResult(ToolResult {
                call_id: id,
                name,
                content: text_of(result),
                is_error: failed.is_some(),
                ..ToolResult::default()
            }));
        }
        let known = words!(type toolCallId toolName state step input args output result errorText);
        self.turn.keep_rest(part, path, &known);
    }

    /// A call, by the names of its id, its name and its arguments.
    pub(crate) fn call(&mut self, path: &str, call: Value<'_>, [id, name, given]: [&[&str]; 3]) {
        let given = arguments(first_present(call, given), path, self.site);
        let (id, name) = (text(first_present(call, id)), text(first_present(call, name)));
        let call = ToolCall::new(id, name, given);
        self.turn.parts.push(Part::ToolCall(call));
    }

    /// Adds the result of a call; the three lists hold possible names of the fields for the call's id, its
    /// name and the result.
    pub(crate) fn answer(&mut self, answer: Value<'_>, [id, name, result]: [&[&str]; 3], is_error: bool) {
        let result = first_present(answer, result);
        // The AI SDK says of a result what it is: {"type": "text", "value": …}.
        let kind = result.and_then(|result| text(result.get("type")));
        let inner = result.filter(|_| kind.is_some());
        let inner = inner.and_then(|result| present(result, "value"));
        let texts = |list: Value<'_>| {
            let texts: Option<Vec<String>> = list.items().map(|part| text(part.get("text"))).collect();
            texts.map(|texts| texts.join("\n"))
        };
        let shown = inner
            .filter(|_| kind.as_deref() == Some("content"))
            .and_then(texts);
        let content = shown.or_else(|| inner.or(result).map(text_of));
        self.turn.parts.push(Part::ToolResult(ToolResult {
            call_id: text(first_present(answer, id)),
            name: text(first_present(answer, name)),
            content: content.unwrap_or_default(),
            is_error: is_error || kind.is_some_and(|kind| kind.starts_with("error-")),
            ..ToolResult::default()
        }));
    }

    /// A file: its address, its bytes, or the id or name of one that was uploaded; false where there is neither.
    pub(crate) fn media(&mut self, part: Value<'_>, kind: &str) -> bool {
        let field = |keys: &[&str]| first_text(part, keys);
        let media_type = field(&["mime_type", "mimeType", "mediaType", "contentType"]);
        let modality = match field(&["modality"]).as_deref() {
            Some("image") => Some(MediaKind::Image),
            Some("audio") => Some(MediaKind::Audio),
            Some("video") => Some(MediaKind::Video),
            _ => None,
        };
        let kind = match modality.or_else(|| kind_of(media_type.as_deref())) {
            Some(known) => known,
            None if kind == "image" => MediaKind::Image,
            None => MediaKind::File,
        };
        let of_image = |is_address: bool| field(&["image"]).filter(|image| image.contains(':') == is_address);
        let bytes = field(&["content", "data"]).or_else(|| of_image(false));
        let address = || of_image(true).filter(|_| bytes.is_none());
        if let Some(url) = field(&["uri", "url"]).or_else(address) {
            let media = media::located(kind, url, field(&["filename", "name"]));
            self.turn.parts.push(Part::Media(media));
            return true;
        }
        let (source, name) = match bytes {
            Some(bytes) => (MediaSource::Inline(bytes), field(&["filename"])),
            None => (MediaSource::Upload, field(&["file_id", "filename"])),
        };
        if source == MediaSource::Upload && name.is_none() {
            return false;
        }
        self.turn.parts.push(Part::Media(Media {
            kind,
            source,
            media_type,
            name,
        }));
        true
    }
}

/// The texts of parts: each, and all joined.
pub(crate) struct Words<'p> {
    texts: HashSet<&'p str>,
    whole: String,
}

impl<'p> Words<'p> {
    pub(crate) fn of(parts: &'p [Part]) -> Self {
        let texts = parts.iter().filter_map(|part| match part {
            Part::Text(text) | Part::Reasoning(text) => Some(text.as_str()),
            _ => None,
        });
        Self {
            texts: texts.clone().collect(),
            whole: texts.collect(),
        }
    }

    /// Whether the texts contain this one; it is marked as read then.
    pub(crate) fn have(&self, wanted: Option<Value<'_>>) -> bool {
        let has_text =
            |wanted: &str| wanted.is_empty() || self.texts.contains(wanted) || self.whole == wanted;
        wanted.is_some_and(|value| {
            value.string().is_some_and(|wanted| has_text(&wanted)) && value.as_str().is_some()
        })
    }
}

/// Whether parts say a text.
pub(crate) fn contain_text(parts: &[Part], wanted: Option<Value<'_>>) -> bool {
    Words::of(parts).have(wanted)
}
