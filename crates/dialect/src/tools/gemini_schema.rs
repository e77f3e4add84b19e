//! Parameters of a function in Gemini's subset of JSON Schema.
//!
//! Types are upper-case words, `null` among them is `nullable`, a constant is an enumeration of one, and `oneOf` is
//! `anyOf`. Definitions that a schema refers to are written where they are used, as deep as [`MAX_DEPTH`]. What the subset
//! has no word for, and what only bounds a value, is left out and counted. A schema that the subset cannot hold without taking less
//! than it took, or that the API refuses, is none of it: it has a type everywhere, `items` in each array, nothing next to `anyOf` but
//! `title`, `description` and `nullable`, no empty word in an enumeration and no union at the root.

use serde_json::{Map, Value};

use super::json_schema::respelled;

/// Levels of a schema; one that refers to itself ends here.
const MAX_DEPTH: u8 = 12;

/// Schemas that one definition may become: references that multiply end here.
const MAX_SCHEMAS: u32 = 2_000;

/// Keys that the subset has and writes alike.
const KNOWN: [&str; 13] = [
    "title",
    "description",
    "default",
    "nullable",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// Keys that the API takes together with `anyOf`.
const BESIDE_UNIONS: [&str; 4] = ["anyOf", "title", "description", "nullable"];

/// What became of a schema.
#[derive(Debug, PartialEq)]
pub(crate) struct Converted {
    /// The schema; none where the function takes nothing, or where its parameters are not an object.
    pub(crate) schema: Option<String>,
    /// Constraints that are left out.
    pub(crate) dropped: u64,
    /// What the subset cannot hold; none where it holds the schema.
    pub(crate) problem: Option<&'static str>,
}

/// Converts the parameters of a function.
pub(crate) fn convert(raw: &str) -> Converted {
    // What is no JSON defines nothing.
    let root: Value = serde_json::from_str(raw).unwrap_or_default();
    let mut converter = Converter {
        root: &root,
        dropped: 0,
        problem: None,
        left: MAX_SCHEMAS,
    };
    let mut schema = converter.schema(&root, 0);
    if schema.contains_key("anyOf") {
        converter.refuse("there is a union at the root");
    }
    let takes_some = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|properties| !properties.is_empty());
    let is_object = schema.get("type").is_none_or(|kind| kind == "OBJECT");
    if !is_object {
        converter.dropped += 1;
    }
    if takes_some && !schema.contains_key("type") {
        schema.insert("type".to_owned(), "OBJECT".into());
        converter.dropped += 1;
    }
    Converted {
        schema: (takes_some && is_object).then(|| Value::Object(schema).to_string()),
        dropped: converter.dropped,
        problem: converter.problem,
    }
}

struct Converter<'r> {
    root: &'r Value,
    dropped: u64,
    problem: Option<&'static str>,
    left: u32,
}

impl Converter<'_> {
    fn refuse(&mut self, problem: &'static str) {
        self.problem.get_or_insert(problem);
    }

    fn schema(&mut self, source: &Value, depth: u8) -> Map<String, Value> {
        let mut schema = Map::new();
        let Value::Object(fields) = source else {
            self.refuse("a schema has no type");
            return schema;
        };
        if depth >= MAX_DEPTH || self.left == 0 {
            self.refuse("it is too deep, or holds itself");
            return schema;
        }
        self.left -= 1;
        for (key, value) in fields {
            self.field(&mut schema, key, value, depth);
        }
        self.check(&mut schema, depth);
        schema
    }

    fn field(&mut self, schema: &mut Map<String, Value>, key: &str, value: &Value, depth: u8) {
        match (key, value) {
            ("type", _) => self.kind(schema, value),
            ("$ref", Value::String(path)) => self.reference(schema, path, depth),
            ("$defs" | "definitions", _) => {}
            ("enum", Value::Array(values)) => self.values(schema, values),
            ("const", value) => self.values(schema, std::slice::from_ref(value)),
            ("format", _) => {
                schema.insert("format".to_owned(), value.clone());
            }
            ("properties", Value::Object(properties)) => {
                let mut converted = Map::new();
                for (name, property) in properties {
                    let property = self.schema(property, depth + 1);
                    converted.insert(name.clone(), Value::Object(property));
                }
                schema.insert("properties".to_owned(), Value::Object(converted));
            }
            ("items" | "prefixItems", Value::Array(_) | Value::Bool(_)) => {
                self.refuse("an array has no schema of its items");
            }
            ("items", Value::Object(_)) => {
                let items = self.schema(value, depth + 1);
                schema.insert("items".to_owned(), Value::Object(items));
            }
            ("anyOf" | "oneOf", Value::Array(options)) => {
                self.dropped += u64::from(key == "oneOf");
                self.options(schema, options, depth);
            }
            ("allOf", Value::Array(all)) if all.len() == 1 => {
                for only in all {
                    let merged = self.schema(only, depth + 1);
                    schema.extend(merged);
                }
            }
            ("required" | "propertyOrdering", Value::Array(_)) => {
                schema.insert(key.to_owned(), value.clone());
            }
            _ if KNOWN.contains(&key) => {
                schema.insert(key.to_owned(), value.clone());
            }
            // Says how to read the schema and constrains nothing.
            ("$schema" | "$id" | "$comment", _) => {}
            _ => self.dropped += 1,
        }
    }

    fn kind(&mut self, schema: &mut Map<String, Value>, value: &Value) {
        let words: Vec<&str> = match value {
            Value::String(word) => vec![word.as_str()],
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut kinds: Vec<&'static str> = words.iter().filter_map(|word| kind(word)).collect();
        self.dropped += words.len().saturating_sub(kinds.len()) as u64;
        self.dropped += u64::from(words.is_empty());
        let nullable = kinds.contains(&"NULL") && kinds.len() > 1;
        if nullable {
            kinds.retain(|kind| *kind != "NULL");
            schema.insert("nullable".to_owned(), Value::Bool(true));
        }
        match kinds.as_slice() {
            [] => {}
            [only] => {
                schema.insert("type".to_owned(), Value::from(*only));
            }
            several => {
                let each = several.iter().map(|kind| serde_json::json!({ "type": kind }));
                schema.insert("anyOf".to_owned(), each.collect());
            }
        }
    }

    fn reference(&mut self, schema: &mut Map<String, Value>, path: &str, depth: u8) {
        let pointer = path.strip_prefix('#');
        match pointer.and_then(|pointer| self.root.pointer(pointer)) {
            Some(target) => schema.extend(self.schema(target, depth + 1)),
            None => self.refuse("a reference leads nowhere"),
        }
    }

    /// An enumeration holds strings only; a null among them makes the value nullable.
    fn values(&mut self, schema: &mut Map<String, Value>, values: &[Value]) {
        let strings: Vec<Value> = values.iter().filter(|value| value.is_string()).cloned().collect();
        let nulls = values.iter().filter(|value| value.is_null()).count();
        if nulls > 0 {
            schema.insert("nullable".to_owned(), Value::Bool(true));
        }
        if strings.is_empty() || strings.len() + nulls < values.len() {
            self.dropped += 1;
            return;
        }
        if strings.iter().any(|word| word == "") {
            self.refuse("a word of an enumeration is empty");
        }
        schema.entry("type").or_insert_with(|| Value::from("STRING"));
        schema.insert("enum".to_owned(), Value::Array(strings));
    }

    fn options(&mut self, schema: &mut Map<String, Value>, options: &[Value], depth: u8) {
        let is_null = |option: &&Value| option["type"] == "null";
        if options.iter().any(|option| is_null(&option)) {
            schema.insert("nullable".to_owned(), Value::Bool(true));
        }
        let mut converted: Vec<Map<String, Value>> = options
            .iter()
            .filter(|option| !is_null(option))
            .map(|option| self.schema(option, depth + 1))
            .collect();
        match (converted.len(), converted.pop()) {
            (1, Some(only)) => {
                for (key, value) in only {
                    schema.entry(key).or_insert(value);
                }
            }
            (_, last) => {
                let all = converted.into_iter().chain(last).map(Value::Object);
                schema.insert("anyOf".to_owned(), all.collect());
            }
        }
    }

    /// What the API refuses in a schema whose fields are all known to it.
    fn check(&mut self, schema: &mut Map<String, Value>, depth: u8) {
        let kind = schema.get("type").and_then(Value::as_str).map(str::to_owned);
        let formats: &[&str] = match kind.as_deref() {
            Some("STRING") => &["enum", "date-time"],
            Some("INTEGER") => &["int32", "int64"],
            Some("NUMBER") => &["float", "double"],
            _ => &[],
        };
        if let Some(format) = schema.get("format")
            && !format.as_str().is_some_and(|format| formats.contains(&format))
        {
            schema.shift_remove("format");
            self.dropped += 1;
        }
        if kind.as_deref() == Some("ARRAY") && !schema.contains_key("items") {
            self.refuse("an array has no schema of its items");
        }
        if schema.contains_key("anyOf") {
            for key in KNOWN.iter().filter(|key| !BESIDE_UNIONS.contains(key)) {
                self.dropped += u64::from(schema.shift_remove(*key).is_some());
            }
        }
        if let Some(Value::Array(members)) = schema.get("anyOf") {
            let is_alone = schema.keys().all(|key| BESIDE_UNIONS.contains(&key.as_str()));
            let are_typed = members
                .iter()
                .all(|member| member.get("type").is_some() || member.get("anyOf").is_some());
            if !is_alone || !are_typed || members.is_empty() {
                self.refuse("a union has more beside it, or a member without a type");
            }
        } else if kind.is_none() && depth > 0 {
            self.refuse("a schema has no type");
        }
        if let Some(Value::Array(required)) = schema.shift_remove("required") {
            let known = schema.get("properties").and_then(Value::as_object);
            let (known, unknown): (Vec<Value>, Vec<Value>) = required.into_iter().partition(|name| {
                let name = name.as_str();
                known.is_some_and(|known| name.is_some_and(|name| known.contains_key(name)))
            });
            self.dropped += unknown.len() as u64;
            if !known.is_empty() {
                schema.insert("required".to_owned(), Value::Array(known));
            }
        }
    }
}

fn kind(word: &str) -> Option<&'static str> {
    let word = respelled(word).unwrap_or(word);
    [
        "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL",
    ]
    .into_iter()
    .find(|kind| kind.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn property(property: &str) -> (Value, u64, Option<&'static str>) {
        let converted = convert(&format!(r#"{{"type":"object","properties":{{"p":{property}}}}}"#));
        let schema: Value = serde_json::from_str(&converted.schema.unwrap()).unwrap();
        (
            schema["properties"]["p"].clone(),
            converted.dropped,
            converted.problem,
        )
    }

    #[test]
    fn types_are_upper_case_and_null_makes_nullable() {
        for (source, expected) in [
            (r#"{"type":"integer"}"#, r#"{"type":"INTEGER"}"#),
            (r#"{"type":"STRING"}"#, r#"{"type":"STRING"}"#),
            (
                r#"{"type":["string","null"]}"#,
                r#"{"nullable":true,"type":"STRING"}"#,
            ),
            (
                r#"{"type":["string","number"]}"#,
                r#"{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}"#,
            ),
            (
                r#"{"anyOf":[{"type":"string"},{"type":"null"}],"title":"T"}"#,
                r#"{"nullable":true,"type":"STRING","title":"T"}"#,
            ),
            (
                r#"{"enum":["a","b",null]}"#,
                r#"{"nullable":true,"type":"STRING","enum":["a","b"]}"#,
            ),
            (r#"{"const":"a"}"#, r#"{"type":"STRING","enum":["a"]}"#),
        ] {
            let (schema, dropped, problem) = property(source);
            assert_eq!(
                (schema.to_string().as_str(), dropped, problem),
                (expected, 0, None)
            );
        }
    }

    #[test]
    fn what_the_subset_does_not_know_is_counted() {
        for (source, expected, lost) in [
            (
                r#"{"type":"string","format":"uuid","pattern":"x"}"#,
                r#"{"type":"STRING","pattern":"x"}"#,
                1,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"],"additionalProperties":false}"#,
                r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}"#,
                2,
            ),
            (r#"{"type":"integer","enum":[1,2]}"#, r#"{"type":"INTEGER"}"#, 1),
            (
                r#"{"anyOf":[{"type":"string"},{"type":"number"}],"default":1}"#,
                r#"{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}"#,
                1,
            ),
            (
                r#"{"oneOf":[{"type":"string"},{"type":"number"}]}"#,
                r#"{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}"#,
                1,
            ),
        ] {
            let (schema, dropped, problem) = property(source);
            assert_eq!(
                (schema.to_string().as_str(), dropped, problem),
                (expected, lost, None)
            );
        }
    }

    #[test]
    fn what_the_subset_cannot_hold_is_named() {
        for (source, problem) in [
            (r#"{"type":"array"}"#, "an array has no schema of its items"),
            (
                r#"{"type":"array","items":true}"#,
                "an array has no schema of its items",
            ),
            (r#"{"type":"array","items":{}}"#, "a schema has no type"),
            (
                r#"{"type":"array","prefixItems":[{"type":"string"}]}"#,
                "an array has no schema of its items",
            ),
            (
                r#"{"type":["string","array"],"items":{"type":"string"}}"#,
                "a union has more beside it, or a member without a type",
            ),
            (r#"{"anyOf":[{"type":"string"},{}]}"#, "a schema has no type"),
            (r#"{"not":{}}"#, "a schema has no type"),
            ("true", "a schema has no type"),
            (r#"{"const":true}"#, "a schema has no type"),
            (r#"{"enum":["","a"]}"#, "a word of an enumeration is empty"),
            (r#"{"$ref":"http://e.com/s"}"#, "a reference leads nowhere"),
        ] {
            assert_eq!(property(source).2, Some(problem), "{source}");
        }
        let root = r#"{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}"#;
        assert_eq!(convert(root).problem, Some("there is a union at the root"));
    }

    #[test]
    fn definitions_are_written_where_they_are_used_and_one_that_holds_itself_ends() {
        let schema = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"t":{"$ref":"#/$defs/T"}},
            "$defs":{"A":{"type":"string"},"T":{"type":"object","properties":{"l":{"$ref":"#/$defs/T"},"r":{"$ref":"#/$defs/T"}}}}}"##;
        let converted = convert(schema);
        let written: Value = serde_json::from_str(&converted.schema.unwrap()).unwrap();
        assert_eq!(written["properties"]["a"]["type"], "STRING");
        assert_eq!(written["properties"]["t"]["properties"]["l"]["type"], "OBJECT");
        assert_eq!(converted.problem, Some("it is too deep, or holds itself"));
    }

    #[test]
    fn a_function_that_takes_nothing_has_no_parameters() {
        for source in [r#"{"type":"object","properties":{}}"#, "{}", "null"] {
            assert_eq!(convert(source).schema, None);
        }
        let not_an_object = convert(r#"{"type":"string"}"#);
        assert_eq!((not_an_object.schema, not_an_object.dropped), (None, 1));
    }
}
