//! Tool use: `tool_calls`, the deprecated `function_call`, and tool definitions.

use chatmill_diag::{Limits, Severity, codes};
use chatmill_intake::json::{self, Kind, Value, append_key};
use chatmill_model::json::push_compact;
use chatmill_model::{ArgumentForm, Arguments, RawJson, ToolCall};

use crate::arguments::{arguments, word};
use crate::fragments;
use crate::notes::Site;

/// Fields without a place in the model, by path.
pub type Rest = Vec<(String, RawJson)>;

/// Reads `tool_calls`; `None` when it is no list of objects.
pub fn calls(
    list: Value<'_>,
    rest: &mut Rest,
    site: &mut Site<'_>,
    limits: &Limits,
) -> Option<Vec<ToolCall>> {
    if list.kind() != Kind::Array || list.items().any(|call| call.kind() != Kind::Object) {
        let text = "tool_calls is no list of objects and is kept as it is";
        site.wrong("tool_calls", text, Severity::Error, list);
        return None;
    }
    let calls = list
        .items()
        .enumerate()
        .map(|(index, value)| call(value, &format!("tool_calls[{index}]"), rest, site, limits));
    Some(fragments::join(calls.collect(), list, "tool_calls", site, limits))
}

fn call(value: Value<'_>, suffix: &str, rest: &mut Rest, site: &mut Site<'_>, limits: &Limits) -> ToolCall {
    let mut id = None;
    let mut function = None;
    let mut custom = None;
    for (key, field) in value.fields() {
        match &*key {
            "id" => id = Some(field),
            "function" if field.kind() == Kind::Object => function = Some(field),
            "custom" if field.kind() == Kind::Object => custom = Some(field),
            "type" if field.as_str().as_deref() == Some("function") => {}
            _ => keep(rest, suffix, &key, field),
        }
    }
    let id = word(id, &format!("{suffix}.id"), site);
    if let (None, Some(custom)) = (function, custom) {
        return own_input(id, custom, &format!("{suffix}.custom"), rest, site);
    }
    let suffix = format!("{suffix}.function");
    let Some(function) = function else {
        site.note(
            &codes::MISSING_FIELD,
            "the call has no function",
            format!(".{suffix}"),
            value,
        );
        return ToolCall {
            id,
            name: None,
            arguments: Arguments::Malformed(String::new()),
            form: ArgumentForm::Text,
            metadata_id: None,
        };
    };
    ToolCall {
        id,
        ..named(function, &suffix, rest, site, limits)
    }
}

/// The deprecated `function_call`, which has no id.
pub fn function_call(
    value: Value<'_>,
    rest: &mut Rest,
    site: &mut Site<'_>,
    limits: &Limits,
) -> Option<ToolCall> {
    if value.kind() != Kind::Object {
        let text = "function_call is no object and is kept as it is";
        site.wrong("function_call", text, Severity::Error, value);
        return None;
    }
    Some(named(value, "function_call", rest, site, limits))
}

fn named(
    function: Value<'_>,
    suffix: &str,
    rest: &mut Rest,
    site: &mut Site<'_>,
    limits: &Limits,
) -> ToolCall {
    let mut name = None;
    let mut given = None;
    for (key, field) in function.fields() {
        match &*key {
            "name" => name = Some(field),
            "arguments" => given = Some(field),
            _ => keep(rest, suffix, &key, field),
        }
    }
    let (arguments, form) = arguments(
        given.filter(|value| !value.is_null()),
        &format!("{suffix}.arguments"),
        site,
        limits,
    );
    ToolCall {
        id: None,
        name: word(name, &format!("{suffix}.name"), site),
        arguments,
        form,
        metadata_id: None,
    }
}

/// A custom tool, whose input is any text.
fn own_input(
    id: Option<String>,
    custom: Value<'_>,
    suffix: &str,
    rest: &mut Rest,
    site: &mut Site<'_>,
) -> ToolCall {
    let mut name = None;
    let mut input = String::new();
    for (key, field) in custom.fields() {
        match (&*key, field.as_str()) {
            ("name", _) => name = Some(field),
            ("input", Some(text)) => input = text.into_owned(),
            _ => keep(rest, suffix, &key, field),
        }
    }
    ToolCall {
        id,
        name: word(name, &format!("{suffix}.name"), site),
        arguments: Arguments::Malformed(input),
        form: ArgumentForm::Text,
        metadata_id: None,
    }
}

fn keep(rest: &mut Rest, suffix: &str, key: &str, field: Value<'_>) {
    if field.is_null() {
        return;
    }
    let mut path = suffix.to_owned();
    append_key(&mut path, key);
    rest.push((path, RawJson(field.raw().to_owned())));
}

/// Tool definitions as a list, or as a string that holds one; `None` for anything else.
pub fn given(value: Value<'_>, is_deprecated: bool, limits: &Limits) -> Option<Vec<RawJson>> {
    match value.kind() {
        Kind::Null => Some(Vec::new()),
        Kind::Array => Some(definitions(value, is_deprecated)),
        Kind::String => {
            let text = value.as_str()?;
            if text.trim().is_empty() {
                return Some(Vec::new());
            }
            let document = json::scan(text.as_bytes(), limits.depth).ok()?;
            let list = document.root();
            (list.kind() == Kind::Array).then(|| definitions(list, is_deprecated))
        }
        _ => None,
    }
}

/// Tool definitions; entries of the deprecated `functions` get the frame that `tools` has.
fn definitions(list: Value<'_>, is_deprecated: bool) -> Vec<RawJson> {
    list.items()
        .map(|tool| {
            if !is_deprecated {
                return RawJson(tool.raw().to_owned());
            }
            let mut framed = String::from("{\"type\":\"function\",\"function\":");
            push_compact(&mut framed, tool.raw());
            framed.push('}');
            RawJson(framed)
        })
        .collect()
}
