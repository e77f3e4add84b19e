//! Writes turns as JSON.

use chatmill_model::{Component, Level, Role, Sink, Speaker};

use super::turn::{Turn, TurnPart, Wrapped};

impl<'a> Turn<'a> {
    /// Writes the turn, with its tokens counted for a speaker.
    pub(super) fn write(self, sink: &mut Sink<'a>, speaker: Speaker) {
        sink.framing(match self.role {
            Role::Assistant => "{\"role\":\"model\",\"parts\":[",
            Role::Tool => "{\"role\":\"tool\",\"parts\":[",
            Role::User | Role::System => "{\"role\":\"user\",\"parts\":[",
        });
        sink.answer(speaker, self.positions.first().copied());
        for (index, part) in self.parts.into_iter().enumerate() {
            if index > 0 {
                sink.framing(",");
            }
            part.write(sink);
        }
        sink.set_speaker(Speaker::Other);
        sink.framing("]}");
    }
}

impl<'a> TurnPart<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        match self {
            Self::Text(words) => {
                sink.framing("{\"text\":\"");
                for run in words {
                    run.write(sink, Level::JsonString);
                }
                sink.framing("\"}");
            }
            Self::Inline(media_type, bytes) => {
                sink.framing("{\"inline_data\":{");
                if let Some(media_type) = media_type {
                    sink.framing("\"mime_type\":");
                    sink.json_string(media_type, Component::Meta);
                    sink.framing(",");
                }
                sink.framing("\"data\":");
                sink.json_string(bytes, Component::Content);
                sink.framing("}}");
            }
            Self::Linked(address, [opening, closing]) => {
                sink.framing(opening);
                sink.json_string(address, Component::Content);
                sink.framing(closing);
            }
            Self::Call(name, arguments) => {
                let keys = ["{\"function_call\":{\"name\":", ",\"args\":"];
                tool_use(sink, keys, name, arguments);
            }
            Self::Response(name, response) => {
                let keys = ["{\"function_response\":{\"name\":", ",\"response\":"];
                tool_use(sink, keys, name, response);
            }
        }
    }
}

fn tool_use<'a>(sink: &mut Sink<'a>, [opening, key]: [&'static str; 2], name: &'a str, wrapped: Wrapped<'a>) {
    sink.framing(opening);
    sink.json_string(name, Component::Tools);
    sink.framing(key);
    wrapped.write(sink);
    sink.framing("}}");
}

impl<'a> Wrapped<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        sink.framing(self.opening);
        if self.is_json {
            sink.literal(self.text, Component::Tools);
        } else {
            sink.json_string(self.text, Component::Tools);
        }
        sink.framing(if self.opening.is_empty() { "" } else { "}" });
    }
}
