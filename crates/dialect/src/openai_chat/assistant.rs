//! Turns of the perspective: text and calls, nothing else.

use std::borrow::Cow;

use chatmill_model::{ArgumentForm, Arguments, Component, Message, Role, ToolCall, Voice, json};

use super::Writer;
use crate::loss::LossCode;
use crate::names;
use crate::turns::Call;

impl<'a> Writer<'_, 'a> {
    /// A turn of the perspective: text only, and its calls.
    pub(super) fn assistant(&mut self, message: &'a Message, calls: &[Call<'a>]) {
        let position = message.position;
        if message.role == Role::User {
            self.losses.at(
                LossCode::RoleMapped,
                position,
                "the perspective speaks as the assistant",
            );
        }
        self.losses.several(
            LossCode::ReferenceDropped,
            position,
            message.references.len() as u64,
            "the assistant would learn to print quotes",
        );
        let texts = self.texts_beside(message, !calls.is_empty());
        if texts.is_none() && calls.is_empty() {
            return;
        }
        self.open("{\"role\":\"assistant\"");
        self.rope.speak(Voice::Perspective);
        if let Some(texts) = texts {
            self.rope.framing(",\"content\":\"");
            self.write_texts(texts);
            self.rope.framing("\"");
        }
        if !calls.is_empty() {
            self.calls(calls);
        }
        self.close("}");
        self.unnamed_own += 1;
        self.progress.said(position, "assistant");
    }

    fn calls(&mut self, calls: &[Call<'a>]) {
        self.rope.framing(",\"tool_calls\":[");
        for (index, call) in calls.iter().enumerate() {
            if index > 0 {
                self.rope.framing(",");
            }
            self.rope.framing("{\"id\":");
            self.rope.json_string(self.ids.of(call.place), Component::Meta);
            self.rope
                .framing(",\"type\":\"function\",\"function\":{\"name\":");
            let name = call.call.name.as_deref().unwrap_or_default();
            if names::fits(name) {
                self.rope.json_string(name, Component::Tools);
            } else {
                self.losses.at(
                    LossCode::ToolNameRewritten,
                    call.place.position,
                    "OAC-07: the name of a function is [a-zA-Z0-9_-]{1,64}",
                );
                self.rope.json_string(names::fitted(name), Component::Tools);
            }
            self.rope.framing(",\"arguments\":");
            self.rope.json_string(arguments(call.call), Component::Tools);
            self.rope.framing("}}");
        }
        self.rope.framing("]");
    }
}

/// Arguments as text: what the source wrote as text stays, what it wrote as JSON loses its white space.
fn arguments(call: &ToolCall) -> Cow<'_, str> {
    match (&call.arguments, call.form) {
        (Arguments::Object(raw) | Arguments::NotObject(raw), ArgumentForm::Embedded) => {
            let mut compact = String::with_capacity(raw.as_str().len());
            json::push_compact(&mut compact, raw.as_str());
            if compact.len() == raw.as_str().len() {
                Cow::Borrowed(raw.as_str())
            } else {
                Cow::Owned(compact)
            }
        }
        (arguments, _) => Cow::Borrowed(arguments.source_text()),
    }
}
