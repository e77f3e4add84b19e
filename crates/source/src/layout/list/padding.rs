//! Keys that Arrow adds: a column of structs gives every row the keys of all rows, and JSON lines that are written from it have
//! `null` under those that the row did not have.
//!
//! A property that is `null` is not a schema, so that the tool has no such parameter. It is removed from a definition if no call of
//! the tool in the record gives it a value, and its `null` is removed from the calls. `null` under a key that the definition
//! describes stays.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_diag::{Limits, steps};
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::json::push_string;
use chatmill_model::{ArgumentForm, Arguments, Conversation, Part, RawJson, ToolCall};

use crate::base::present;

/// The fields of a definition that may hold its schema.
const SCHEMAS: [&str; 3] = ["parameters", "input_schema", "inputSchema"];

/// The keys of an object that are padding, and those of the objects inside it.
#[derive(Debug, Default)]
struct Padding {
    keys: BTreeSet<String>,
    inside: BTreeMap<String, Padding>,
    elements: Option<Box<Padding>>,
}

/// Removes padding from the tools of a record and from their calls.
pub(super) fn take_out(conversation: &mut Conversation, limits: &Limits) {
    let is_padded = |tool: &RawJson| tool.as_str().contains("null");
    if !conversation.tools.iter().any(is_padded) {
        return;
    }
    let mut padded: BTreeMap<String, Padding> = BTreeMap::new();
    for tool in conversation.tools.iter().filter(|tool| is_padded(tool)) {
        with_json(tool.as_str(), limits, |tool| {
            let (Some(name), Some(schema)) = (name_of(tool), schema_of(tool)) else {
                return;
            };
            if let Some(padding) = Padding::of(schema) {
                padded.insert(name, padding);
            }
        });
    }
    if padded.is_empty() {
        return;
    }
    for call in calls(conversation) {
        if let Some(padding) = call.name.as_ref().and_then(|name| padded.get_mut(name))
            && let Arguments::Object(given) = &call.arguments
        {
            with_json(given.as_str(), limits, |given| padding.keep_used(given));
        }
    }
    for call in calls(conversation) {
        let padding = call.name.as_ref().and_then(|name| padded.get(name));
        if let (Some(padding), ArgumentForm::Embedded, Arguments::Object(given)) =
            (padding, call.form, &mut call.arguments)
        {
            let written = with_json(given.as_str(), limits, |value| {
                let mut out = String::new();
                padding.write(&mut out, value);
                out
            });
            given.0 = written.unwrap_or_else(|| std::mem::take(&mut given.0));
        }
    }
    for tool in conversation.tools.iter_mut().filter(|tool| is_padded(tool)) {
        let written = with_json(tool.as_str(), limits, |value| {
            let padding = padded.get(&name_of(value)?)?;
            let schema = schema_of(value)?;
            let start = value.span().start;
            let (before, behind) = value.raw().split_at_checked(schema.span().start - start)?;
            let behind = behind.get(schema.span().len()..)?;
            let mut out = before.to_owned();
            padding.write_schema(&mut out, schema);
            out.push_str(behind);
            Some(out)
        });
        tool.0 = written.flatten().unwrap_or_else(|| std::mem::take(&mut tool.0));
    }
}

fn with_json<T>(text: &str, limits: &Limits, read: impl FnOnce(Value<'_>) -> T) -> Option<T> {
    let document = json::scan(text.as_bytes(), limits.depth).ok()?;
    steps::taken(text.len());
    Some(read(document.root()))
}

fn calls(conversation: &mut Conversation) -> impl Iterator<Item = &mut ToolCall> {
    let others = conversation.alternatives.iter_mut();
    let others = others.filter_map(|alternative| alternative.messages.as_mut());
    let messages = conversation.messages.iter_mut().chain(others.flatten());
    let parts = messages.flat_map(|message| &mut message.parts);
    parts.filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    })
}

/// The function of a definition.
fn function(tool: Value<'_>) -> Value<'_> {
    present(tool, "function").unwrap_or(tool)
}

fn name_of(tool: Value<'_>) -> Option<String> {
    function(tool).get("name")?.string().map(Into::into)
}

fn schema_of(tool: Value<'_>) -> Option<Value<'_>> {
    let mut found = SCHEMAS.iter().filter_map(|key| function(tool).get(key));
    found.find(|schema| schema.kind() == Kind::Object)
}

impl Padding {
    /// The padding of a schema, if it has any.
    fn of(schema: Value<'_>) -> Option<Self> {
        let mut padding = Self {
            elements: schema.get("items").and_then(Self::of).map(Box::new),
            ..Self::default()
        };
        for (key, property) in properties(schema) {
            if property.is_null() {
                padding.keys.insert(key);
            } else if let Some(inside) = Self::of(property) {
                padding.inside.insert(key, inside);
            }
        }
        let has_some = padding.elements.is_some() || !padding.keys.is_empty() || !padding.inside.is_empty();
        has_some.then_some(padding)
    }

    /// Forgets keys that have a value in the arguments.
    fn keep_used(&mut self, given: Value<'_>) {
        for (key, value) in given.fields().filter(|(_, value)| !value.is_null()) {
            self.keys.remove(&*key);
            if let Some(inside) = self.inside.get_mut(&*key) {
                inside.keep_used(value);
            }
        }
        if let Some(elements) = &mut self.elements {
            given.items().for_each(|element| elements.keep_used(element));
        }
    }

    /// Writes arguments without the padding.
    fn write(&self, out: &mut String, given: Value<'_>) {
        match (given.kind(), &self.elements) {
            (Kind::Object, _) => write_object(out, given, |out, key, value| {
                let is_padding = value.is_null() && self.keys.contains(key);
                match self.inside.get(key) {
                    _ if is_padding => return false,
                    Some(inside) => inside.write(out, value),
                    None => out.push_str(value.raw()),
                }
                true
            }),
            (Kind::Array, Some(elements)) => {
                let mut separator = '[';
                for element in given.items() {
                    out.push(std::mem::replace(&mut separator, ','));
                    elements.write(out, element);
                }
                out.push_str(if given.is_empty() { "[]" } else { "]" });
            }
            _ => out.push_str(given.raw()),
        }
    }

    /// Writes a schema without the padding.
    fn write_schema(&self, out: &mut String, schema: Value<'_>) {
        write_object(out, schema, |out, key, value| {
            match (key, &self.elements) {
                ("properties", _) if value.kind() == Kind::Object => self.write_properties(out, value),
                ("items", Some(elements)) => elements.write_schema(out, value),
                _ => out.push_str(value.raw()),
            }
            true
        });
    }

    fn write_properties(&self, out: &mut String, properties: Value<'_>) {
        write_object(out, properties, |out, key, property| {
            match self.inside.get(key) {
                _ if property.is_null() && self.keys.contains(key) => return false,
                Some(inside) => inside.write_schema(out, property),
                None => out.push_str(property.raw()),
            }
            true
        });
    }
}

/// The properties of a schema.
fn properties(schema: Value<'_>) -> impl Iterator<Item = (String, Value<'_>)> {
    let properties = schema.get("properties").into_iter().flat_map(Value::fields);
    properties.map(|(key, property)| (key.into_owned(), property))
}

/// Writes an object; `write` writes each value, or returns `false` to leave its key out.
fn write_object(
    out: &mut String,
    value: Value<'_>,
    mut write: impl FnMut(&mut String, &str, Value<'_>) -> bool,
) {
    out.push('{');
    let begin = out.len();
    for (key, value) in value.fields() {
        let before = out.len();
        if before > begin {
            out.push(',');
        }
        push_string(out, &key);
        out.push(':');
        if !write(out, &key, value) {
            out.truncate(before);
        }
    }
    out.push('}');
}
