//! `referencedMessage`: the message that a request replies to, as a reference with a preview.
//!
//! Only the names of speakers are known, so that the name is the id. A bot's id is its `personalityName`; a bot without
//! one has only a name for display. Absent content stays absent: it is not the same as an empty text.

use std::collections::HashSet;

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Preview, RawJson, Reference, ReferenceForm};

use super::speakers::Speakers;
use crate::base::{Site, Times, compact, fields, filled};

fn text(quoted: Value<'_>, key: &str) -> Option<String> {
    filled(quoted.get(key))
}

fn is_from_bot(quoted: Value<'_>) -> bool {
    quoted.get("isFromBot").and_then(Value::as_bool).unwrap_or(false)
}

/// The person who wrote the quoted message, if it was a person.
pub(super) fn author(quoted: Value<'_>) -> Option<String> {
    if is_from_bot(quoted) {
        None
    } else {
        text(quoted, "author")
    }
}

/// The display name that the quoted message gives to this personality; `None` if its author is another.
pub(super) fn display_name_of(quoted: Value<'_>, personality: &str) -> Option<String> {
    let is_same = is_from_bot(quoted) && text(quoted, "personalityName").as_deref() == Some(personality);
    is_same.then(|| display_name(quoted))?
}

fn display_name(quoted: Value<'_>) -> Option<String> {
    text(quoted, "displayName").or_else(|| text(quoted, "personalityDisplayName"))
}

/// Reads the quoted message; `ids` are those of the frame's messages.
///
/// A reference with an empty quote names its target only if the target is in the frame; the preview shows that the message
/// was quoted in any case.
pub(super) fn reference(
    quoted: Value<'_>,
    speakers: &Speakers,
    ids: &HashSet<String>,
    times: &mut Times,
    site: &mut Site<'_>,
) -> Option<Reference> {
    if quoted.kind() != Kind::Object {
        let text = "referencedMessage is not an object and is left out";
        site.error("referencedMessage", text, quoted);
        return None;
    }
    let from_agent = is_from_bot(quoted);
    let author = text(quoted, "author");
    let (sender, sender_name) = if from_agent {
        let id = text(quoted, "personalityName");
        let other = || text(quoted, "webhookName").or(author);
        let name = display_name(quoted);
        (id.clone(), name.or_else(|| other().filter(|_| id.is_none())))
    } else {
        (author.as_deref().map(|author| speakers.id(author)), author)
    };
    let content = content(quoted, site);
    let timestamp = times.read(quoted.get("timestamp"), "referencedMessage.timestamp", site);
    let is_quoted = content.as_deref().is_some_and(|content| !content.is_empty());
    let target = quoted.get("messageId").and_then(fields::id);
    Some(Reference {
        target: target.filter(|target| is_quoted || ids.contains(target)),
        preview: Some(Preview {
            content,
            sender,
            sender_name,
            from_agent,
            timestamp,
            ..Preview::default()
        }),
        form: ReferenceForm::Object(RawJson(compact(quoted))),
        ..Reference::default()
    })
}

/// The quoted text. A media item in a separate field (since 2025-05-24) gets a marker like the others.
fn content(quoted: Value<'_>, site: &mut Site<'_>) -> Option<String> {
    let quoted_text = words(quoted, site);
    let own = [("audioUrl", "Audio"), ("imageUrl", "Image")];
    let mut markers = own
        .into_iter()
        .filter_map(|(key, word)| Some((text(quoted, key)?, word)));
    let Some((url, word)) = markers.next() else {
        return quoted_text;
    };
    let mut quoted_text = quoted_text.unwrap_or_default();
    let marker = format!("[{word}: {url}]");
    // A marker of another kind, for an embedded picture, is not a media item.
    if !quoted_text.contains(&marker) {
        if !quoted_text.is_empty() {
            quoted_text.push('\n');
        }
        quoted_text.push_str(&marker);
    }
    Some(quoted_text)
}

fn words(quoted: Value<'_>, site: &mut Site<'_>) -> Option<String> {
    let value = quoted.get("content").filter(|value| !value.is_null())?;
    if let Some(text) = value.as_str() {
        return Some(text.into_owned());
    }
    let text = "the quoted content is not a string: its texts are read";
    site.warn("referencedMessage.content", text, value);
    let texts = value.items().filter_map(|part| fields::text(part.get("text")));
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
