//! Tool calls: `tool_calls`, the deprecated `function_call`, and calls that are JSON in a text.

mod split;

use crate::base::texts::thoughts;
use crate::base::{ExtraFields, Keep, Site, arguments, below, embedded, fields, present, word};
use std::collections::HashSet;

use chatmill_diag::codes;
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::{ArgumentForm, Arguments, Part, ToolCall};

/// Reads `tool_calls`; `None` if it is not a list of objects, or of their JSON texts.
pub(crate) fn calls(list: Value<'_>, rest: &mut ExtraFields, site: &mut Site<'_>) -> Option<Vec<ToolCall>> {
    let is_text = |call: Value<'_>| call.string().is_some_and(|text| text.starts_with('{'));
    if !list.is_empty() && list.items().all(is_text) {
        let calls = list.items().enumerate().filter_map(|(index, value)| {
            let document = value.open(&value.string()?, site.limits.depth).ok()?;
            let path = format!("tool_calls[{index}]");
            Some(call(document.root(), &path, rest, site))
        });
        let calls: Vec<_> = calls.collect();
        if calls.len() == list.len() {
            return Some(calls);
        }
    }
    if list.kind() != Kind::Array || list.items().any(|call| call.kind() != Kind::Object) {
        let text = "tool_calls is not a list of objects and is kept as it is";
        site.error("tool_calls", text, list);
        return None;
    }
    let calls = list
        .items()
        .enumerate()
        .map(|(index, value)| call(value, &format!("tool_calls[{index}]"), rest, site));
    Some(split::join(calls.collect(), list, "tool_calls", site))
}

/// Adds the calls of `tool_calls`, except those that blocks of the content already contain.
pub(crate) fn add(parts: &mut Vec<Part>, calls: Vec<ToolCall>) {
    let own = parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => call.id.clone(),
        _ => None,
    });
    let own: HashSet<String> = own.collect();
    let is_new = |call: &ToolCall| call.id.as_ref().is_none_or(|id| !own.contains(id));
    parts.extend(calls.into_iter().filter(is_new).map(Part::ToolCall));
}

fn call(value: Value<'_>, suffix: &str, rest: &mut ExtraFields, site: &mut Site<'_>) -> ToolCall {
    let object = |key: &str| value.get(key).filter(|inner| inner.kind() == Kind::Object);
    let (function, custom) = (object("function"), object("custom"));
    let is_flat = function.is_none() && custom.is_none() && value.get("arguments").is_some();
    for (key, field) in value.fields() {
        let is_read = match &*key {
            "id" => true,
            "name" | "arguments" if is_flat => true,
            "function" | "custom" => field.kind() == Kind::Object,
            "type" => matches!(field.as_str().as_deref(), Some("function" | "custom")),
            _ => false,
        };
        if !is_read && !field.is_null() {
            rest.keep(below(suffix, &key), field);
        }
    }
    let id = word(value.get("id"), &format!("{suffix}.id"), site);
    if let (None, Some(custom)) = (function, custom) {
        return own_input(id, custom, &format!("{suffix}.custom"), rest, site);
    }
    if is_flat {
        let given = arguments(present(value, "arguments"), &format!("{suffix}.arguments"), site);
        let name = word(value.get("name"), &format!("{suffix}.name"), site);
        return ToolCall::new(id, name, given);
    }
    let suffix = format!("{suffix}.function");
    let Some(function) = function else {
        let text = "the call has no function";
        site.note(&codes::MISSING_FIELD, text, format!(".{suffix}"), value);
        return ToolCall::new(id, None, as_text(String::new()));
    };
    ToolCall {
        id,
        ..named(function, &suffix, rest, site)
    }
}

/// The deprecated `function_call`, which has no id.
pub(crate) fn function_call(
    value: Value<'_>,
    rest: &mut ExtraFields,
    site: &mut Site<'_>,
) -> Option<ToolCall> {
    if value.kind() != Kind::Object {
        let text = "function_call is not an object and is kept as it is";
        site.error("function_call", text, value);
        return None;
    }
    Some(named(value, "function_call", rest, site))
}

fn named(function: Value<'_>, suffix: &str, rest: &mut ExtraFields, site: &mut Site<'_>) -> ToolCall {
    rest.keep_rest(function, suffix, &["name", "arguments"]);
    let given = present(function, "arguments");
    let given = arguments(given, &format!("{suffix}.arguments"), site);
    ToolCall::new(
        None,
        word(function.get("name"), &format!("{suffix}.name"), site),
        given,
    )
}

/// A call of a custom tool with free text as its input.
fn own_input(
    id: Option<String>,
    custom: Value<'_>,
    suffix: &str,
    rest: &mut ExtraFields,
    site: &mut Site<'_>,
) -> ToolCall {
    let mut name = None;
    let mut input = String::new();
    for (key, field) in custom.fields() {
        match (&*key, field.as_str()) {
            ("name", _) => name = Some(field),
            ("input", Some(text)) => input = text.into_owned(),
            _ if field.is_null() => {}
            _ => rest.keep(below(suffix, &key), field),
        }
    }
    let given = (Arguments::Malformed(input), ArgumentForm::FreeText);
    ToolCall::new(id, word(name, &format!("{suffix}.name"), site), given)
}

/// Free text as arguments.
const fn as_text(text: String) -> (Arguments, ArgumentForm) {
    (Arguments::Malformed(text), ArgumentForm::Text)
}

/// The calls in the JSON of a text; any other text is one call with malformed arguments.
pub(crate) fn spelled(words: String, depth: u32) -> Vec<ToolCall> {
    let found = json::scan(words.as_bytes(), depth).ok().and_then(|document| {
        let root = document.root();
        match root.kind() {
            Kind::Object => spelled_call(root, depth).map(|call| vec![call]),
            Kind::Array if !root.is_empty() => root.items().map(|value| spelled_call(value, depth)).collect(),
            _ => None,
        }
    });
    found.unwrap_or_else(|| vec![ToolCall::new(None, None, as_text(words))])
}

/// Reads the text of a turn that is a call or a list of calls, possibly after a thought.
pub(crate) fn spelled_turn(words: &str, depth: u32) -> Vec<Part> {
    let (thought, calls) = match thoughts::divided(words) {
        Some((thought, calls)) => (Some(Part::Reasoning(thoughts::thought(thought))), calls),
        None => (None, words),
    };
    let calls = spelled(calls.to_owned(), depth);
    thought
        .into_iter()
        .chain(calls.into_iter().map(Part::ToolCall))
        .collect()
}

/// Reads a call from an object with `name`; `None` if it has other fields, which would be lost.
pub(crate) fn spelled_call(value: Value<'_>, depth: u32) -> Option<ToolCall> {
    let is_call = value
        .fields()
        .all(|(key, _)| matches!(&*key, "name" | "arguments" | "id" | "tool_call_id"));
    let name = fields::text(value.get("name")).filter(|_| is_call)?;
    let given = match value.get("arguments") {
        None => as_text(String::new()),
        Some(given) => match given.as_str() {
            Some(text) => (quoted(&text, depth), ArgumentForm::Text),
            None => (embedded(given), ArgumentForm::Embedded),
        },
    };
    let own = fields::text(value.get("id").or_else(|| value.get("tool_call_id")));
    Some(ToolCall::new(
        own.filter(|id| !id.is_empty()),
        Some(name).filter(|name| !name.is_empty()),
        given,
    ))
}

/// Arguments that are JSON text inside the JSON text.
fn quoted(text: &str, depth: u32) -> Arguments {
    match json::scan(text.as_bytes(), depth) {
        Ok(document) => embedded(document.root()),
        Err(_) => Arguments::Malformed(text.to_owned()),
    }
}
