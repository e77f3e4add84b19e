//! Definitions of tools in datasets of function calls: parameters as a plain table, with Python's names of
//! types.
//!
//! ```json
//! {"name":"tide","description":"The tide.","parameters":{"port":{"description":"The port.","type":"str","default":"Porto"}}}
//! ```
//!
//! Such a table becomes the schema of an object: parameters without a default that are not marked optional
//! are required. smolagents writes it under `inputs`, Cohere's first API under `parameter_definitions`, and
//! Qwen-Agent as a list with names; the last two mark what is required. Every other definition is kept as
//! written; differences between vendors are handled by dialects.

use std::borrow::Cow;

use chatmill_diag::Limits;
use chatmill_intake::json::{self, Kind, Mark, Value};
use chatmill_model::RawJson;
use chatmill_model::json::{push_compact, push_string};

use crate::base::{ExtraFields, Keep as _, below, present, raw};

/// The deepest nesting of types: `List[List[int]]` is two deep.
const MOST_NESTED: u8 = 8;

/// The keys of tables, and whether what is required is marked in them.
const TABLES: [(&str, bool); 3] = [
    ("parameters", false),
    ("parameter_definitions", true),
    ("inputs", false),
];

/// A definition of a tool; a table of parameters becomes the schema that it describes.
pub(crate) fn definition(tool: Value<'_>) -> RawJson {
    let function = present(tool, "function").unwrap_or(tool);
    let mut tables = TABLES
        .iter()
        .filter_map(|table| Some((table, present(function, table.0)?)));
    // Where there are parameters, another key is something else.
    let table = tables.next().filter(|(_, found)| is_table(*found));
    let described = table.and_then(|((key, is_marked), table)| with_schema(tool, key, table, *is_marked));
    described.unwrap_or_else(|| raw(tool))
}

/// The definition with a schema in place of a table and its key.
fn with_schema(tool: Value<'_>, key: &str, table: Value<'_>, is_marked: bool) -> Option<RawJson> {
    let (start, end) = (tool.span().start, table.span());
    let written = tool.raw();
    let before = written.get(..end.start - start)?.trim_end().strip_suffix(':')?;
    let before = before.trim_end().strip_suffix('"')?.strip_suffix(key)?;
    let behind = written.get(end.end - start..)?;
    let is_marked = is_marked || table.kind() == Kind::Array;
    Some(RawJson(format!(
        "{before}parameters\":{}{behind}",
        schema(table, is_marked)
    )))
}

/// Whether parameters are a table: each is an object with a word as its type. In a schema `type` itself is a word, and the
/// value of `properties` is not a type.
fn is_table(parameters: Value<'_>) -> bool {
    let is_text = |found: Value<'_>, key| found.get(key).is_some_and(|word| word.kind() == Kind::String);
    let is_parameter = |(key, found): (_, Value<'_>)| key != "additionalProperties" && is_text(found, "type");
    let mut list = parameters.items();
    !parameters.is_empty()
        && match parameters.kind() {
            Kind::Object => parameters.fields().all(is_parameter),
            Kind::Array => list.all(|found| is_text(found, "name") && is_text(found, "type")),
            _ => false,
        }
}

/// The parameters of a table with their names.
fn parameters(table: Value<'_>) -> impl Iterator<Item = (Cow<'_, str>, Value<'_>)> {
    let listed = table.items();
    let listed = listed.filter_map(|found| Some((found.get("name")?.as_str()?, found)));
    table.fields().chain(listed)
}

/// The schema that a table describes.
fn schema(table: Value<'_>, is_marked: bool) -> String {
    let mut schema = String::from("{\"type\":\"object\",\"properties\":{");
    let mut required = String::new();
    for (number, (name, parameter)) in parameters(table).enumerate() {
        if number > 0 {
            schema.push(',');
        }
        push_string(&mut schema, &name);
        schema.push(':');
        let is_listed = table.kind() == Kind::Array;
        let is_required = property(&mut schema, parameter, is_listed);
        if is_required.unwrap_or(!is_marked) {
            required.push_str(if required.is_empty() { "" } else { "," });
            push_string(&mut required, &name);
        }
    }
    schema.push('}');
    if !required.is_empty() {
        schema.push_str(",\"required\":[");
        schema.push_str(&required);
        schema.push(']');
    }
    schema.push('}');
    schema
}

/// Writes the schema of a parameter, without its name in a list; returns whether it is required, if it has a mark for that.
fn property(schema: &mut String, parameter: Value<'_>, is_listed: bool) -> Option<bool> {
    let word = parameter.get("type").and_then(Value::as_str);
    let word = word.as_deref().map_or("", str::trim);
    let (word, is_optional) = match word.strip_suffix("optional").map(str::trim_end) {
        Some(word) => (word.trim_end_matches(','), true),
        None => (word, false),
    };
    let required = parameter.get("required").and_then(Value::as_bool);
    let mut is_first = true;
    schema.push('{');
    let mut key = |schema: &mut String, key: &str| {
        schema.push_str(if std::mem::take(&mut is_first) { "" } else { "," });
        push_string(schema, key);
        schema.push(':');
    };
    let JsonType { json, mut is_all } = json_type(word, MOST_NESTED);
    if !json.is_empty() {
        key(schema, "type");
        schema.push_str(&json);
    }
    for (name, value) in parameter.fields() {
        match &*name {
            "type" => {}
            "name" if is_listed => {}
            "required" if required.is_some() => {}
            // Parts of a type that JSON Schema cannot express are added to the description.
            "description" if !is_all && value.kind() == Kind::String => {
                is_all = true;
                key(schema, "description");
                let text = value.as_str();
                let text = text.as_deref().filter(|text| !text.is_empty());
                let described = text.map_or_else(|| word.to_owned(), |text| format!("{text} ({word})"));
                push_string(schema, &described);
            }
            _ => {
                key(schema, &name);
                schema.push_str(value.raw());
            }
        }
    }
    if !is_all {
        key(schema, "description");
        push_string(schema, word);
    }
    schema.push('}');
    let has_default = parameter.get("default").is_some();
    let is_nullable = parameter.get("nullable").and_then(Value::as_bool) == Some(true);
    let is_left_out = is_optional || word.starts_with("Optional[") || has_default || is_nullable;
    required.or(is_left_out.then_some(false))
}

/// A type as JSON Schema writes it.
#[derive(Default)]
struct JsonType {
    /// The JSON after `"type":`, and for lists the type of their elements; empty if any type is allowed.
    json: String,
    /// Whether the JSON expresses the whole type.
    is_all: bool,
}

/// The JSON type for a type name of Python.
fn json_type(word: &str, depth: u8) -> JsonType {
    let Some(depth) = depth.checked_sub(1) else {
        return JsonType::default();
    };
    let (outer, inner) = match word.split_once('[') {
        Some((outer, inner)) => (outer, inner.strip_suffix(']').map(str::trim)),
        None => (word, None),
    };
    let json = match outer.trim().to_ascii_lowercase().as_str() {
        "str" | "string" => "\"string\"",
        "int" | "integer" => "\"integer\"",
        "float" | "number" | "double" => "\"number\"",
        "bool" | "boolean" => "\"boolean\"",
        "dict" | "object" => "\"object\"",
        "none" | "null" => "\"null\"",
        "any" => "",
        "optional" => return inner.map_or_else(JsonType::default, |inner| json_type(inner, depth)),
        "list" | "array" | "tuple" | "set" => {
            let inner_type = inner.map_or_else(JsonType::default, |inner| json_type(inner, depth));
            let json = match inner_type.json.as_str() {
                "" => "\"array\"".to_owned(),
                inner_type => format!("\"array\",\"items\":{{\"type\":{inner_type}}}"),
            };
            return JsonType {
                json,
                is_all: inner_type.is_all || outer.len() == word.len(),
            };
        }
        _ => return JsonType::default(),
    };
    JsonType {
        json: json.to_owned(),
        is_all: outer.len() == word.len(),
    }
}

/// Tool definitions, and the fields next to them.
type Tools = (Vec<RawJson>, ExtraFields);

/// The definitions in a list. A definition that is the JSON text of an object, as in columns of JSON, is read as that object.
fn definitions(list: Value<'_>, limits: &Limits) -> Vec<RawJson> {
    let defined = |tool: Value<'_>| {
        let text = tool.string().filter(|text| text.trim_start().starts_with('{'))?;
        let document = json::scan(text.as_bytes(), limits.depth).ok()?;
        let is_object = document.root().kind() == Kind::Object && tool.as_str().is_some();
        is_object.then(|| definition(document.root()))
    };
    let tools = list.items();
    tools
        .map(|tool| defined(tool).unwrap_or_else(|| definition(tool)))
        .collect()
}

/// Definitions of tools in a list, or in a string with the JSON of one; `None` for anything else.
pub(crate) fn list_of_tools(value: Value<'_>, limits: &Limits) -> Option<Vec<RawJson>> {
    match value.kind() {
        Kind::Null => Some(Vec::new()),
        Kind::Array => Some(definitions(value, limits)),
        Kind::String => {
            let text = value.string()?;
            if text.trim().is_empty() {
                return Some(Vec::new());
            }
            let document = json::scan(text.as_bytes(), limits.depth).ok()?;
            let list = Some(document.root()).filter(|list| list.kind() == Kind::Array)?;
            value.mark(Mark::Taken);
            Some(definitions(list, limits))
        }
        Kind::Bool(_) | Kind::Number | Kind::Object => None,
    }
}

/// Tool definitions in the forms of vendors: such a list, or an object with a list in `tools`. Entries of the deprecated
/// `functions` get the frame of entries in `tools`.
pub(crate) fn tools_of_vendor(key: &str, value: Value<'_>, limits: &Limits) -> Option<Tools> {
    let mut rest = ExtraFields::new();
    let tools = if value.kind() == Kind::Object {
        let tools = value.get("tools").filter(|tools| tools.kind() == Kind::Array)?;
        for (inner, field) in value.fields().filter(|(inner, _)| inner != "tools") {
            rest.keep(below(key, &inner), field);
        }
        definitions(tools, limits)
    } else {
        list_of_tools(value, limits)?
    };
    let framed = |tool: RawJson| {
        let mut framed = String::from("{\"type\":\"function\",\"function\":");
        push_compact(&mut framed, tool.as_str());
        framed.push('}');
        RawJson(framed)
    };
    let tools = if key == "functions" {
        tools.into_iter().map(framed).collect()
    } else {
        tools
    };
    Some((tools, rest))
}

#[cfg(test)]
mod tests {
    use chatmill_intake::json;

    use super::*;

    fn defined(tool: &str) -> String {
        let document = json::scan(tool.as_bytes(), 32).unwrap();
        definition(document.root()).0
    }

    #[test]
    fn a_table_of_parameters_becomes_the_schema_that_it_means() {
        let tool = r#"{"name":"tide", "parameters": {"port":{"description":"The port.","type":"str","default":"Porto"},
            "day":{"type":"int, optional"},"heights":{"type":"List[float]","description":""},"all":{"type":"bool","required":true}} }"#;
        let wanted = concat!(
            r#"{"name":"tide", "parameters":{"type":"object","properties":{"#,
            r#""port":{"type":"string","description":"The port.","default":"Porto"},"day":{"type":"integer"},"#,
            r#""heights":{"type":"array","items":{"type":"number"},"description":""},"all":{"type":"boolean"}},"#,
            r#""required":["heights","all"]} }"#
        );
        assert_eq!(defined(tool), wanted);
        let nested = format!(r#"{{"type":"function","function":{tool}}}"#);
        assert_eq!(
            defined(&nested),
            format!(r#"{{"type":"function","function":{wanted}}}"#)
        );
    }

    #[test]
    fn tables_under_other_keys_and_lists_of_parameters_become_schemas_too() {
        let port = r#""port":{"type":"string","description":"d"}"#;
        let written = |rest: &str| format!(r#"{{"name":"tide","parameters":{rest}}}"#);
        let schema = |rest: &str| written(&format!(r#"{{"type":"object","properties":{{{rest}}}"#));
        let day = r#""day":{"type":"integer"}"#;
        for (tool, wanted) in [
            (
                r#"{"name":"tide","parameter_definitions" : {"port":{"type":"str","description":"d","required":true},"day":{"type":"int"}}}"#,
                schema(&format!(r#"{port},{day}}},"required":["port"]"#)),
            ),
            (
                r#"{"name":"tide","parameters":[{"name":"port","type":"string","description":"d","required":true},{"name":"day","type":"integer"}]}"#,
                schema(&format!(r#"{port},{day}}},"required":["port"]"#)),
            ),
            (
                r#"{"name":"tide","inputs":{"port":{"type":"string","description":"d"},"day":{"type":"integer","nullable":true}}}"#,
                schema(
                    &format!(r#"{port},{day}}},"required":["port"]"#)
                        .replace(r#""integer""#, r#""integer","nullable":true"#),
                ),
            ),
        ] {
            assert_eq!(defined(tool), wanted);
        }
        for tool in [
            r#"{"name":"tide","inputs":["port"]}"#,
            r#"{"name":"tide","parameters":{"type":"object"},"inputs":{"port":{"type":"string"}}}"#,
            r#"{"name":"tide","parameters":[{"name":"port"}]}"#,
            r#"{"name":"tide","parameter_definitions":{}}"#,
        ] {
            assert_eq!(defined(tool), tool);
        }
    }

    #[test]
    fn definitions_may_be_json_texts() {
        let list = r#"["{\"name\":\"tide\"}", {"name":"wind"}, "tide", "{tide"]"#;
        let document = json::scan(list.as_bytes(), 32).unwrap();
        let found = list_of_tools(document.root(), &Limits::default()).unwrap();
        let found: Vec<&str> = found.iter().map(RawJson::as_str).collect();
        assert_eq!(
            found,
            [
                r#"{"name":"tide"}"#,
                r#"{"name":"wind"}"#,
                r#""tide""#,
                r#""{tide""#
            ]
        );
    }

    #[test]
    fn python_types_become_json_types_and_others_go_to_the_description() {
        for (word, wanted) in [
            ("Optional[str]", r#""type":"string""#),
            (
                "List[List[int]]",
                r#""type":"array","items":{"type":"array","items":{"type":"integer"}}"#,
            ),
            ("List[Any]", r#""type":"array""#),
            ("dict", r#""type":"object""#),
            ("np.ndarray", r#""description":"np.ndarray""#),
            ("Any", ""),
        ] {
            let tool = format!(r#"{{"name":"f","parameters":{{"a":{{"type":"{word}","default":0}}}}}}"#);
            let separator = if wanted.is_empty() { "" } else { "," };
            let described = wanted.starts_with("\"description\"");
            let property = if described {
                format!("\"default\":0,{wanted}")
            } else {
                format!("{wanted}{separator}\"default\":0")
            };
            let schema = format!(r#"{{"type":"object","properties":{{"a":{{{property}}}}}}}"#);
            assert_eq!(
                defined(&tool),
                format!(r#"{{"name":"f","parameters":{schema}}}"#),
                "{word}"
            );
        }
        let schema = defined(r#"{"name":"f","parameters":{"a":{"type":"Callable","description":"What."}}}"#);
        assert!(
            schema.contains(r#"{"description":"What. (Callable)"}},"required":["a"]"#),
            "{schema}"
        );
        let schema = defined(r#"{"name":"f","parameters":{"a":{"type":"Dict[str, int]","description":""}}}"#);
        assert!(
            schema.contains(r#"{"type":"object","description":"Dict[str, int]"}"#),
            "{schema}"
        );
    }

    #[test]
    fn schemas_stay_as_they_are_written() {
        for parameters in [
            r#"{"type":"object","properties":{"type":{"type":"string"}}}"#,
            r#"{"properties":{"type":{"type":"string"}}}"#,
            r#"{"properties":{}, "additionalProperties":{"type":"string"}}"#,
            r#"{"additionalProperties":{"type":"string"}}"#,
            "{}",
            "[]",
            r#"{"a":{"type":["string","null"]}}"#,
            r#""none""#,
        ] {
            let tool = format!(r#"{{"name":"f","parameters":{parameters}}}"#);
            assert_eq!(defined(&tool), tool);
        }
    }

    #[test]
    fn ten_thousand_nested_lists_become_a_description() {
        let word = format!("{}int{}", "List[".repeat(10_000), "]".repeat(10_000));
        let schema = defined(&format!(
            r#"{{"name":"f","parameters":{{"a":{{"type":"{word}"}}}}}}"#
        ));
        assert!(
            schema.contains("\"items\"") && schema.len() < 70_000,
            "{}",
            schema.len()
        );
    }
}
