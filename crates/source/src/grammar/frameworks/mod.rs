//! Messages of agent frameworks and SDKs, and the code that their grammars share: a list of parts, each with a type, files,
//! and results of calls.

pub(crate) mod ai_sdk;
pub(crate) mod langchain;
pub(crate) mod otel;

use std::collections::HashSet;

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part, Role, ToolResult};

use crate::base::{
    Keep as _, Site, Turn, UnknownFields, first_present, first_text, kind_of, media, present, roles, text,
};
use crate::grammar::{Grammar, IN_FRAMEWORKS};

/// Fields of a message that repeat its parts.
const COPIES: [&str; 2] = ["content", "reasoning"];

/// Reads a message with its parts in the list of this field. Frameworks pass parts of other vendors through unchanged. Unknown
/// fields of parts stay unread, and those of the message are retained.
pub(super) fn of_parts(
    grammar: &'static Grammar,
    value: Value<'_>,
    field: &str,
    site: &mut Site<'_>,
) -> Turn {
    // A system text may be the list itself.
    let list = if field.is_empty() {
        Some(value)
    } else {
        value.get(field)
    };
    let list = list.into_iter().flat_map(Value::items);
    let mut turn = begun(value);
    turn.name = text(value.get("name"));
    turn.unknown_fields = UnknownFields::Unread;
    for (index, part) in list.enumerate() {
        let path = format!("{field}[{index}]");
        if let Some(words) = text(Some(part)) {
            turn.parts.push(Part::Text(words));
            continue;
        }
        let mut grammars = std::iter::once(grammar).chain(IN_FRAMEWORKS);
        if !grammars.any(|grammar| grammar.block(&mut turn, &path, part, site)) {
            turn.unknown(&path, part, site);
        }
    }
    turn.unknown_fields = UnknownFields::Retained;
    if turn.parts.iter().any(|part| matches!(part, Part::ToolCall(_))) {
        turn.role = turn.role.or(Some(Role::Assistant));
    }
    ai_sdk::beside(&mut turn, value, site);
    turn.end_steps();
    let known = [&ai_sdk::KNOWN[..], &["name", field]].concat();
    turn.keep_rest(value, "", &known);
    if field == "parts" {
        let copies = COPIES.map(|key| contain_text(&turn.parts, value.get(key)).then_some(key));
        turn.rest.retain(|(key, _)| !copies.contains(&Some(key)));
    }
    turn
}

/// A message with the speaker of its `role`, and its `id`.
fn begun(value: Value<'_>) -> Turn {
    let word = text(value.get("role"));
    Turn {
        role: word.as_deref().and_then(roles::known_role),
        id: text(value.get("id")),
        ..Turn::default()
    }
}

/// Adds the result of a call; the three lists are the possible field names of the call's id, its name and the result.
fn answered(
    turn: &mut Turn,
    path: &str,
    answer: Value<'_>,
    [id, name, result]: [&[&str]; 3],
    site: &mut Site<'_>,
) {
    let result = first_present(answer, result);
    // The AI SDK names the kind of a result: {"type": "text", "value": …}.
    let kind = result.and_then(|result| text(result.get("type")));
    let inner = result.filter(|_| kind.is_some());
    let inner = inner.and_then(|result| present(result, "value"));
    let is_denied = kind.as_deref() == Some("execution-denied");
    let content = match (kind.as_deref(), inner) {
        (Some("content"), Some(list)) if list.kind() == Kind::Array => {
            shown(turn, list, &format!("{path}.output.value"), site)
        }
        (Some("execution-denied"), _) => {
            let reason = result.and_then(|result| text(result.get("reason")));
            (reason.unwrap_or_default().into(), Vec::new())
        }
        _ => (
            inner
                .or(result)
                .map(media::ResultText::of_value)
                .unwrap_or_default(),
            Vec::new(),
        ),
    };
    let is_true = |key: &&str| answer.get(key).and_then(Value::as_bool) == Some(true);
    let is_error = ["isError", "is_error"].iter().any(is_true);
    let own = ToolResult {
        call_id: text(first_present(answer, id)),
        name: text(first_present(answer, name)),
        is_error: is_error || is_denied || kind.is_some_and(|kind| kind.starts_with("error-")),
        ..ToolResult::default()
    };
    turn.parts.extend(media::result_of(own, content));
}

/// Reads the texts and files of a result.
fn shown(
    turn: &mut Turn,
    list: Value<'_>,
    path: &str,
    site: &mut Site<'_>,
) -> (media::ResultText, Vec<Part>) {
    let mut inner = turn.inside();
    for (index, part) in list.items().enumerate() {
        let path = format!("{path}[{index}]");
        if let Some(words) = text(part.get("text")) {
            inner.parts.push(Part::Text(words));
        } else if !media(&mut inner, &path, part, site) {
            inner.unknown(&path, part, site);
        }
    }
    turn.rest.extend(inner.rest);
    media::divided(inner.parts)
}

/// Reads a file: its address, its bytes, or the id or name of an upload; `false` if it has none of them.
fn media(turn: &mut Turn, _: &str, part: Value<'_>, _: &mut Site<'_>) -> bool {
    let field = |keys: &[&str]| first_text(part, keys);
    let media_type = field(&["mime_type", "mimeType", "mediaType", "contentType"]);
    let modality = match field(&["modality"]).as_deref() {
        Some("image") => Some(MediaKind::Image),
        Some("audio") => Some(MediaKind::Audio),
        Some("video") => Some(MediaKind::Video),
        _ => None,
    };
    let by_type = || match field(&["type"]).as_deref() {
        Some("audio") => MediaKind::Audio,
        Some("video") => MediaKind::Video,
        Some(word) if word.starts_with("image") => MediaKind::Image,
        _ => MediaKind::File,
    };
    let known = modality.or_else(|| kind_of(media_type.as_deref()));
    let kind = known.unwrap_or_else(by_type);
    let of_image = |is_address: bool| field(&["image"]).filter(|image| image.contains(':') == is_address);
    let bytes = field(&["content", "data", "base64"]).or_else(|| of_image(false));
    let address = || of_image(true).filter(|_| bytes.is_none());
    if let Some(url) = field(&["uri", "url"]).or_else(address) {
        let media = media::located(kind, url, field(&["filename", "name"]));
        turn.parts.push(Part::Media(media));
        return true;
    }
    let (source, name) = match bytes {
        Some(bytes) => (MediaSource::Inline(bytes), field(&["filename"])),
        None => (MediaSource::Upload, field(&["file_id", "fileId", "filename"])),
    };
    if source == MediaSource::Upload && name.is_none() {
        return false;
    }
    turn.parts.push(Part::Media(Media {
        kind,
        source,
        media_type,
        name,
    }));
    true
}

/// The texts of parts: each of them, and all joined.
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

    /// Whether the texts contain this one. A contained text is marked as read.
    pub(crate) fn have(&self, wanted: Option<Value<'_>>) -> bool {
        let has_text =
            |wanted: &str| wanted.is_empty() || self.texts.contains(wanted) || self.whole == wanted;
        wanted.is_some_and(|value| {
            value.string().is_some_and(|wanted| has_text(&wanted)) && value.as_str().is_some()
        })
    }
}

/// Whether parts contain a text.
pub(crate) fn contain_text(parts: &[Part], wanted: Option<Value<'_>>) -> bool {
    Words::of(parts).have(wanted)
}
