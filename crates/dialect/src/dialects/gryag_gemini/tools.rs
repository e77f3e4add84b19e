//! Turns of tools: calls, responses, and synthetic responses. They have no `[meta]` line.

use chatmill_model::{ArgumentForm, Arguments, Message, Role, ToolCall};

use super::turn::{Turn, TurnPart, Turns, Wrapped};
use crate::loss::{LossCode, reasons};
use crate::messages::pairing::{Call, FoundResult};
use crate::messages::text::answered_in_words;
use crate::naming::participants::UNNAMED;
use crate::text::edit::change;
use crate::text::json;
use crate::tools::as_text::MISSING_RESULT;

impl<'a> Turns<'_, 'a> {
    /// Returns the turn with the calls of a message.
    pub(super) fn calls(&mut self, message: &'a Message, calls: &[Call<'a>]) -> Turn<'a> {
        let position = message.position;
        let ids = calls.iter().filter(|call| call.call.known_id().is_some()).count() as u64;
        self.losses
            .several(reasons::PAIRED_BY_PLACE_AND_NAME, position, ids);
        let parts = calls.iter().map(|Call { call, .. }| {
            if call.name.as_deref().is_none_or(str::is_empty) {
                self.losses.at(reasons::CALL_NAMES_NO_TOOL, position);
            }
            TurnPart::Call(name_of(call.name.as_deref()), self.arguments(call, position))
        });
        Turn {
            role: Role::Assistant,
            positions: vec![position],
            parts: parts.collect(),
        }
    }

    /// Returns the arguments as an object.
    fn arguments(&mut self, call: &'a ToolCall, position: u32) -> Wrapped<'a> {
        let json = |opening, raw| Wrapped {
            opening,
            text: self.transcript.arena().keep(json::compact(raw)),
            is_json: true,
        };
        match &call.arguments {
            Arguments::Object(raw) if json::is_portable(raw.as_str()) => {
                let was_text = u64::from(call.form == ArgumentForm::Text);
                self.losses
                    .several(reasons::ARGUMENTS_BECAME_AN_OBJECT, position, was_text);
                json("", raw.as_str())
            }
            Arguments::NotObject(raw) if json::is_portable(raw.as_str()) => {
                let reason = reasons::ARGUMENTS_ARE_AN_OBJECT;
                self.losses.at((LossCode::ArgsNotObject, reason), position);
                json("{\"data\":", raw.as_str())
            }
            other => {
                let reason = reasons::ARGUMENTS_ARE_AN_OBJECT;
                self.losses.at((LossCode::ArgsMalformed, reason), position);
                match other.source_text() {
                    text if text.trim().is_empty() => json("{", ""),
                    text => Wrapped {
                        opening: "{\"text\":",
                        text,
                        is_json: false,
                    },
                }
            }
        }
    }

    /// Returns the turn with the result of a call.
    pub(super) fn answer(&mut self, call: &'a ToolCall, answer: FoundResult<'a>) -> Turn<'a> {
        let name = name_of(call.name.as_deref());
        if answer.result.name.as_deref().is_some_and(|own| own != name) {
            let position = answer.message.position;
            self.losses.at(reasons::RESPONSE_BEARS_THE_CALLS_NAME, position);
        }
        self.result(Some(name), answer)
    }

    /// Returns the turn with a result under this tool name.
    pub(super) fn result(&mut self, name: Option<&'a str>, answer: FoundResult<'a>) -> Turn<'a> {
        let FoundResult { message, result, .. } = answer;
        let position = message.position;
        let view = self.transcript.view();
        self.unmarked(answer);
        let content = answered_in_words(view, answer, &mut self.losses);
        let is_portable = json::is_portable(&content);
        let is_object = is_portable && json::is_object(&content);
        let (opening, is_json) = match result.is_error {
            _ if is_object => ("", true),
            true => ("{\"error\":", false),
            false if is_portable => ("{\"data\":", true),
            false => ("{\"text\":", false),
        };
        if is_object && result.is_error {
            self.losses.at(reasons::NO_FAILURE_IN_AN_OBJECT, position);
        }
        let length = content.len();
        let written = if is_json {
            change(content, json::compact)
        } else {
            content
        };
        if !is_object || written.len() < length {
            let reason = if is_object {
                reasons::OBJECT_LOSES_WHITE_SPACE
            } else {
                reasons::RESPONSE_IS_AN_OBJECT
            };
            self.losses.at((LossCode::ResultWrapped, reason), position);
        }
        let response = Wrapped {
            opening,
            text: self.transcript.arena().keep(written),
            is_json,
        };
        Turn {
            role: Role::Tool,
            positions: vec![position],
            parts: vec![TurnPart::Response(name_of(name), response)],
        }
    }

    /// Returns the turn with a synthetic result.
    pub(super) fn missing_result(call: &'a ToolCall) -> Turn<'a> {
        let response = Wrapped {
            opening: "{\"error\":",
            text: MISSING_RESULT,
            is_json: false,
        };
        Turn {
            role: Role::Tool,
            positions: Vec::new(),
            parts: vec![TurnPart::Response(name_of(call.name.as_deref()), response)],
        }
    }
}

/// Returns the name of a tool, or the replacement for a missing name.
fn name_of(name: Option<&str>) -> &str {
    name.filter(|name| !name.is_empty()).unwrap_or(UNNAMED)
}
