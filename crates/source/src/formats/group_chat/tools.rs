//! Tool use, for which the format has no place: our extension of `extra`.
//!
//! An assistant message carries `extra.tool_calls` as OpenAI writes them; a message of role `tool` names its call
//! in `extra.tool_call_id` and the tool in `extra.name`.

use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::ToolCall;

use crate::base::{Site, word};

/// Reads `extra.tool_calls`; `None` when it is not a list of objects and therefore stays in `extra`.
pub(super) fn calls(list: Value<'_>, site: &mut Site<'_>) -> Option<Vec<ToolCall>> {
    if list.kind() != Kind::Array || list.items().any(|call| call.kind() != Kind::Object) {
        if !list.is_null() {
            let text = "tool_calls is not a list of objects and stays as it is";
            site.warn("extra.tool_calls", text, list);
        }
        return None;
    }
    let calls = list
        .items()
        .enumerate()
        .map(|(index, value)| call(value, &format!("extra.tool_calls[{index}]"), site));
    Some(calls.collect())
}

fn call(value: Value<'_>, suffix: &str, site: &mut Site<'_>) -> ToolCall {
    for (key, field) in value.fields() {
        match &*key {
            "id" | "function" => {}
            "type" if field.as_str().as_deref() == Some("function") => {}
            _ => report_left_out(field, suffix, &key, site),
        }
    }
    let function = value.get("function");
    let of_function = |key: &str| function.and_then(|function| function.get(key));
    for (key, field) in function.into_iter().flat_map(Value::fields) {
        if !matches!(&*key, "name" | "arguments") {
            report_left_out(field, &format!("{suffix}.function"), &key, site);
        }
    }
    let place = format!("{suffix}.function.arguments");
    let arguments = crate::base::arguments(of_function("arguments"), &place, site);
    let id = word(value.get("id"), &format!("{suffix}.id"), site);
    let name = word(of_function("name"), &format!("{suffix}.function.name"), site);
    ToolCall::new(id, name, arguments)
}

/// Reports a field of a call that has no place in the model.
fn report_left_out(field: Value<'_>, suffix: &str, key: &str, site: &mut Site<'_>) {
    let mut place = suffix.to_owned();
    json::append_key(&mut place, key);
    let text = "the field has no place in a tool call and is left out";
    site.warn(&place, text, field);
}
