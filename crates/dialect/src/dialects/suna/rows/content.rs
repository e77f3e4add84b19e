//! Writes the column `content`: a message as JSON inside a JSON string.

use chatmill_model::{Component, Level, Message, Part, Role, Sink, ToolCall, ToolResult};

use super::RowWriter;
use crate::loss::reasons;
use crate::messages::text::{cleaned, declared_document};
use crate::naming::participants::UNNAMED;
use crate::text::control_tokens::{Reserved, escape};
use crate::text::json;
use crate::text::media::placeholder;
use crate::tools::arguments::as_text;
use crate::view::policy::MediaPolicy;

/// A text of a message.
struct TextBlock<'a> {
    text: &'a str,
    is_cached: bool,
}

impl<'a> RowWriter<'_, 'a> {
    /// Writes the content of a row of a message: `{"role","content","tool_calls"}`.
    pub(super) fn message(&mut self, message: &'a Message, sink: &mut Sink<'a>) {
        let has_calls = message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        sink.framing("\"");
        inner(sink, "{\"role\":\"");
        inner(sink, message.role.as_str());
        inner(sink, "\",\"content\":");
        match self.texts(message, has_calls).as_slice() {
            // A message without a text has no content, rather than an empty one.
            [] if message.texts().next().is_none() => inner(sink, "null"),
            [] => inner(sink, "\"\""),
            [only] if !only.is_cached => inner_string(sink, only.text, Component::Content),
            texts => list(sink, texts),
        }
        let mut separator = ",\"tool_calls\":[";
        for (place, part) in message.parts.iter().enumerate() {
            if let Part::ToolCall(call) = part {
                inner(sink, separator);
                separator = ",";
                self.call(message, place, call, sink);
            }
        }
        inner(sink, if has_calls { "]}" } else { "}" });
        sink.framing("\"");
    }

    /// Writes the content of a row of a result: `{"role","tool_call_id","name","content"}`.
    pub(super) fn result(
        &mut self,
        message: &'a Message,
        place: usize,
        result: &'a ToolResult,
        sink: &mut Sink<'a>,
    ) {
        let id = self.tools.of_result(message, place, result);
        if id.is_some_and(|id| result.call_id.as_ref().is_some_and(|own| own != id)) {
            self.losses
                .at(reasons::RESULT_BEARS_THE_CALLS_ID, message.position);
        }
        let marks = message.marks_on(place) as u64;
        self.losses
            .several(reasons::ROW_HAS_NO_BLOCK, message.position, marks);
        let name = result.name.as_deref();
        let name = name.or_else(|| self.tools.tool_of(message, place));
        sink.framing("\"");
        inner(sink, "{\"role\":\"tool\"");
        if let Some(id) = id {
            inner(sink, ",\"tool_call_id\":");
            inner_string(sink, id, Component::Meta);
        }
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            inner(sink, ",\"name\":");
            inner_string(sink, name, Component::Tools);
        }
        inner(sink, ",\"content\":");
        inner_string(sink, &result.content, Component::Tools);
        inner(sink, "}");
        sink.framing("\"");
    }

    /// Writes the content of a status row: an object or a list if it was one, otherwise text.
    pub(super) fn notice(&mut self, message: &'a Message, sink: &mut Sink<'a>) {
        let mut texts = message.parts.iter().filter_map(|part| match part {
            Part::Notice(text) | Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let first = texts.next().unwrap_or_default();
        let further = texts.count() as u64;
        self.losses
            .several(reasons::STATUS_ROW_HOLDS_ONE_TEXT, message.position, further);
        if first.starts_with(['{', '[']) && json::is_portable(first) {
            sink.raw_json(first, Component::Content);
        } else {
            sink.json_string(first, Component::Content);
        }
    }

    fn call(&mut self, message: &'a Message, place: usize, call: &'a ToolCall, sink: &mut Sink<'a>) {
        let name = call.name.as_deref().filter(|name| !name.is_empty());
        if name.is_none() {
            self.losses.at(reasons::CALL_NAMES_NO_TOOL, message.position);
        }
        let id = self.tools.of_call(message, place);
        if call.id.as_deref().is_none_or(str::is_empty) && call.metadata_id.as_deref() == Some(id) {
            self.losses.at(reasons::METADATA_HOLD_THE_ID, message.position);
        }
        let arguments = as_text(call, message.position, &mut self.losses);
        inner(sink, "{\"id\":");
        inner_string(sink, id, Component::Meta);
        inner(sink, ",\"type\":\"function\",\"function\":{\"name\":");
        inner_string(sink, name.unwrap_or(UNNAMED), Component::Tools);
        inner(sink, ",\"arguments\":");
        inner_string(sink, self.transcript.arena().keep(arguments), Component::Tools);
        inner(sink, "}}");
    }

    /// Returns the texts of a message, with media by name.
    fn texts(&mut self, message: &'a Message, has_calls: bool) -> Vec<TextBlock<'a>> {
        let (view, position) = (self.transcript.view(), message.position);
        let arena = self.transcript.arena();
        let mut texts: Vec<TextBlock<'a>> = Vec::new();
        let mut is_behind_call = false;
        for (_, part) in message.parts_without_results() {
            let text = match part {
                Part::Text(text) => cleaned(view, message, text.into(), &mut self.losses),
                Part::Media(media) => match declared_document(media, position, &mut self.losses) {
                    Some(document) => document.into(),
                    None if view.policy.media == MediaPolicy::Drop => {
                        self.losses.at(reasons::POLICY_DROPS_MEDIA, position);
                        continue;
                    }
                    None => {
                        self.losses.at(reasons::ROWS_NAME_MEDIA, position);
                        placeholder(media).into()
                    }
                },
                Part::CacheMark => {
                    match texts.last_mut() {
                        Some(last) if !is_behind_call && last.is_cached => {
                            self.losses.at(reasons::MARKED_ALREADY, position);
                        }
                        Some(last) if !is_behind_call => last.is_cached = true,
                        _ => {
                            self.losses.at(reasons::NO_TEXT_BEFORE_THE_MARK, position);
                        }
                    }
                    continue;
                }
                Part::ToolCall(_) => {
                    is_behind_call = true;
                    continue;
                }
                Part::ToolResult(_) | Part::Reasoning(_) | Part::Notice(_) | Part::Item(_) => continue,
            };
            if text.is_empty() {
                continue;
            }
            let text = if has_calls || message.role != Role::Assistant {
                text
            } else {
                // Readers look for calls in the text of an agent if the row has no list of calls.
                let (text, count) = escape(text, Reserved::Calls);
                self.losses.several(reasons::TEXT_LIKE_CALLS, position, count);
                text
            };
            if is_behind_call {
                self.losses.at(reasons::TEXT_BEFORE_CALLS_OF_THE_ROW, position);
            }
            texts.push(TextBlock {
                text: arena.keep(text),
                is_cached: false,
            });
        }
        texts
    }
}

fn list<'a>(sink: &mut Sink<'a>, texts: &[TextBlock<'a>]) {
    let mut separator = "[";
    for block in texts {
        inner(sink, separator);
        separator = ",";
        inner(sink, "{\"type\":\"text\",\"text\":");
        inner_string(sink, block.text, Component::Content);
        inner(
            sink,
            if block.is_cached {
                ",\"cache_control\":{\"type\":\"ephemeral\"}}"
            } else {
                "}"
            },
        );
    }
    inner(sink, "]");
}

/// Writes framing inside the string.
fn inner(sink: &mut Sink<'_>, text: &'static str) {
    sink.content(text, Level::JsonString, Component::Framing);
}

/// Writes a string inside the string.
fn inner_string<'a>(sink: &mut Sink<'a>, text: &'a str, component: Component) {
    inner(sink, "\"");
    sink.content(text, Level::JsonInJsonString, component);
    inner(sink, "\"");
}
