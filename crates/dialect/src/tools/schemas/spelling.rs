//! Words that Gemini and Python write for those of JSON Schema.
//!
//! <https://ai.google.dev/api/caching#Schema> writes types in upper case, sizes as texts (`int64`) and `nullable` for a type `null`;
//! <https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Schema> has `ref` and `defs` as well, and an enumeration of
//! integers as texts. Python's package dumps all keys in snake case. All read 2026-11.

use serde_json::{Map, Value};

use crate::tools::schemas::keywords::{Holds, each_inner, holds, is_of};

/// Keys that mean the same as one of JSON Schema or of Gemini's REST API.
const KEYS: [(&str, &str); 11] = [
    ("any_of", "anyOf"),
    ("additional_properties", "additionalProperties"),
    ("min_items", "minItems"),
    ("max_items", "maxItems"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("min_properties", "minProperties"),
    ("max_properties", "maxProperties"),
    ("property_ordering", "propertyOrdering"),
    ("defs", "$defs"),
    ("ref", "$ref"),
];

/// Respells keys, types, sizes and references in the words of JSON Schema; returns whether there were any.
pub(crate) fn respell(schema: &mut Map<String, Value>) -> bool {
    let mut any = rename(schema);
    for (key, value) in &mut *schema {
        any |= match (holds(key), value) {
            (Some(Holds::Types), Value::Array(words)) => words
                .iter_mut()
                .fold(false, |any, word| any | replace(word, type_of)),
            (Some(Holds::Types), word) => replace(word, type_of),
            (Some(Holds::Size), size) => replace(size, number::<u64>),
            (Some(Holds::Text), place) if key == "$ref" => replace(place, pointer),
            _ => false,
        };
    }
    each_inner(schema, &|_| true, &mut |schema| any |= respell(schema));
    any
}

/// Writes what only Gemini has, `nullable` and enumerations of numbers as texts, in JSON Schema; returns whether there was any. The schema
/// is respelled already.
pub(crate) fn translate(schema: &mut Map<String, Value>) -> bool {
    let (is_integer, is_number) = (is_of(schema, "integer"), is_of(schema, "number"));
    let value = |text: &str| {
        let integer = number::<i64>(text).filter(|_| is_integer || is_number);
        integer.or_else(|| number::<f64>(text).filter(|_| is_number))
    };
    let mut any = false;
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && values.iter().all(|text| text.as_str().and_then(value).is_some())
    {
        any = values
            .iter_mut()
            .fold(any, |any, text| any | replace(text, value));
    }
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        schema.shift_remove("nullable");
        take_null(schema);
        any = true;
    }
    each_inner(schema, &|_| true, &mut |schema| any |= translate(schema));
    any
}

/// Lets a schema take null under each keyword that decides about it.
fn take_null(schema: &mut Map<String, Value>) {
    let null = || Map::from_iter([("type".to_owned(), Value::from("null"))]).into();
    for key in ["$ref", "allOf"] {
        if !schema.contains_key("anyOf")
            && let Some(value) = schema.shift_remove(key)
        {
            let only = Map::from_iter([(key.to_owned(), value)]).into();
            schema.insert("anyOf".to_owned(), Value::Array(vec![only]));
        }
    }
    for (key, value) in schema {
        let null = match key.as_str() {
            "type" => Value::from("null"),
            "enum" => Value::Null,
            "anyOf" | "oneOf" => null(),
            _ => continue,
        };
        match value {
            Value::Array(values) if values.contains(&null) => {}
            Value::Array(values) => values.push(null),
            Value::String(_) => *value = Value::Array(vec![value.take(), null]),
            _ => {}
        }
    }
}

/// Gives keys their names in JSON Schema, unless the schema has a key of that name; returns whether there were any.
fn rename(schema: &mut Map<String, Value>) -> bool {
    let name = |key: &str, value: &Value| {
        let (_, name) = KEYS.iter().find(|(own, _)| *own == key)?;
        let is_meant = match *name {
            "$ref" => value.as_str().is_some_and(|place| place.starts_with("#/")),
            "$defs" => value.is_object(),
            _ => true,
        };
        is_meant.then_some(*name)
    };
    let names = schema.iter().map(|(key, value)| name(key, value));
    let names: Vec<Option<&str>> = names
        .map(|name| name.filter(|name| !schema.contains_key(*name)))
        .collect();
    let any = names.iter().any(Option::is_some);
    if any {
        let fields = std::mem::take(schema).into_iter().zip(names);
        schema.extend(fields.map(|((key, value), name)| (name.map_or(key, str::to_owned), value)));
    }
    any
}

/// Replaces a text for which there is another value; returns whether there is.
fn replace(value: &mut Value, other: impl Fn(&str) -> Option<Value>) -> bool {
    let other = value.as_str().and_then(other);
    other.map(|other| *value = other).is_some()
}

fn type_of(word: &str) -> Option<Value> {
    respelled(word).map(Value::from)
}

/// Returns the number that a text writes.
fn number<N: std::str::FromStr + Into<Value>>(text: &str) -> Option<Value> {
    text.parse::<N>().ok().map(Into::into)
}

fn pointer(place: &str) -> Option<Value> {
    let rest = place.strip_prefix("#/defs/")?;
    Some(Value::from(format!("#/$defs/{rest}")))
}

/// Returns the word of JSON Schema for a type of Gemini or Python.
pub(crate) fn respelled(word: &str) -> Option<&'static str> {
    Some(match word {
        "OBJECT" | "dict" => "object",
        "ARRAY" | "list" | "tuple" => "array",
        "STRING" | "str" => "string",
        "NUMBER" | "float" => "number",
        "INTEGER" | "int" => "integer",
        "BOOLEAN" | "bool" => "boolean",
        "NULL" => "null",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schema of a property, respelled, and translated.
    fn both(raw: &str) -> [String; 2] {
        let raw = format!(r#"{{"properties":{{"p":{raw}}}}}"#);
        let Ok(Value::Object(mut schema)) = serde_json::from_str(&raw) else {
            panic!("an object: {raw}")
        };
        let before = Value::Object(schema.clone());
        let written = |schema: &Map<String, Value>| schema["properties"]["p"].to_string();
        let is_respelled = respell(&mut schema);
        assert_eq!(is_respelled, before != Value::Object(schema.clone()), "{raw}");
        let (respelled, before) = (written(&schema), schema.clone());
        assert_eq!(translate(&mut schema), before != schema, "{raw}");
        [respelled, written(&schema)]
    }

    #[test]
    fn keys_sizes_types_and_references_have_the_words_of_json_schema() {
        for (raw, respelled) in [
            (
                r#"{"any_of":[{"type":"STRING","min_length":"1"},{"type":"NULL"}]}"#,
                r#"{"anyOf":[{"type":"string","minLength":1},{"type":"null"}]}"#,
            ),
            (
                r#"{"type":"tuple","minItems":"1","max_items":3,"items":{"type":["int","str"]}}"#,
                r#"{"type":"array","minItems":1,"maxItems":3,"items":{"type":["integer","string"]}}"#,
            ),
            (
                r##"{"ref":"#/defs/P","defs":{"P":{"type":"STRING"}}}"##,
                r##"{"$ref":"#/$defs/P","$defs":{"P":{"type":"string"}}}"##,
            ),
            (
                r#"{"type":"object","additional_properties":{"type":"dict"},"property_ordering":["a"]}"#,
                r#"{"type":"object","additionalProperties":{"type":"object"},"propertyOrdering":["a"]}"#,
            ),
        ] {
            assert_eq!(both(raw)[0], respelled);
        }
    }

    #[test]
    fn names_of_properties_and_values_of_other_keys_stay() {
        for raw in [
            r#"{"type":"object","properties":{"any_of":{"type":"string"},"ref":{},"nullable":{"enum":["STRING"]}},"required":["min_items"]}"#,
            r#"{"ref":"a page","defs":[],"minItems":"some","minimum":"1","default":{"min_items":"1","nullable":true}}"#,
            r#"{"min_items":"1","minItems":2,"nullable":false,"enum":["101"]}"#,
        ] {
            assert_eq!(both(raw), [raw, raw]);
        }
    }

    #[test]
    fn what_is_nullable_takes_null_and_numbers_as_texts_are_numbers() {
        for (raw, translated) in [
            (
                r#"{"type":"string","nullable":true}"#,
                r#"{"type":["string","null"]}"#,
            ),
            (
                r#"{"type":"string","nullable":true,"enum":["a"]}"#,
                r#"{"type":["string","null"],"enum":["a",null]}"#,
            ),
            (
                r#"{"nullable":true,"anyOf":[{"type":"string"},{"type":"null"}]}"#,
                r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            ),
            (
                r#"{"nullable":true,"type":"string","oneOf":[{"pattern":"a"}]}"#,
                r#"{"type":["string","null"],"oneOf":[{"pattern":"a"},{"type":"null"}]}"#,
            ),
            (
                r##"{"$ref":"#/$defs/P","nullable":true}"##,
                r##"{"anyOf":[{"$ref":"#/$defs/P"},{"type":"null"}]}"##,
            ),
            (
                r#"{"type":"INTEGER","format":"enum","enum":["101","-2"]}"#,
                r#"{"type":"integer","format":"enum","enum":[101,-2]}"#,
            ),
            (
                r#"{"type":"number","enum":["1","0.5"],"nullable":true}"#,
                r#"{"type":["number","null"],"enum":[1,0.5,null]}"#,
            ),
            (
                r#"{"type":"integer","enum":["1","one"]}"#,
                r#"{"type":"integer","enum":["1","one"]}"#,
            ),
        ] {
            assert_eq!(both(raw)[1], translated);
        }
    }
}
