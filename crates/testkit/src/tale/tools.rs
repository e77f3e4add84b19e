//! Definitions of tools, whoever's form they have.

use serde_json::Value;

use super::Label;

/// The definition of a tool: name, description, parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: Label,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub parameters: Option<Value>,
    /// Whether a rendering writes that in another way.
    pub is_reshaped: bool,
}

/// The definitions in one value, whoever's form it has.
pub(super) fn tools(raw: &str) -> Vec<Option<Tool>> {
    let Ok(value) = serde_json::from_str::<Value>(raw) else {
        return vec![None];
    };
    let lists = ["functionDeclarations", "function_declarations"];
    if let Some(list) = lists.iter().find_map(|key| value[*key].as_array()) {
        return list.iter().flat_map(|tool| tools(&tool.to_string())).collect();
    }
    let inner = ["function", "toolSpec"]
        .iter()
        .find_map(|key| value.get(*key))
        .unwrap_or(&value);
    let Some(name) = inner["name"].as_str().filter(|name| !name.is_empty()) else {
        return vec![None];
    };
    let keys = ["parameters", "input_schema", "inputSchema"];
    let parameters = keys.iter().find_map(|key| inner.get(*key));
    let parameters = parameters.map(|found| found.get("json").unwrap_or(found).clone());
    vec![Some(Tool {
        name: Label::Exact(Some(name.to_owned())),
        // An empty text says nothing.
        description: inner["description"]
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned),
        parameters: parameters.filter(|schema| schema.is_object() && !asks_nothing(schema)),
        is_reshaped: false,
    })]
}

/// Whether a tool takes an object of which nothing is said: it is as if it said nothing of what it takes.
fn asks_nothing(schema: &Value) -> bool {
    let is_plain = |(key, value): (&String, &Value)| match key.as_str() {
        "type" => value == "object" || value == "OBJECT",
        "properties" => value.as_object().is_some_and(serde_json::Map::is_empty),
        _ => false,
    };
    schema
        .as_object()
        .is_some_and(|fields| fields.iter().all(is_plain))
}
