//! Texts that a trace repeats: fields of the trace and of frameworks contain the text of its steps as well.

use std::collections::HashSet;

use chatmill_diag::Limits;
use chatmill_intake::json::{self, Kind, Mark, Value};
use chatmill_model::{Message, Part};

use crate::base::texts::quoted_json;
use crate::unread::holds_words;

/// How many layers of JSON in strings are opened.
const MAX_LAYERS: usize = 4;

/// Texts that were read at another place of the trace.
#[derive(Default)]
pub(crate) struct KnownTexts(HashSet<String>);

impl KnownTexts {
    /// Adds the texts of a value, including those in JSON strings.
    pub(crate) fn add(&mut self, value: Value<'_>, limits: &Limits) {
        every_text(value, limits, MAX_LAYERS, &mut |text| {
            self.0.insert(text.trim().to_owned());
            true
        });
    }

    /// Adds the texts of a value that is not part of the record.
    pub(crate) fn add_json(&mut self, text: &str, limits: &Limits) {
        let may_be_json = text.trim_start().starts_with(['{', '[', '"']);
        if may_be_json && let Ok(document) = json::scan(text.as_bytes(), limits.depth) {
            self.add(document.root(), limits);
        }
    }

    /// Adds the texts of messages, and the arguments and results of tool calls.
    pub(crate) fn add_messages(&mut self, messages: &[Message], limits: &Limits) {
        for part in messages.iter().flat_map(|message| &message.parts) {
            let text = match part {
                Part::Text(text) | Part::Reasoning(text) => text,
                Part::ToolCall(call) => call.arguments.source_text(),
                Part::ToolResult(result) => result.content.as_str(),
                _ => continue,
            };
            self.0.insert(text.trim().to_owned());
            self.add_json(text, limits);
        }
    }

    /// Marks each text in a value as read if it is known or has no words, and as unread otherwise. Values
    /// marked as kept are not changed.
    pub(crate) fn mark_each(&self, value: Value<'_>, limits: &Limits) {
        if value.marked() == Mark::Retained {
            return;
        }
        if let Some(inside) = quoted_json::open(value, limits) {
            return self.mark_each(inside.root(), limits);
        }
        let is_known = value
            .string()
            .is_none_or(|text| !holds_words(&text) || self.0.contains(text.trim()));
        let is_container = matches!(value.kind(), Kind::Array | Kind::Object);
        value.mark(if is_known && !is_container {
            Mark::Taken
        } else {
            Mark::Left
        });
        value
            .fields()
            .for_each(|(_, field)| self.mark_each(field, limits));
        value.items().for_each(|item| self.mark_each(item, limits));
    }

    /// Marks a value as read if all its texts are known or without words; returns whether it was.
    pub(crate) fn mark(&self, value: Value<'_>, limits: &Limits) -> bool {
        let is_known = every_text(value, limits, MAX_LAYERS, &mut |text| {
            !holds_words(text) || self.0.contains(text.trim())
        });
        if is_known {
            value.mark(Mark::Taken);
        }
        is_known
    }
}

/// Whether a predicate holds for every text in a value, and in the JSON of its strings.
fn every_text(value: Value<'_>, limits: &Limits, layers: usize, is_so: &mut dyn FnMut(&str) -> bool) -> bool {
    match value.kind() {
        Kind::String => {
            let text = value.string().unwrap_or_default();
            let may_be_json = layers > 0 && text.trim_start().starts_with(['{', '[', '"']);
            match may_be_json.then(|| json::scan(text.as_bytes(), limits.depth)) {
                Some(Ok(document)) => every_text(document.root(), limits, layers - 1, is_so),
                _ => is_so(&text),
            }
        }
        Kind::Object => value
            .fields()
            .all(|(_, field)| every_text(field, limits, layers, is_so)),
        Kind::Array => value.items().all(|item| every_text(item, limits, layers, is_so)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_known_when_each_of_its_texts_is() {
        let limits = Limits::default();
        let steps = r#"["{\"messages\":[{\"content\":\"Which knot holds?\"}]}","A bowline holds."]"#;
        let steps = json::scan(steps.as_bytes(), 64).unwrap();
        let mut known_texts = KnownTexts::default();
        known_texts.add(steps.root(), &limits);
        for (text, is_known) in [
            (r#""\"A bowline holds.\"""#, true),
            (r#"{"said":["Which knot holds?"],"model":"m"}"#, true),
            (r#""{\"a\":\"A bowline holds.\",\"b\":\"Tie it twice.\"}""#, false),
            (r#""bowline holds""#, false),
        ] {
            let document = json::scan(text.as_bytes(), 64).unwrap();
            assert_eq!(known_texts.mark(document.root(), &limits), is_known, "{text}");
            assert_eq!(document.root().marked() == Mark::Taken, is_known, "{text}");
        }
    }
}
