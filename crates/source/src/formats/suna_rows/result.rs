//! Results of tools, in the forms of all eras.
//!
//! The result is the tool's output as the model saw it: a string unchanged, an object or a list as compact
//! JSON. In the era of XML calls it is inside an object called `tool_execution`, which also repeats the call.

use std::borrow::Cow;

use chatmill_diag::Limits;
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_model::{Part, ToolResult};

use super::metadata::Metadata;
use super::types::{Content, Era, MessageContent};
use crate::base::texts::quoted_json::{self, CellPlace};
use crate::base::{
    ExtraFields, Keep as _, Site, below, filled, media::media_of_answer, present, raw, text, text_of,
};
use crate::grammar::openai::{self, MessageObject};

/// Reads a result. The places of `site` are below the content, which is at `place`.
pub(super) fn read(
    content: &Content<'_>,
    mut turn: MessageObject,
    place: &CellPlace,
    metadata: &mut Metadata<'_>,
    message: &mut MessageContent,
    limits: &Limits,
    site: &mut Site<'_>,
) {
    let mut rest = std::mem::take(&mut turn.rest);
    let mut answer = Answer {
        call_id: turn.call_id.take(),
        name: turn.name.take(),
        ..Answer::default()
    };
    let stored = match content {
        Content::Turn(object) => openai::content(*object),
        Content::Parts(value) | Content::Other(value, _) => Some(*value),
        Content::Text(_) | Content::Absent => None,
    };
    message.era = Era::Native;
    if let Some(value) = stored {
        let document = quoted_json::open(value, limits);
        let root = document.as_deref().map_or(value, Document::root);
        if let Some(execution) = root.get("tool_execution").filter(|it| it.kind() == Kind::Object) {
            message.era = Era::Xml;
            if let Some(document) = &document {
                place.report_scan(document, site);
            }
            answer.execution(execution, &mut rest);
        } else {
            let (read, others) = openai::answered(value, "content", &mut rest, site);
            (answer.text, answer.joined, answer.others) = (read.text, read.joined, others);
            if let Content::Other(_, text) = content {
                answer.text.clone_from(text);
            }
        }
    } else if let Content::Text(text) = content {
        answer.text.clone_from(text);
    } else {
        match metadata.output() {
            Some(output) => answer.text = text_of(output),
            None => site.missing("content"),
        }
    }
    let is_direct = matches!(content, Content::Parts(_) | Content::Other(..));
    for (mut path, raw) in rest {
        if !is_direct || path.starts_with("tool_execution") {
            path.insert_str(0, "content.");
        }
        message.rest.push((path, raw));
    }
    if let Some(id) = turn.message_id.filter(|id| site.id != Some(id)) {
        message.keep_text("content.message_id", &id);
    }
    message
        .parts
        .extend(turn.thoughts.into_iter().map(Part::Reasoning));
    answer.finish(metadata, message);
}

/// A result while it is being composed.
#[derive(Default)]
struct Answer {
    call_id: Option<String>,
    name: Option<String>,
    text: String,
    joined: u32,
    is_error: bool,
    others: Vec<Part>,
}

impl Answer {
    /// Reads the object of the XML era.
    fn execution(&mut self, execution: Value<'_>, rest: &mut ExtraFields) {
        let field = |key: &str| present(execution, key);
        let word = |key: &str| filled(field(key));
        self.call_id = self.call_id.take().or_else(|| word("tool_call_id"));
        self.name = self.name.take().or_else(|| word("function_name"));
        let result = field("result");
        let part = |key: &str| result.and_then(|result| present(result, key));
        self.is_error = part("success").and_then(Value::as_bool) == Some(false);
        let is_object = result.is_some_and(|result| result.kind() == Kind::Object);
        let output = if is_object { part("output") } else { result };
        let shown = output.or_else(|| part("error"));
        self.text = shown.map(text_of).unwrap_or_default();

        let is_own_id = word("tool_call_id") == self.call_id;
        let is_own_name = word("function_name") == self.name;
        // The call contains them as well.
        field("arguments").inspect(|given| rest.push(("tool_execution.arguments".to_owned(), raw(*given))));
        for (key, value) in execution.fields() {
            let is_carried = match &*key {
                "result" | "arguments" => true,
                "tool_call_id" => is_own_id,
                "function_name" => is_own_name,
                _ => false,
            };
            if !is_carried && !value.is_null() {
                rest.keep(below("tool_execution", &key), value);
            }
        }
        for (key, value) in result.into_iter().flat_map(Value::fields) {
            let is_carried = match &*key {
                "success" => value.as_bool().is_some(),
                "output" => true,
                "error" => output.is_none(),
                _ => false,
            };
            if !is_carried && !value.is_null() {
                rest.keep(below("tool_execution.result", &key), value);
            }
        }
    }

    /// Adds the fields of the metadata, and the result, to the message.
    fn finish(self, metadata: &mut Metadata<'_>, message: &mut MessageContent) {
        let other_id = metadata.take_word("tool_call_id");
        if other_id.is_some() {
            message.era = Era::Metadata;
        }
        let other_name = metadata.get("function_name").and_then(Value::as_str);
        let name = match (self.name, other_name) {
            (None, None) => metadata
                .get("parsing_details")
                .and_then(|details| text(details.get("function_name"))),
            (Some(name), Some(other)) if name != other => Some(name),
            (name, other) => {
                metadata.take("function_name");
                name.or(other.map(Cow::into_owned))
            }
        };
        let caller = metadata.take_word("assistant_message_id");
        let is_error = self.is_error || metadata.success() == Some(false);
        metadata.take_result(&self.text);
        message.parts.push(Part::ToolResult(ToolResult {
            metadata_id: other_id.filter(|id| self.call_id.as_ref() != Some(id)),
            call_id: self.call_id,
            name,
            content: self.text,
            is_error,
            caller,
            media: media_of_answer(&self.others),
            joined: self.joined,
            is_json: false,
            own: None,
        }));
        message.parts.extend(self.others);
    }
}
