//! Fields of messages that the format does not know, and our own in `extra`: addresses and names of media, tools.

use std::borrow::Cow;

use chatmill_model::{ArgumentForm, Arguments, Message, RawJson, Role, ToolCall};

use super::pieces::{ADDRESSES, Pieces, holds_address};
use super::plan::Planner;
use crate::loss::{LossCode, reasons};
use crate::tools::arguments::as_text;

/// What further fields may cost.
pub(super) const LOSES: &[LossCode] = &[
    LossCode::ExtraDropped,
    LossCode::MentionDropped,
    LossCode::ToolIdRewritten,
];

/// Fields of the source.
type Fields<'a> = Vec<(&'a str, &'a RawJson)>;

/// The object `extra`.
pub(super) struct Extension<'a> {
    /// Fields that the source had there.
    pub(super) inside: Fields<'a>,
    pub(super) url: Option<&'a str>,
    pub(super) file_name: Option<&'a str>,
    pub(super) file_type: Option<&'a str>,
    pub(super) is_system_text: bool,
    pub(super) calls: Vec<Call<'a>>,
    pub(super) call_id: Option<&'a str>,
    pub(super) name: Option<&'a str>,
}

/// A call as OpenAI writes it.
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) arguments: CallArguments<'a>,
}

/// Arguments: text, unless a group chat had them as JSON.
pub(super) enum CallArguments<'a> {
    Text(Cow<'a, str>),
    Json(&'a str),
}

impl<'a> Planner<'_, 'a> {
    /// Fields beside `extra`, and `extra` where there is anything to put in.
    pub(super) fn further(
        &mut self,
        message: &'a Message,
        pieces: &Pieces<'a>,
    ) -> (Fields<'a>, Option<Extension<'a>>) {
        let position = message.position;
        let (mut beside, mut inside) = (Vec::new(), Vec::new());
        for (key, value) in &message.extra.0 {
            if !self.is_native && is_taken(key, pieces) {
                self.losses.at(reasons::FIELD_LIKE_THE_FORMATS_OWN, position);
                continue;
            }
            match key.strip_prefix('/') {
                Some(outside) => beside.push((outside, value)),
                None => inside.push((key.as_str(), value)),
            }
        }
        let mentions = message.mentions.len() as u64;
        self.losses
            .several(reasons::FORMAT_HAS_NO_MENTIONS, position, mentions);
        let lacks = |key: &str| message.extra.get(key).is_none();
        let medium = pieces.medium;
        let is_written = |url: &&str| !pieces.content_is_address(message) && !holds_address(message, url);
        let mut extension = Extension {
            inside,
            url: pieces.address().filter(is_written),
            file_name: medium
                .and_then(|media| media.name.as_deref())
                .filter(|_| lacks("file_name")),
            file_type: medium
                .and_then(|media| media.media_type.as_deref())
                .filter(|_| lacks("file_type")),
            is_system_text: pieces.is_system_text(),
            calls: Vec::new(),
            call_id: self.call_id(message, pieces),
            name: pieces.result.and_then(|(_, result)| result.name.as_deref()),
        };
        let has_whole_extra = beside.iter().any(|(key, _)| *key == "extra");
        if has_whole_extra || extension.is_empty() && pieces.calls.is_empty() {
            return (beside, None);
        }
        let calls = pieces.calls.iter();
        extension.calls = calls
            .map(|(index, call)| self.call(message, *index, call))
            .collect();
        (beside, Some(extension))
    }

    /// The id of the call that a message answers. One that answers none names a call that nobody made: without a name it would
    /// be taken for the next call's.
    fn call_id(&mut self, message: &'a Message, pieces: &Pieces<'a>) -> Option<&'a str> {
        let (index, result) = pieces.result?;
        let id = self.tools.of_result(message, index, result);
        let id = id.unwrap_or_else(|| self.tools.unused());
        if result.known_id() != Some(id) {
            self.losses
                .at(reasons::RESULT_BEARS_THE_CALLS_ID, message.position);
        }
        Some(id)
    }

    fn call(&mut self, message: &'a Message, index: usize, call: &'a ToolCall) -> Call<'a> {
        Call {
            id: self.tools.of_call(message, index),
            name: call.name.as_deref(),
            arguments: match (&call.arguments, call.form) {
                (Arguments::Object(raw) | Arguments::NotObject(raw), ArgumentForm::Embedded)
                    if self.is_native =>
                {
                    CallArguments::Json(raw.as_str())
                }
                _ => CallArguments::Text(as_text(call, message.position, &mut self.losses)),
            },
        }
    }
}

impl Extension<'_> {
    /// Whether nothing but calls could stand in it.
    fn is_empty(&self) -> bool {
        let texts = [self.url, self.file_name, self.file_type, self.call_id, self.name];
        self.inside.is_empty() && !self.is_system_text && texts.iter().all(Option::is_none)
    }
}

/// Whether a field of another system has a name that means something else here: a field beside `extra`, of a tool, or of a
/// medium.
fn is_taken(key: &str, pieces: &Pieces<'_>) -> bool {
    match key {
        "tool_calls" => pieces.role == Role::Assistant,
        "tool_call_id" | "name" => pieces.role == Role::Tool,
        "role" => pieces.is_system_text(),
        "file_name" | "file_type" => pieces.medium.is_some(),
        _ => key.starts_with('/') || pieces.medium.is_some() && ADDRESSES.contains(&key),
    }
}
