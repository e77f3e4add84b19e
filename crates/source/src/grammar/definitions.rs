//! Definitions of tools in datasets of function calls: parameters as a plain table, with Python's names of
//! types.
//!
//! ```json
//! {"name":"tide","description":"The tide.","parameters":{"port":{"description":"The port.","type":"str","default":"Porto"}}}
//! ```
//!
//! Such a table becomes the schema of an object: parameters without a default that are not marked optional
//! are required. Every other definition is kept as written; differences between vendors are handled by
//! dialects.

use chatmill_diag::Limits;
use chatmill_intake::json::{self, Kind, Mark, Value};
use chatmill_model::RawJson;
use chatmill_model::json::{push_compact, push_string};

use crate::base::{ExtraFields, Keep as _, below, present, raw};

/// The deepest nesting of types: `List[List[int]]` is two deep.
const MOST_NESTED: u8 = 8;

/// A definition of a tool; a table of parameters becomes the schema that it describes.
pub(crate) fn definition(tool: Value<'_>) -> RawJson {
    let function = present(tool, "function").unwrap_or(tool);
    let table = function.get("parameters").filter(|found| is_table(*found));
    let Some(table) = table else { return raw(tool) };
    let (start, end) = (tool.span().start, table.span());
    let written = tool.raw();
    let around = written
        .get(..end.start - start)
        .zip(written.get(end.end - start..));
    let Some((before, behind)) = around else {
        return raw(tool);
    };
    RawJson(format!("{before}{}{behind}", schema(table)))
}

/// Whether parameters are a table: each is an object with a word as its type. In a schema `type` itself is a word, and the
/// value of `properties` is not a type.
fn is_table(parameters: Value<'_>) -> bool {
    let is_parameter = |(key, found): (_, Value<'_>)| {
        key != "additionalProperties" && found.get("type").is_some_and(|word| word.kind() == Kind::String)
    };
    parameters.kind() == Kind::Object && !parameters.is_empty() && parameters.fields().all(is_parameter)
}

/// The schema that a table describes.
fn schema(table: Value<'_>) -> String {
    let mut schema = String::from("{\"type\":\"object\",\"properties\":{");
    let mut required = String::new();
    for (number, (name, parameter)) in table.fields().enumerate() {
        if number > 0 {
            schema.push(',');
        }
        push_string(&mut schema, &name);
        schema.push(':');
        if property(&mut schema, parameter) {
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

/// Writes the schema of a parameter; returns whether it is required.
fn property(schema: &mut String, parameter: Value<'_>) -> bool {
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
    required.unwrap_or(!is_optional && !word.starts_with("Optional[") && !has_default)
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
            r#"{"name":"tide", "parameters": {"type":"object","properties":{"#,
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
