//! Turns of tools: calls, responses, and responses that are made up. None of them carries a `[meta]` line.

use std::borrow::Cow;

use chatmill_model::{ArgumentForm, Arguments, Component, Message, Speaker, ToolCall, ToolResult};

use super::Writer;
use crate::json;
use crate::loss::{LossCode, reasons};
use crate::message_text::answered;
use crate::names::UNNAMED;
use crate::steps::Call;
use crate::text::change;
use crate::tools::MISSING_RESULT;

impl<'a> Writer<'_, 'a> {
    pub(super) fn calls(&mut self, message: &'a Message, calls: &[Call<'a>]) {
        self.open("{\"role\":\"model\",\"parts\":[");
        self.sink.speak(Speaker::Perspective);
        for (index, call) in calls.iter().enumerate() {
            if index > 0 {
                self.sink.framing(",");
            }
            self.declare_name(call.call, message.position);
            self.sink.framing("{\"function_call\":{\"name\":");
            self.sink
                .json_string(name_of(call.call.name.as_deref()), Component::Tools);
            self.sink.framing(",\"args\":");
            self.arguments(call.call, message.position);
            self.sink.framing("}}");
        }
        let ids = calls.iter().filter(|call| call.call.known_id().is_some()).count() as u64;
        self.losses.several(
            LossCode::ToolIdDropped,
            message.position,
            ids,
            reasons::PAIRED_BY_PLACE_AND_NAME,
        );
        self.close();
        self.progress.said(message.position, "assistant");
    }

    fn declare_name(&mut self, call: &ToolCall, position: u32) {
        if call.name.as_deref().is_none_or(str::is_empty) {
            self.losses
                .at(LossCode::ToolNameRewritten, position, reasons::CALL_NAMES_NO_TOOL);
        }
    }

    /// The arguments as an object.
    fn arguments(&mut self, call: &'a ToolCall, position: u32) {
        match &call.arguments {
            Arguments::Object(raw) if json::is_portable(raw.as_str()) => {
                self.losses.several(
                    LossCode::ArgsReserialised,
                    position,
                    u64::from(call.form == ArgumentForm::Text),
                    reasons::ARGUMENTS_BECAME_AN_OBJECT,
                );
                self.sink.raw_json(raw.as_str(), Component::Tools);
            }
            Arguments::NotObject(raw) if json::is_portable(raw.as_str()) => {
                self.losses.at(
                    LossCode::ArgsNotObject,
                    position,
                    reasons::ARGUMENTS_ARE_AN_OBJECT,
                );
                self.sink.framing("{\"data\":");
                self.sink.raw_json(raw.as_str(), Component::Tools);
                self.sink.framing("}");
            }
            other => {
                let text = other.source_text();
                self.losses.at(
                    LossCode::ArgsMalformed,
                    position,
                    reasons::ARGUMENTS_ARE_AN_OBJECT,
                );
                if text.trim().is_empty() {
                    self.sink.framing("{}");
                } else {
                    self.sink.framing("{\"text\":");
                    self.sink.json_string(text, Component::Tools);
                    self.sink.framing("}");
                }
            }
        }
    }

    pub(super) fn result(&mut self, name: &'a str, message: &'a Message, result: &'a ToolResult) {
        let position = message.position;
        self.open_response(name);
        let content = answered(self.view, message, result, &mut self.losses);
        let is_portable = json::is_portable(&content);
        if is_portable && json::is_object(&content) {
            self.object_result(content, result.is_error, position);
        } else {
            let (open, is_text) = if result.is_error {
                ("{\"error\":", true)
            } else if is_portable {
                ("{\"data\":", false)
            } else {
                ("{\"text\":", true)
            };
            self.losses
                .at(LossCode::ResultWrapped, position, reasons::RESPONSE_IS_AN_OBJECT);
            self.sink.framing(open);
            if is_text {
                self.sink.json_string(content, Component::Tools);
            } else {
                self.sink.literal(compacted(content), Component::Tools);
            }
            self.sink.framing("}");
        }
        self.close_response();
        self.progress.said(position, "tool");
    }

    /// A result that is an object already stands as it is.
    fn object_result(&mut self, content: Cow<'a, str>, is_error: bool, position: u32) {
        if is_error {
            self.losses.at(
                LossCode::ErrorFlagDropped,
                position,
                reasons::NO_FAILURE_IN_AN_OBJECT,
            );
        }
        let length = content.len();
        let written = compacted(content);
        if written.len() < length {
            self.losses.at(
                LossCode::ResultWrapped,
                position,
                reasons::OBJECT_LOSES_WHITE_SPACE,
            );
        }
        self.sink.literal(written, Component::Tools);
    }

    pub(super) fn missing(&mut self, call: Call<'a>) {
        self.open_response(name_of(call.call.name.as_deref()));
        self.sink.framing("{\"error\":");
        self.sink.json_string(MISSING_RESULT, Component::Tools);
        self.sink.framing("}");
        self.close_response();
        self.progress.added("tool");
    }

    fn open_response(&mut self, name: &'a str) {
        self.open("{\"role\":\"tool\",\"parts\":[{\"function_response\":{\"name\":");
        self.sink.json_string(name, Component::Tools);
        self.sink.framing(",\"response\":");
    }

    fn close_response(&mut self) {
        self.sink.framing("}}");
        self.close();
    }
}

/// JSON without its insignificant white space.
fn compacted(content: Cow<'_, str>) -> Cow<'_, str> {
    change(content, json::compact)
}

/// The name of a tool, or a word that stands for it.
pub(super) fn name_of(name: Option<&str>) -> &str {
    name.filter(|name| !name.is_empty()).unwrap_or(UNNAMED)
}
