//! The column `content`: a message as JSON inside a JSON string.

use std::borrow::Cow;

use chatmill_model::{Component, Level, Message, Part, Role, ToolCall, ToolResult};

use super::Writer;
use crate::arguments::as_text;
use crate::controls::{Reserved, escape};
use crate::loss::{LossCode, reasons};
use crate::media::placeholder;
use crate::message_text::stored_declared;
use crate::names::UNNAMED;
use crate::policy::MediaPolicy;

/// A text of a message.
struct Block<'a> {
    text: Cow<'a, str>,
    is_cached: bool,
}

impl<'a> Writer<'_, 'a> {
    /// `{"role","content","tool_calls"}`.
    pub(super) fn said(&mut self, message: &'a Message) {
        let blocks = self.blocks(message);
        self.sink.framing("\"");
        self.inner("{\"role\":\"");
        self.inner(message.role.as_str());
        self.inner("\",\"content\":");
        match blocks.as_slice() {
            [] if message.texts().next().is_none() => self.inner("null"),
            [] => self.inner("\"\""),
            [only] if !only.is_cached => {
                self.inner("\"");
                self.sink
                    .content(only.text.clone(), Level::JsonInJsonString, Component::Content);
                self.inner("\"");
            }
            _ => self.list(blocks),
        }
        let mut separator = ",\"tool_calls\":[";
        for (place, part) in message.parts.iter().enumerate() {
            if let Part::ToolCall(call) = part {
                self.inner(separator);
                separator = ",";
                self.call(message, place, call);
            }
        }
        if separator == "," {
            self.inner("]");
        }
        self.inner("}");
        self.sink.framing("\"");
    }

    /// `{"role","tool_call_id","name","content"}`.
    pub(super) fn result(&mut self, message: &'a Message, place: usize, result: &'a ToolResult) {
        self.sink.framing("\"");
        self.inner("{\"role\":\"tool\"");
        if let Some(id) = self.tools.of_result(message, place, result) {
            if result.call_id.as_ref().is_some_and(|own| *own != id) {
                self.losses.at(
                    LossCode::ToolIdRewritten,
                    message.position,
                    reasons::RESULT_BEARS_THE_CALLS_ID,
                );
            }
            self.inner(",\"tool_call_id\":\"");
            self.sink.content(id, Level::JsonInJsonString, Component::Meta);
            self.inner("\"");
        }
        let name = result
            .name
            .as_deref()
            .or_else(|| self.tools.tool_of(message, place));
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.inner(",\"name\":\"");
            self.sink.content(name, Level::JsonInJsonString, Component::Tools);
            self.inner("\"");
        }
        self.inner(",\"content\":\"");
        self.sink
            .content(&result.content, Level::JsonInJsonString, Component::Tools);
        self.inner("\"}");
        self.sink.framing("\"");
        let next = message.parts.get(place + 1);
        if matches!(next, Some(Part::CacheMark)) {
            self.losses.at(
                LossCode::CacheMarkDropped,
                message.position,
                reasons::ROW_HAS_NO_BLOCK,
            );
        }
    }

    fn call(&mut self, message: &'a Message, place: usize, call: &'a ToolCall) {
        let name = call.name.as_deref().filter(|name| !name.is_empty());
        if name.is_none() {
            self.losses.at(
                LossCode::ToolNameRewritten,
                message.position,
                reasons::CALL_NAMES_NO_TOOL,
            );
        }
        self.inner("{\"id\":\"");
        let id = self.tools.of_call(message, place);
        let is_stored =
            call.id.as_deref().is_none_or(str::is_empty) && call.metadata_id.as_deref() == Some(&*id);
        self.losses.several(
            LossCode::ToolIdRewritten,
            message.position,
            u64::from(is_stored),
            reasons::METADATA_HOLD_THE_ID,
        );
        self.sink.content(id, Level::JsonInJsonString, Component::Meta);
        self.inner("\",\"type\":\"function\",\"function\":{\"name\":\"");
        self.sink
            .content(name.unwrap_or(UNNAMED), Level::JsonInJsonString, Component::Tools);
        self.inner("\",\"arguments\":\"");
        let arguments = as_text(call, message.position, &mut self.losses);
        self.sink
            .content(arguments, Level::JsonInJsonString, Component::Tools);
        self.inner("\"}}");
    }

    fn list(&mut self, blocks: Vec<Block<'a>>) {
        let mut separator = "[";
        for block in blocks {
            self.inner(separator);
            separator = ",";
            self.inner("{\"type\":\"text\",\"text\":\"");
            self.sink
                .content(block.text, Level::JsonInJsonString, Component::Content);
            self.inner(if block.is_cached {
                "\",\"cache_control\":{\"type\":\"ephemeral\"}}"
            } else {
                "\"}"
            });
        }
        self.inner("]");
    }

    fn blocks(&mut self, message: &'a Message) -> Vec<Block<'a>> {
        let position = message.position;
        let mut blocks: Vec<Block<'a>> = Vec::new();
        let mut is_behind_call = false;
        let mut is_behind_result = false;
        let has_calls = message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        for part in &message.parts {
            let text = match part {
                Part::Text(text) => stored_declared(self.view, message, text, &mut self.losses),
                Part::Media(_) if self.view.policy.media == MediaPolicy::Drop => {
                    self.losses
                        .at(LossCode::MediaDropped, position, reasons::POLICY_DROPS_MEDIA);
                    continue;
                }
                Part::Media(media) => {
                    self.losses
                        .at(LossCode::MediaPlaceholder, position, reasons::ROWS_NAME_MEDIA);
                    Cow::Owned(placeholder(media))
                }
                Part::CacheMark => {
                    match blocks.last_mut() {
                        Some(last) if !is_behind_call && !is_behind_result => last.is_cached = true,
                        // The row of the result declares it.
                        _ if is_behind_result => {}
                        _ => self.losses.at(
                            LossCode::CacheMarkDropped,
                            position,
                            reasons::NO_TEXT_BEFORE_THE_MARK,
                        ),
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
            let text = if has_calls {
                text
            } else {
                self.without_calls(message, text)
            };
            if is_behind_call {
                self.losses.at(
                    LossCode::PartMoved,
                    position,
                    reasons::TEXT_BEFORE_CALLS_OF_THE_ROW,
                );
            }
            blocks.push(Block {
                text,
                is_cached: false,
            });
        }
        blocks
    }

    /// Text of an agent that spells calls as XML: readers look for these where a row has no calls beside its text.
    fn without_calls(&mut self, message: &Message, text: Cow<'a, str>) -> Cow<'a, str> {
        if message.role != Role::Assistant {
            return text;
        }
        let (text, count) = escape(text, Reserved::Calls);
        self.losses.several(
            LossCode::ReservedTextEscaped,
            message.position,
            count,
            reasons::TEXT_LIKE_CALLS,
        );
        text
    }

    /// Framing inside the string.
    fn inner(&mut self, text: &'static str) {
        self.sink.content(text, Level::JsonString, Component::Framing);
    }
}
