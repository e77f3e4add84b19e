//! Whether an element that was read back is equal to the element of the conversation, unchanged or changed as a loss declares.

use chatmill_dialect::LossCode;
use chatmill_model::{
    ArgumentForm, Arguments, Media, MediaSource, Message, Part, PartPlace, Role, ToolCall, ToolResult,
};
use serde_json::Value;

use super::elements::{Element, Kind};
use super::search::Search;

impl Search<'_, '_> {
    /// Whether the element that was read back is equal, for kinds that are not read as part of a longer text.
    pub(super) fn is(&self, element: &Element<'_>, read: &Element<'_>) -> bool {
        let has = |code| self.declared.at(code, element.position()) > 0;
        match (&element.kind, &read.kind) {
            (Kind::Media(one), Kind::Media(other)) => {
                let loses = has(LossCode::MediaDescriptionDropped);
                let loses_bytes = has(LossCode::MediaDropped);
                is_medium(one, other, loses, loses_bytes)
            }
            (Kind::Call(one), Kind::Call(other)) => self.is_call(element.position(), one, other),
            // A mark on a result stays on it, even if the result becomes text.
            (Kind::CacheMark, Kind::CacheMark) => {
                let is_text = has(LossCode::RoleMapped) || has(LossCode::OrphanResultInlined);
                element.belongs_to_result == read.belongs_to_result || element.belongs_to_result && is_text
            }
            (Kind::Nothing, Kind::Nothing) => true,
            (Kind::Result(one), Kind::Result(other)) => {
                one.content.is_empty() && self.is_answer(element, one, read, other)
            }
            _ => false,
        }
    }

    /// Whether a call that was read back is the call of the message at a position: its id, name and arguments, or what
    /// a declared loss changes them to.
    pub(super) fn is_call(&self, position: u32, one: &ToolCall, other: &ToolCall) -> bool {
        let has = |code| self.declared.at(code, position) > 0;
        let name = |call: &ToolCall| call.name.clone().filter(|name| !name.is_empty());
        let is_id = has(LossCode::ToolIdRewritten)
            || has(LossCode::ToolIdDropped) && other.known_id().is_none()
            || one.known_id() == other.known_id();
        let is_name = has(LossCode::ToolNameRewritten) || name(one) == name(other);
        let (asked, answered) = (one.arguments.source_text(), other.arguments.source_text());
        let is_equal = compact(asked) == compact(answered);
        let is_wrapped = wrapped_value(answered).is_some_and(|value| match value {
            Value::String(text) => text == asked,
            _ => false,
        });
        // The specification states that a tool takes free text; if calls are text, the text itself shows it.
        let is_form = match one.form {
            _ if self.case.is_text => true,
            ArgumentForm::FreeText => other.form != ArgumentForm::Embedded,
            form => form == other.form,
        };
        let is_asked = is_equal && (is_form || has(LossCode::ArgsReserialised))
            || has(LossCode::ArgsNotObject)
                && matches!(one.arguments, Arguments::NotObject(_))
                && compact(answered).ends_with(&format!(":{}}}", compact(asked)))
            || has(LossCode::ArgsMalformed) && (is_wrapped || asked.trim().is_empty() && answered == "{}");
        is_id && is_name && is_asked
    }

    /// Whether a result that was read back answers the same call, has the same error state, and the same id and name.
    /// Its text is compared elsewhere.
    pub(super) fn is_answer(
        &self,
        element: &Element<'_>,
        one: &ToolResult,
        read: &Element<'_>,
        other: &ToolResult,
    ) -> bool {
        let has = |code| self.declared.at(code, element.position()) > 0;
        let is_error = one.is_error == other.is_error
            || has(LossCode::ErrorFlagDropped) && !other.is_error
            || has(LossCode::ResultWrapped) && wrapped_value(&other.content).is_some() == other.is_error;
        let is_loose = element.call.is_none();
        let is_id = !is_loose
            || one.known_id() == other.known_id()
            || has(LossCode::ToolIdRewritten)
            || has(LossCode::ToolIdDropped);
        let is_name = match (&one.name, &other.name) {
            (Some(one), Some(other)) => one == other || !is_loose,
            (Some(_), None) => !is_loose,
            _ => true,
        };
        // A page for people does not show which call a result answers, only the order.
        (self.case.is_text || self.answers_the_same(element, read))
            && is_error
            && is_id
            && (is_name || has(LossCode::ToolNameRewritten))
    }

    /// Whether an element may have been read back in a role.
    pub(super) fn is_read_as(
        &self,
        element: &Element<'_>,
        read: &Element<'_>,
        role: Role,
        is_worded: bool,
    ) -> bool {
        let has_no_role = element.kind == Kind::CacheMark
            || matches!(element.kind, Kind::Quote(_))
            || matches!(element.kind, Kind::Result(_)) && !matches!(read.kind, Kind::Text(_))
            // A medium of an answer belongs to the tool, whatever the role of the message that contains it.
            || matches!(element.kind, Kind::Media(_)) && (element.belongs_to_result || matches!(read.kind, Kind::Result(_)));
        // In a transcript that no source reads, text without a speaker has no role.
        has_no_role || self.case.is_text || self.case.is_role(element, role, is_worded)
    }

    /// Whether the message that was read back has no id, or the id of the element's message.
    pub(super) fn is_id(&self, element: &Element<'_>, read: &Element<'_>) -> bool {
        let Some(id) = &read.message.id else { return true };
        let own = element.message.id.as_ref();
        let is_own = own.is_some_and(|own| own == id || id.starts_with(&format!("{own}/")));
        is_own
            || self
                .declared
                .at(LossCode::MessageIdSynthesised, element.position())
                > 0
            || self.declared.anywhere(LossCode::TurnMerged)
    }

    /// Whether two results answer the same call, or neither answers a call.
    pub(super) fn answers_the_same(&self, element: &Element<'_>, read: &Element<'_>) -> bool {
        let called =
            |place: PartPlace, message: Option<&Message>| match message?.parts.get(place.part as usize) {
                Some(Part::ToolCall(call)) => Some(call.clone()),
                _ => None,
            };
        let call = element
            .call
            .and_then(|place| called(place, self.case.view.message(place.position)));
        let other = read.call.and_then(|place| {
            let message = self
                .read
                .iter()
                .find(|element| element.position() == place.position);
            called(place, message.map(|element| element.message))
        });
        match (call, other) {
            (Some(call), Some(other)) => element
                .call
                .is_some_and(|place| self.is_call(place.position, &call, &other)),
            (Some(_), None) => element.call.is_some_and(|place| {
                self.declared
                    .any_at(&[LossCode::ToolCallDropped, LossCode::RoleMapped], place.position)
                    > 0
            }),
            (None, Some(other)) => self.is_answered_elsewhere(&other),
            (None, None) => true,
        }
    }

    /// Whether a call lost its answer, so that a reader pairs it with the next result of the same id.
    fn is_answered_elsewhere(&self, call: &ToolCall) -> bool {
        self.source.iter().any(|element| {
            matches!(&element.kind, Kind::Result(result) if element.call.is_some() && result.known_id() == call.known_id())
                && self.declared.any_at(&element.dropped_by(), element.position()) > 0
        })
    }
}

/// Whether two media are the same, except for what a declared loss removes.
fn is_medium(one: &Media, other: &Media, loses: bool, loses_bytes: bool) -> bool {
    let is_nowhere = |media: &Media| match &media.source {
        MediaSource::Url(url) => url.is_empty(),
        MediaSource::Upload => true,
        MediaSource::Inline(_) => loses_bytes,
        MediaSource::Text(_) => false,
    };
    let is_source = one.source == other.source || is_nowhere(one) && is_nowhere(other);
    is_source
        && (loses || (&one.kind, &one.name, &one.media_type) == (&other.kind, &other.name, &other.media_type))
}

/// JSON without white space between its values; text that is not JSON is returned unchanged.
pub(super) fn compact(text: &str) -> String {
    let mut compact = String::new();
    chatmill_model::json::push_compact(&mut compact, text);
    compact
}

/// The value in an object with a single field.
pub(super) fn wrapped_value(object: &str) -> Option<Value> {
    let Ok(Value::Object(fields)) = serde_json::from_str(object) else {
        return None;
    };
    let mut values = fields.into_iter();
    values
        .next()
        .map(|(_, value)| value)
        .filter(|_| values.next().is_none())
}

/// Whether an object has a content as its only value, or is the content itself in compact JSON.
pub(super) fn is_wrapped(object: &str, content: &str) -> bool {
    let is_value = matches!(wrapped_value(object), Some(Value::String(text)) if text == content);
    let compact = compact(content);
    is_value || object == compact || object.ends_with(&format!(":{compact}}}"))
}
