//! The column `content`: a message as JSON inside a JSON string.

use chatmill_model::{Message, Part, Role, ToolCall, ToolResult};

use super::plan::Planner;
use crate::loss::{LossCode, reasons};
use crate::messages::text::{declared_document, stored_declared};
use crate::naming::people::UNNAMED;
use crate::text::control_tokens::{Reserved, escape};
use crate::text::json;
use crate::text::media::placeholder;
use crate::tools::arguments::as_text;
use crate::view::policy::MediaPolicy;

/// What contents may cost.
pub(super) const LOSES: &[LossCode] = &[
    LossCode::ToolIdRewritten,
    LossCode::ToolNameRewritten,
    LossCode::CacheMarkDropped,
    LossCode::MediaDropped,
    LossCode::MediaPlaceholder,
    LossCode::PartMoved,
    LossCode::ReservedTextEscaped,
    LossCode::NoticeDropped,
];

/// What a row says.
pub(super) enum Content<'a> {
    /// `{"role","content","tool_calls"}`.
    Said {
        role: &'static str,
        /// Whether there is no content rather than an empty one, where no text is left.
        is_null: bool,
        texts: Vec<TextBlock<'a>>,
        calls: Vec<Call<'a>>,
    },
    /// `{"role","tool_call_id","name","content"}`.
    Result {
        id: Option<&'a str>,
        name: Option<&'a str>,
        content: &'a str,
    },
    /// A status row that was an object or a list.
    Object(&'a str),
    /// A status row that was text.
    Text(&'a str),
}

/// A text of a message.
pub(super) struct TextBlock<'a> {
    pub(super) text: &'a str,
    pub(super) is_cached: bool,
}

/// A call of a message.
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
}

impl<'a> Planner<'_, 'a> {
    /// The content of a row that is no result's.
    pub(super) fn said(&mut self, message: &'a Message) -> Content<'a> {
        let mut calls = Vec::new();
        for (place, part) in message.parts.iter().enumerate() {
            if let Part::ToolCall(call) = part {
                calls.push(self.call(message, place, call));
            }
        }
        Content::Said {
            role: message.role.as_str(),
            is_null: message.texts().next().is_none(),
            texts: self.texts(message, !calls.is_empty()),
            calls,
        }
    }

    /// The content of a result's row.
    pub(super) fn result(
        &mut self,
        message: &'a Message,
        place: usize,
        result: &'a ToolResult,
    ) -> Content<'a> {
        let id = self.tools.of_result(message, place, result);
        if id.is_some_and(|id| result.call_id.as_ref().is_some_and(|own| own != id)) {
            self.losses
                .at(reasons::RESULT_BEARS_THE_CALLS_ID, message.position);
        }
        if matches!(message.parts.get(place + 1), Some(Part::CacheMark)) {
            self.losses.at(reasons::ROW_HAS_NO_BLOCK, message.position);
        }
        let name = result.name.as_deref();
        let name = name.or_else(|| self.tools.tool_of(message, place));
        Content::Result {
            id,
            name: name.filter(|name| !name.is_empty()),
            content: &result.content,
        }
    }

    /// The content of a status row: an object where it was one.
    pub(super) fn notice(&mut self, message: &'a Message) -> Content<'a> {
        let mut texts = message.parts.iter().filter_map(|part| match part {
            Part::Notice(text) | Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let first = texts.next().unwrap_or_default();
        let further = texts.count() as u64;
        self.losses
            .several(reasons::STATUS_ROW_HOLDS_ONE_TEXT, message.position, further);
        if first.starts_with(['{', '[']) && json::is_portable(first) {
            Content::Object(first)
        } else {
            Content::Text(first)
        }
    }

    fn call(&mut self, message: &'a Message, place: usize, call: &'a ToolCall) -> Call<'a> {
        let name = call.name.as_deref().filter(|name| !name.is_empty());
        if name.is_none() {
            self.losses.at(reasons::CALL_NAMES_NO_TOOL, message.position);
        }
        let id = self.tools.of_call(message, place);
        if call.id.as_deref().is_none_or(str::is_empty) && call.metadata_id.as_deref() == Some(id) {
            self.losses.at(reasons::METADATA_HOLD_THE_ID, message.position);
        }
        let arguments = as_text(call, message.position, &mut self.losses);
        Call {
            id,
            name: name.unwrap_or(UNNAMED),
            arguments: self.transcript.made().keep(arguments),
        }
    }

    /// The texts of a message, media by name.
    fn texts(&mut self, message: &'a Message, has_calls: bool) -> Vec<TextBlock<'a>> {
        let (view, position) = (self.transcript.view(), message.position);
        let made = self.transcript.made();
        let mut texts: Vec<TextBlock<'a>> = Vec::new();
        let mut is_behind_call = false;
        let mut is_behind_result = false;
        for (_, part) in message.own_parts() {
            let document = match part {
                Part::Media(media) => declared_document(media, position, &mut self.losses),
                _ => None,
            };
            let text = match part {
                Part::Text(text) => stored_declared(view, message, text, &mut self.losses),
                Part::Media(_) if document.is_some() => document.unwrap_or_default().into(),
                Part::Media(_) if view.policy.media == MediaPolicy::Drop => {
                    self.losses.at(reasons::POLICY_DROPS_MEDIA, position);
                    continue;
                }
                Part::Media(media) => {
                    self.losses.at(reasons::ROWS_NAME_MEDIA, position);
                    placeholder(media).into()
                }
                Part::CacheMark => {
                    match texts.last_mut() {
                        Some(last) if !is_behind_call && !is_behind_result => last.is_cached = true,
                        // The row of the result declares it.
                        _ if is_behind_result => {}
                        _ => {
                            self.losses.at(reasons::NO_TEXT_BEFORE_THE_MARK, position);
                        }
                    }
                    continue;
                }
                Part::ToolCall(_) | Part::ToolResult(_) => {
                    is_behind_call |= matches!(part, Part::ToolCall(_));
                    is_behind_result = matches!(part, Part::ToolResult(_));
                    continue;
                }
                Part::Reasoning(_) | Part::Notice(_) => continue,
            };
            is_behind_result = false;
            if text.is_empty() {
                continue;
            }
            let text = if has_calls || message.role != Role::Assistant {
                text
            } else {
                // Readers look for calls in the text of an agent where a row has none beside it.
                let (text, count) = escape(text, Reserved::Calls);
                self.losses.several(reasons::TEXT_LIKE_CALLS, position, count);
                text
            };
            if is_behind_call {
                self.losses.at(reasons::TEXT_BEFORE_CALLS_OF_THE_ROW, position);
            }
            texts.push(TextBlock {
                text: made.keep(text),
                is_cached: false,
            });
        }
        texts
    }
}
