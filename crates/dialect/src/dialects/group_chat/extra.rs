//! Writes fields of messages that the format does not know, and our extension in `extra`: addresses and names of media, and tools.

use chatmill_model::{ArgumentForm, Arguments, Component, Message, Role, Sink, ToolCall};

use super::EntryWriter;
use super::pieces::{ADDRESSES, Pieces, holds_address};
use crate::loss::reasons;
use crate::tools::arguments::as_text;
use crate::write::object::{Object, key, list};

impl<'a> EntryWriter<'_, 'a> {
    /// Writes further fields of the entry, and `extra` if it would not be empty.
    pub(super) fn further(&mut self, message: &'a Message, pieces: &Pieces<'a>, object: &mut Object<'_, 'a>) {
        let mut has_whole_extra = false;
        let mut inside = Vec::new();
        for (key, value) in &message.extra.0 {
            if !self.is_native && is_taken(key, pieces) {
                self.losses
                    .at(reasons::FIELD_LIKE_THE_FORMATS_OWN, message.position);
                continue;
            }
            match key.strip_prefix('/') {
                Some(outside) => {
                    has_whole_extra |= outside == "extra";
                    object.field(outside, value);
                }
                None => inside.push((key.as_str(), value)),
            }
        }
        let mentions = message.mentions.len() as u64;
        self.losses
            .several(reasons::FORMAT_HAS_NO_MENTIONS, message.position, mentions);
        let lacks = |key: &str| message.extra.get(key).is_none();
        let is_written = |url: &&str| !pieces.content_is_address(message) && !holds_address(message, url);
        let url = pieces.address().filter(is_written);
        let medium = pieces.medium;
        let file_name = medium.and_then(|media| media.name.as_deref());
        let file_name = file_name.filter(|_| lacks("file_name"));
        let file_type = medium.and_then(|media| media.media_type.as_deref());
        let file_type = file_type.filter(|_| lacks("file_type"));
        let call_id = self.call_id(message, pieces);
        let name = pieces.result.and_then(|(_, result)| result.name.as_deref());
        let texts = [url, file_name, file_type, call_id, name];
        let is_empty = inside.is_empty() && pieces.calls.is_empty() && !pieces.is_system_text();
        if has_whole_extra || is_empty && texts.iter().all(Option::is_none) {
            return;
        }
        let mut extra = Object::open(object.key(key!("extra")));
        extra.fields(inside);
        extra.string(key!("url"), url, Component::Content);
        extra.string(key!("file_name"), file_name, Component::Meta);
        extra.string(key!("file_type"), file_type, Component::Meta);
        if pieces.is_system_text() {
            extra.word(key!("role"), "\"system\"");
        }
        if !pieces.calls.is_empty() {
            list(
                extra.key(key!("tool_calls")),
                &pieces.calls,
                |(index, call), sink| {
                    self.call(message, *index, call, sink);
                },
            );
        }
        extra.string(key!("tool_call_id"), call_id, Component::Meta);
        extra.string(key!("name"), name, Component::Tools);
        extra.close();
    }

    /// Returns the id of the call that a message answers. A result without a call gets an unused id: without an id, readers would assign it
    /// to the next call.
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

    /// Writes a call in OpenAI's form: the arguments are text, unless the source is a group chat that had them as JSON.
    fn call(&mut self, message: &'a Message, index: usize, call: &'a ToolCall, sink: &mut Sink<'a>) {
        let mut object = Object::open(sink);
        object.string(
            key!("id"),
            Some(self.tools.of_call(message, index)),
            Component::Meta,
        );
        object.word(key!("type"), "\"function\"");
        let mut function = Object::open(object.key(key!("function")));
        function.string(key!("name"), call.name.as_deref(), Component::Tools);
        let sink = function.key(key!("arguments"));
        match (&call.arguments, call.form) {
            (Arguments::Object(raw) | Arguments::NotObject(raw), ArgumentForm::Embedded)
                if self.is_native =>
            {
                sink.raw_json(raw.as_str(), Component::Tools);
            }
            _ => {
                let text = as_text(call, message.position, &mut self.losses);
                sink.json_string(text, Component::Tools);
            }
        }
        function.close();
        object.close();
    }
}

/// Whether a field of another system has a name with another meaning here: that of a field of the entry, of a tool, or of a medium.
fn is_taken(key: &str, pieces: &Pieces<'_>) -> bool {
    match key {
        "tool_calls" => pieces.role == Role::Assistant,
        "tool_call_id" | "name" => pieces.role == Role::Tool,
        "role" => pieces.is_system_text(),
        "file_name" | "file_type" => pieces.medium.is_some(),
        _ => key.starts_with('/') || pieces.medium.is_some() && ADDRESSES.contains(&key),
    }
}
