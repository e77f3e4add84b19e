//! Texts and files that a record has once, by their ids, and that its messages refer to: each reference is replaced by what it refers to.

use chatmill_intake::json::Value;
use chatmill_model::{Arguments, Media, MediaSource, Message, Part};

use crate::base::media::located;
use crate::format::language::budget::Budget;

/// The beginning of a reference; an id of letters and digits follows.
const SIGN: &str = "attachment://";

/// Replaces the references in messages by the attachments, an object by their ids. References to unknown ids are unchanged.
pub(super) fn resolve(messages: &mut [Message], attachments: Value<'_>, budget: &Budget) {
    let all = Attachments {
        by_id: attachments,
        budget,
    };
    let parts = messages.iter_mut().flat_map(|message| &mut message.parts);
    for part in parts {
        match part {
            Part::Text(text) | Part::Reasoning(text) => all.put(text, false),
            Part::ToolResult(result) => all.put(&mut result.content, false),
            Part::ToolCall(call) => match &mut call.arguments {
                Arguments::Object(raw) | Arguments::NotObject(raw) => all.put(&mut raw.0, true),
                Arguments::Malformed(text) => all.put(text, false),
            },
            Part::Media(media) => all.locate(media),
            Part::Notice(_) | Part::CacheMark | Part::Item(_) => {}
        }
    }
}

struct Attachments<'d, 'b> {
    by_id: Value<'d>,
    budget: &'b Budget,
}

impl Attachments<'_, '_> {
    /// The attachment with an id, as a text or as the inside of a JSON string.
    fn find(&self, id: &str, is_json: bool) -> Option<String> {
        let value = self.by_id.get(id)?;
        let text = value.as_str()?.into_owned();
        let text = match value
            .written()
            .strip_prefix('"')
            .and_then(|raw| raw.strip_suffix('"'))
        {
            Some(raw) if is_json => raw.to_owned(),
            _ => text,
        };
        self.budget.take(text.len()).then_some(text)
    }

    fn put(&self, text: &mut String, is_json: bool) {
        if !text.contains(SIGN) {
            return;
        }
        let mut pieces = text.split(SIGN);
        let mut whole = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let end = piece.find(|sign: char| !sign.is_ascii_alphanumeric());
            let (id, rest) = piece.split_at(end.unwrap_or(piece.len()));
            if let Some(attachment) = self.find(id, is_json) {
                whole.push_str(&attachment);
            } else {
                whole.push_str(SIGN);
                whole.push_str(id);
            }
            whole.push_str(rest);
        }
        *text = whole;
    }

    fn locate(&self, media: &mut Media) {
        let MediaSource::Url(url) = &media.source else {
            return;
        };
        let content = url.strip_prefix(SIGN).and_then(|id| self.find(id, false));
        if let Some(content) = content {
            let found = located(media.kind, content, media.name.take());
            let media_type = media.media_type.take();
            *media = Media {
                media_type: media_type.or(found.media_type.clone()),
                ..found
            };
        }
    }
}
