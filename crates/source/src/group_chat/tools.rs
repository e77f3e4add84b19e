//! Tool use, for which the format has no place: our extension of `extra`.
//!
//! An assistant message carries `extra.tool_calls` as OpenAI writes them; a message of role `tool` names its call
//! in `extra.tool_call_id` and the tool in `extra.name`.

use std::borrow::Cow;

use chatmill_diag::{Limits, Severity, codes};
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::{ArgumentForm, Arguments, RawJson, ToolCall};

use super::notes::Site;
use super::wire::{Taken, taken};

/// Reads `extra.tool_calls`; `None` when it is no list of objects and therefore stays in `extra`.
pub fn calls(list: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Option<Vec<ToolCall>> {
    if list.kind() != Kind::Array || list.items().any(|call| call.kind() != Kind::Object) {
        if !list.is_null() {
            let text = "tool_calls is no list of objects and stays as it is";
            site.wrong("extra.tool_calls", text, Severity::Warning, list);
        }
        return None;
    }
    let calls = list
        .items()
        .enumerate()
        .map(|(index, value)| call(value, &format!("extra.tool_calls[{index}]"), site, limits));
    Some(calls.collect())
}

fn call(value: Value<'_>, suffix: &str, site: &mut Site<'_>, limits: &Limits) -> ToolCall {
    let mut id = None;
    let mut function = None;
    for (key, field) in value.fields() {
        match &*key {
            "id" => id = Some(field),
            "function" => function = Some(field),
            "type" if field.as_str().as_deref() == Some("function") => {}
            _ => homeless(field, suffix, &key, site),
        }
    }
    let mut name = None;
    let mut arguments = None;
    for (key, field) in function.iter().flat_map(|function| function.fields()) {
        match &*key {
            "name" => name = Some(field),
            "arguments" => arguments = Some(field),
            _ => homeless(field, &format!("{suffix}.function"), &key, site),
        }
    }
    let place = format!(".{suffix}.function.arguments");
    let (arguments, form) = match arguments {
        None => (Arguments::Malformed(String::new()), ArgumentForm::Text),
        Some(field) => match field.as_str() {
            Some(text) => (classify(text, &place, field, site, limits), ArgumentForm::Text),
            None => (embedded(field), ArgumentForm::Embedded),
        },
    };
    ToolCall {
        id: word(id, &format!("{suffix}.id"), site),
        name: word(name, &format!("{suffix}.function.name"), site),
        arguments,
        form,
    }
}

/// A field of a call that the model cannot hold.
fn homeless(field: Value<'_>, suffix: &str, key: &str, site: &mut Site<'_>) {
    let mut place = suffix.to_owned();
    json::append_key(&mut place, key);
    let text = "the field has no place in a tool call and is left out";
    site.wrong(&place, text, Severity::Warning, field);
}

/// An id or a name: a string that is not empty, or a number as written.
pub fn word(value: Option<Value<'_>>, suffix: &str, site: &mut Site<'_>) -> Option<String> {
    let present = value?;
    match taken(value) {
        Taken::Text(text) if !text.is_empty() => Some(text.into_owned()),
        Taken::Absent | Taken::Null | Taken::Text(_) => None,
        Taken::Number(number) => {
            site.wrong(
                suffix,
                "a number stands where the format has a string",
                Severity::Warning,
                present,
            );
            Some(number.to_owned())
        }
        Taken::Other => {
            site.wrong(
                suffix,
                "the value is no string and is left out",
                Severity::Warning,
                present,
            );
            None
        }
    }
}

fn embedded(value: Value<'_>) -> Arguments {
    let raw = RawJson(value.raw().to_owned());
    if value.kind() == Kind::Object {
        Arguments::Object(raw)
    } else {
        Arguments::NotObject(raw)
    }
}

/// Says what arguments in a string are. Lone surrogates inside them are repaired, as in the record itself.
fn classify(
    text: Cow<'_, str>,
    place: &str,
    value: Value<'_>,
    site: &mut Site<'_>,
    limits: &Limits,
) -> Arguments {
    let (is_object, repaired) = match json::scan(text.as_bytes(), limits.depth) {
        Err(_) => return Arguments::Malformed(text.into_owned()),
        Ok(document) => {
            let is_repaired = document
                .notes()
                .iter()
                .any(|note| note.code == &codes::LONE_SURROGATE);
            let repaired = is_repaired.then(|| document.text().to_owned());
            (document.root().kind() == Kind::Object, repaired)
        }
    };
    if repaired.is_some() {
        let message = "an escape in the arguments is half a surrogate pair and reads U+FFFD";
        site.note(&codes::LONE_SURROGATE, message, place, value);
    }
    let raw = RawJson(repaired.unwrap_or_else(|| text.into_owned()));
    if is_object {
        Arguments::Object(raw)
    } else {
        Arguments::NotObject(raw)
    }
}
