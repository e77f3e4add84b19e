//! Converts the parameters of a function to Gemini's subset of JSON Schema.
//!
//! Types become upper-case words, a type `null` becomes `nullable`, a constant becomes an enumeration of one, and `oneOf` becomes `anyOf`.
//! Definitions that a schema refers to are written where they are used, up to the depth [`MAX_DEPTH`]. Keywords that the subset does not
//! have and that only constrain a value are left out and counted. A schema is a problem if its conversion would accept fewer values than
//! before, or if the API refuses it: there must be a type everywhere, `items` in each array, only `title`, `description` and `nullable`
//! next to `anyOf`, no empty string in an enumeration and no union at the root.

use serde_json::{Map, Value};

use super::json_schema::{Parameters, Schema};
use super::spelling::{respell, respelled};
use crate::loss::schema_path::{Problem, SchemaStep};

/// Maximum depth of a schema; a schema that refers to itself ends here.
const MAX_DEPTH: u8 = 12;

/// Maximum number of schemas that one definition may expand to; references that multiply end here.
const MAX_SCHEMAS: u32 = 2_000;

/// Keys that the subset has with the same meaning.
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

/// Keys that the API accepts together with `anyOf`.
const BESIDE_UNIONS: [&str; 4] = ["anyOf", "title", "description", "nullable"];

/// Keys that identify or annotate a schema and constrain nothing.
const NEUTRAL: [&str; 5] = ["$schema", "$id", "$comment", "$defs", "definitions"];

/// Keys that would lose their value if a schema replaces the field next to them.
const DECISIVE: [&str; 8] = [
    "type",
    "properties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
];

/// Keys of the root that the subset does not have, and without which a tool without properties would accept nothing.
const TAKES_MORE: [&str; 3] = ["additionalProperties", "patternProperties", "allOf"];

/// A field of a schema.
type Field<'r> = (&'r str, &'r Value);

/// Converts the parameters of a function. The problem, if any, is what the subset cannot express. Nothing is written if the function takes
/// no parameters, or if its parameters are not an object.
pub(crate) fn convert(raw: &str) -> Parameters {
    // A text that is not JSON defines nothing.
    let mut root: Value = serde_json::from_str(raw).unwrap_or_default();
    if let Value::Object(schema) = &mut root {
        respell(schema);
    }
    let mut converter = Converter {
        root: &root,
        dropped: 0,
        problem: None,
        left: MAX_SCHEMAS,
        path: Vec::new(),
    };
    let mut schema = converter.part(&root, 0);
    if schema.get("type").is_some_and(|kind| kind != "OBJECT") {
        return Parameters {
            schema: Schema::Nowhere,
            dropped: converter.dropped + 1,
            ..Parameters::default()
        };
    }
    let is_some = |value: &Value| match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    };
    let takes_some = schema.get("properties").is_some_and(is_some);
    if schema.contains_key("anyOf") {
        converter.refuse("is a union");
    } else if takes_some && !schema.contains_key("type") {
        schema.insert("type".to_owned(), "OBJECT".into());
        converter.dropped += 1;
    }
    let mut others = TAKES_MORE.iter().filter_map(|key| root.get(*key));
    if !takes_some && others.any(is_some) {
        converter.refuse("has no properties and accepts some");
    }
    converter.check(&mut schema, 0);
    Parameters {
        schema: if takes_some {
            Schema::Text(Value::Object(schema).to_string().into())
        } else {
            Schema::Nowhere
        },
        dropped: converter.dropped,
        problem: converter.problem,
        ..Parameters::default()
    }
}

struct Converter<'r> {
    root: &'r Value,
    dropped: u64,
    problem: Option<Problem>,
    left: u32,
    /// The path in the source of the schema that is being converted.
    path: Vec<SchemaStep<'r>>,
}

impl<'r> Converter<'r> {
    fn refuse(&mut self, words: &'static str) {
        if self.problem.is_none() {
            self.problem = Some(Problem::of(&self.path, words));
        }
    }

    /// Converts the schema at these steps below the current one.
    fn below(&mut self, steps: &[SchemaStep<'r>], source: &'r Value, depth: u8) -> Map<String, Value> {
        let before = self.path.len();
        self.path.extend_from_slice(steps);
        let schema = self.schema(source, depth + 1);
        self.path.truncate(before);
        schema
    }

    fn schema(&mut self, source: &'r Value, depth: u8) -> Map<String, Value> {
        let mut schema = self.part(source, depth);
        self.check(&mut schema, depth);
        schema
    }

    /// Converts a schema that is checked together with its sibling keywords.
    fn part(&mut self, source: &'r Value, depth: u8) -> Map<String, Value> {
        if let Value::Object(fields) = source {
            let fields: Vec<Field<'r>> = fields.iter().map(|(key, value)| (key.as_str(), value)).collect();
            self.fields(&fields, depth)
        } else {
            self.refuse("has no type");
            Map::new()
        }
    }

    fn fields(&mut self, fields: &[Field<'r>], depth: u8) -> Map<String, Value> {
        let mut schema = Map::new();
        if depth >= MAX_DEPTH || self.left == 0 {
            self.refuse("is too deep, or recursive");
            return schema;
        }
        self.left -= 1;
        let union = fields.iter().copied().find(is_union);
        for field in fields {
            match union {
                Some(own) if own == *field => self.union(&mut schema, own, fields, depth),
                Some(_) if moves(field.0) => {}
                _ => self.field(&mut schema, *field, fields, depth),
            }
        }
        schema
    }

    fn field(&mut self, schema: &mut Map<String, Value>, field: Field<'r>, beside: &[Field<'r>], depth: u8) {
        let (key, value) = field;
        match (key, value) {
            ("type", _) => self.kind(schema, value),
            ("$ref", Value::String(path)) => {
                let pointer = path.strip_prefix('#');
                match pointer.and_then(|pointer| self.root.pointer(pointer)) {
                    Some(target) => {
                        self.meet(target, field, beside);
                        schema.extend(self.part(target, depth + 1));
                    }
                    None => self.refuse("has a reference that leads nowhere"),
                }
            }
            ("enum", Value::Array(values)) => self.values(schema, values),
            ("const", value) => self.values(schema, std::slice::from_ref(value)),
            ("properties", Value::Object(properties)) => {
                let mut converted = Map::new();
                for (name, property) in properties {
                    let steps = [SchemaStep::Keyword(key), SchemaStep::Name(name)];
                    let property = self.below(&steps, property, depth);
                    converted.insert(name.clone(), Value::Object(property));
                }
                schema.insert(key.to_owned(), Value::Object(converted));
            }
            ("items" | "prefixItems", Value::Array(_) | Value::Bool(_)) => {
                self.refuse("is an array, and there is no schema of its items");
            }
            ("items", Value::Object(_)) => {
                let items = self.below(&[SchemaStep::Keyword(key)], value, depth);
                schema.insert(key.to_owned(), Value::Object(items));
            }
            ("anyOf" | "oneOf", Value::Array(options)) => {
                self.dropped += u64::from(key == "oneOf");
                self.option(schema, options, field, (beside, depth));
            }
            ("allOf", Value::Array(all)) if all.len() == 1 => {
                for only in all {
                    self.meet(only, field, beside);
                    schema.extend(self.part(only, depth + 1));
                }
            }
            ("required" | "propertyOrdering", Value::Array(_)) | ("format", _) => {
                schema.insert(key.to_owned(), value.clone());
            }
            _ if KNOWN.contains(&key) && is_fit(key, value) => {
                schema.insert(key.to_owned(), value.clone());
            }
            _ if NEUTRAL.contains(&key) => {}
            _ => self.dropped += 1,
        }
    }

    /// Refuses a schema that replaces a field and contradicts the field's siblings.
    fn meet(&mut self, source: &Value, field: Field<'r>, beside: &[Field<'r>]) {
        let mut others = beside
            .iter()
            .filter(|other| **other != field && DECISIVE.contains(&other.0));
        if others.any(|(key, value)| source.get(key).is_some_and(|own| own != *value)) {
            self.refuse("has contradicting keywords");
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
        if kinds.contains(&"NULL") && kinds.len() > 1 {
            kinds.retain(|kind| *kind != "NULL");
            schema.insert("nullable".to_owned(), Value::Bool(true));
        }
        if let Some(only) = kinds.first() {
            schema.insert("type".to_owned(), Value::from(*only));
        }
    }

    /// Writes an enumeration, which may have only strings; a null among the values makes the value nullable.
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
            self.refuse("has an enumeration with an empty word");
        }
        schema.entry("type").or_insert_with(|| Value::from("STRING"));
        schema.insert("enum".to_owned(), Value::Array(strings));
    }

    /// Replaces a list of one schema by that schema; a null in the list makes the value nullable.
    fn option(
        &mut self,
        schema: &mut Map<String, Value>,
        options: &'r [Value],
        field: Field<'r>,
        (beside, depth): (&[Field<'r>], u8),
    ) {
        if options.iter().any(is_null) {
            schema.insert("nullable".to_owned(), Value::Bool(true));
        }
        let Some(only) = options.iter().find(|option| !is_null(option)) else {
            return self.refuse("is a union of nothing");
        };
        self.meet(only, field, beside);
        for (key, value) in self.part(only, depth + 1) {
            schema.entry(key).or_insert(value);
        }
    }

    /// Writes a union of several schemas or types. Constraints next to the union are copied into each member.
    fn union(
        &mut self,
        schema: &mut Map<String, Value>,
        (key, value): Field<'r>,
        beside: &[Field<'r>],
        depth: u8,
    ) {
        self.dropped += u64::from(key == "oneOf");
        let moved = || {
            beside
                .iter()
                .copied()
                .filter(|(other, _)| *other != key && moves(other))
        };
        let depth = depth + u8::from(key != "type");
        let mut members = Vec::new();
        for (index, member) in value.as_array().into_iter().flatten().enumerate() {
            let own: Vec<Field<'r>> = match member {
                _ if is_null(member) || *member == "null" || *member == "NULL" => {
                    schema.insert("nullable".to_owned(), Value::Bool(true));
                    continue;
                }
                Value::Object(fields) => {
                    let mut all: Vec<Field<'r>> =
                        fields.iter().map(|(key, value)| (key.as_str(), value)).collect();
                    for (other, value) in moved() {
                        match fields.get(other) {
                            None => all.push((other, value)),
                            Some(own) if own == value => {}
                            Some(_) => {
                                self.refuse("has a union, and keywords that its members contradict");
                            }
                        }
                    }
                    all
                }
                Value::Bool(_) => {
                    self.refuse("has a union, and a member of it has no type");
                    continue;
                }
                word => {
                    let Some(kind) = word.as_str().and_then(kind) else {
                        self.dropped += 1;
                        continue;
                    };
                    let beside = moved().filter(|(other, _)| is_about(other, kind));
                    std::iter::once((key, member)).chain(beside).collect()
                }
            };
            let before = self.path.len();
            self.path
                .extend([SchemaStep::Keyword(key), SchemaStep::Index(index)]);
            let mut member = self.fields(&own, depth);
            self.check(&mut member, depth);
            members.push(Value::Object(member));
            self.path.truncate(before);
        }
        schema.insert("anyOf".to_owned(), Value::Array(members));
    }

    /// Removes fields that do not fit the type, and records a problem if the API would refuse the schema although it knows all of its
    /// fields.
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
            self.refuse("is an array, and there is no schema of its items");
        }
        for (key, own) in [("enum", "STRING"), ("items", "ARRAY"), ("properties", "OBJECT")] {
            let is_elsewhere = kind.as_deref().is_some_and(|kind| kind != own);
            self.dropped += u64::from(is_elsewhere && schema.shift_remove(key).is_some());
        }
        if schema.contains_key("anyOf") {
            for key in KNOWN.iter().filter(|key| !BESIDE_UNIONS.contains(key)) {
                self.dropped += u64::from(schema.shift_remove(*key).is_some());
            }
        }
        if schema.contains_key("anyOf") {
            if !schema.keys().all(|key| BESIDE_UNIONS.contains(&key.as_str())) {
                self.refuse("has a union, and other keywords");
            }
        } else if kind.is_none() && depth > 0 {
            self.refuse("has no type");
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

/// Whether the API accepts a value under a key of the subset.
fn is_fit(key: &str, value: &Value) -> bool {
    value.is_null()
        || match key {
            "default" => true,
            "nullable" => value.is_boolean(),
            "title" | "description" | "pattern" => value.is_string(),
            "minimum" | "maximum" => value.is_number(),
            _ => value.as_f64().is_some_and(|size| size.fract() == 0.0),
        }
}

/// Whether a field makes a schema a union of several schemas.
fn is_union((key, value): &Field<'_>) -> bool {
    let is_kind = |word: &&Value| word.as_str().and_then(kind).is_some_and(|kind| kind != "NULL");
    let several = |count: usize| count > 1;
    match (*key, value.as_array()) {
        ("anyOf" | "oneOf", Some(options)) => {
            several(options.iter().filter(|option| !is_null(option)).count())
        }
        ("type", Some(words)) => several(words.iter().filter(is_kind).count()),
        _ => false,
    }
}

/// Whether a schema accepts only null.
fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
}

/// Whether a sibling of a union moves into the members of the union.
fn moves(key: &str) -> bool {
    let is_known = KNOWN.contains(&key) && key != "default" && !BESIDE_UNIONS.contains(&key);
    let is_read = ["format", "required", "propertyOrdering", "prefixItems", "$ref"].contains(&key);
    is_known || is_read || DECISIVE.contains(&key)
}

/// Whether a field constrains values of a type.
fn is_about(key: &str, kind: &str) -> bool {
    match key {
        "items" | "prefixItems" | "minItems" | "maxItems" => kind == "ARRAY",
        "properties" | "required" | "propertyOrdering" | "minProperties" | "maxProperties" => {
            kind == "OBJECT"
        }
        "pattern" | "minLength" | "maxLength" | "enum" | "const" => kind == "STRING",
        "minimum" | "maximum" => matches!(kind, "NUMBER" | "INTEGER"),
        _ => true,
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
        let schema: Value = serde_json::from_str(&converted.text("").unwrap()).unwrap();
        let problem = converted.problem.map(|problem| problem.words);
        (schema["properties"]["p"].clone(), converted.dropped, problem)
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
            (
                r#"{"type":"ARRAY","items":{"any_of":[{"type":"STRING","max_length":"9"},{"type":"NULL"}]},"minItems":"1"}"#,
                r#"{"type":"ARRAY","items":{"nullable":true,"type":"STRING","maxLength":9},"minItems":1}"#,
            ),
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
            (r#"{"type":"integer","enum":["1"]}"#, r#"{"type":"INTEGER"}"#, 1),
            (
                r#"{"type":"string","items":{"type":"string"},"properties":{}}"#,
                r#"{"type":"STRING"}"#,
                2,
            ),
            (
                r#"{"type":"string","title":5,"nullable":"yes","minLength":1.5}"#,
                r#"{"type":"STRING"}"#,
                3,
            ),
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
    fn what_is_beside_a_union_is_moved_into_its_members() {
        for (source, expected, lost) in [
            (
                r#"{"description":"d","type":["string","array","null"],"items":{"type":"string"},"minItems":1,"maxLength":3}"#,
                r#"{"description":"d","nullable":true,"anyOf":[{"type":"STRING","maxLength":3},{"type":"ARRAY","items":{"type":"STRING"},"minItems":1}]}"#,
                0,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}"#,
                r#"{"anyOf":[{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}},"required":["a"]},{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}},"required":["b"]}]}"#,
                0,
            ),
            (
                r#"{"type":"string","anyOf":[{"type":"string","pattern":"a"},{"enum":["b"]}],"title":"T"}"#,
                r#"{"anyOf":[{"type":"STRING","pattern":"a"},{"type":"STRING","enum":["b"]}],"title":"T"}"#,
                0,
            ),
            (
                r#"{"type":["integer","string"],"enum":["a","b"],"format":"int32"}"#,
                r#"{"anyOf":[{"type":"INTEGER","format":"int32"},{"type":"STRING","enum":["a","b"]}]}"#,
                1,
            ),
            (
                r#"{"anyOf":[{"type":"string"},{"anyOf":[{"type":"number"},{"type":"boolean"}],"minimum":1}]}"#,
                r#"{"anyOf":[{"type":"STRING"},{"anyOf":[{"type":"NUMBER","minimum":1},{"type":"BOOLEAN","minimum":1}]}]}"#,
                0,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]}]}"#,
                r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}"#,
                0,
            ),
            (
                r#"{"type":"string","allOf":[{"minLength":1}]}"#,
                r#"{"type":"STRING","minLength":1}"#,
                0,
            ),
            (
                r#"{"type":["string","any","number"]}"#,
                r#"{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}"#,
                1,
            ),
        ] {
            let (schema, dropped, problem) = property(source);
            assert_eq!(
                (schema.to_string().as_str(), problem),
                (expected, None),
                "{source}"
            );
            assert_eq!(dropped, lost, "{source}");
        }
    }

    #[test]
    fn what_the_subset_cannot_hold_is_named() {
        let no_items = "is an array, and there is no schema of its items";
        for (source, problem) in [
            (r#"{"type":"array"}"#, no_items),
            (r#"{"type":"array","items":true}"#, no_items),
            (r#"{"type":"array","items":false}"#, no_items),
            (r#"{"type":"array","items":{}}"#, "has no type"),
            (r#"{"type":"array","prefixItems":[{"type":"string"}]}"#, no_items),
            (r#"{"type":["string","array"]}"#, no_items),
            (
                r#"{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"properties":{"b":{"type":"string"}}},{"required":["a"]}]}"#,
                "has a union, and keywords that its members contradict",
            ),
            (r#"{"anyOf":[{"type":"string"},{}]}"#, "has no type"),
            (
                r#"{"anyOf":[{"type":"string"},true]}"#,
                "has a union, and a member of it has no type",
            ),
            (r#"{"anyOf":[]}"#, "is a union of nothing"),
            (r#"{"anyOf":[{"type":"null"}]}"#, "is a union of nothing"),
            (r#"{"not":{}}"#, "has no type"),
            ("true", "has no type"),
            (r#"{"const":true}"#, "has no type"),
            (r#"{"enum":[1,2]}"#, "has no type"),
            (r#"{"enum":[]}"#, "has no type"),
            (r#"{"properties":{"a":{"type":"string"}}}"#, "has no type"),
            (r#"{"allOf":[{"type":"string"},{"minLength":1}]}"#, "has no type"),
            (r#"{"enum":["","a"]}"#, "has an enumeration with an empty word"),
            (r#"{"const":""}"#, "has an enumeration with an empty word"),
            (
                r#"{"$ref":"http://e.com/s"}"#,
                "has a reference that leads nowhere",
            ),
            (
                r##"{"$ref":"#/$defs/none"}"##,
                "has a reference that leads nowhere",
            ),
            (r##"{"$ref":"#","type":"string"}"##, "has contradicting keywords"),
        ] {
            assert_eq!(property(source).2, Some(problem), "{source}");
        }
        let deep = r#"{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"array"}]}}}}"#;
        let problem = convert(deep).problem.unwrap();
        assert_eq!(problem.path, "properties['a'].items.anyOf[1]");
        let root = r#"{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}"#;
        assert_eq!(convert(root).problem.unwrap().sentence(), "`$` is a union");
        for more in [
            r#""additionalProperties":{"type":"string"}"#,
            r#""patternProperties":{"^x":{"type":"string"}}"#,
            r#""allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]"#,
        ] {
            let root = format!(r#"{{"type":"object",{more}}}"#);
            let problem = convert(&root).problem.unwrap();
            assert_eq!(problem.sentence(), "`$` has no properties and accepts some");
        }
        for free in ["true", "false", "{}"] {
            let root = format!(r#"{{"type":"object","additionalProperties":{free}}}"#);
            assert_eq!(convert(&root).problem, None);
        }
    }

    #[test]
    fn definitions_are_written_where_they_are_used_and_one_that_holds_itself_ends() {
        let schema = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"d"},"t":{"$ref":"#/$defs/T"}},
            "$defs":{"A":{"type":"string"},"T":{"type":"object","properties":{"l":{"$ref":"#/$defs/T"},"r":{"$ref":"#/$defs/T"}}}}}"##;
        let converted = convert(schema);
        let written: Value = serde_json::from_str(&converted.text("").unwrap()).unwrap();
        assert_eq!(
            written["properties"]["a"].to_string(),
            r#"{"type":"STRING","description":"d"}"#
        );
        assert_eq!(written["properties"]["t"]["properties"]["l"]["type"], "OBJECT");
        assert_eq!(converted.problem.unwrap().words, "is too deep, or recursive");
    }

    #[test]
    fn a_function_that_takes_nothing_has_no_parameters() {
        for source in [r#"{"type":"object","properties":{}}"#, "{}", "null"] {
            assert_eq!(convert(source).schema, Schema::Nowhere);
        }
        let not_an_object = convert(r#"{"type":"string"}"#);
        assert_eq!(
            (not_an_object.schema, not_an_object.dropped),
            (Schema::Nowhere, 1)
        );
    }
}
