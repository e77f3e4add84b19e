//! What vendors take as the parameters of a function: repairs that leave what the tool takes as it is, and what no repair makes right.
//!
//! Specified by the vendors' pages on function calling, and where a page is silent by the words of the APIs' refusals:
//! <https://developers.openai.com/api/docs/guides/function-calling> and `.../structured-outputs`,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use>, the validator of mistral-common 1.13.1, which
//! checks against draft 7 of JSON Schema; all read 2026-11.

use serde_json::{Map, Value};

use crate::loss::rule::DialectRule;

/// Keywords with schemas by name.
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// Keywords with a schema or a list of schemas.
const NESTED: [&str; 7] = [
    "items",
    "prefixItems",
    "additionalProperties",
    "not",
    "anyOf",
    "oneOf",
    "allOf",
];

/// What an API takes as the parameters of a function.
#[derive(Debug)]
pub(crate) struct SchemaRules {
    /// The rule that is broken where anything of this does not hold.
    pub(crate) rule: &'static DialectRule,
    /// Keywords that the root has not.
    pub(crate) not_at_root: &'static [&'static str],
    /// Whether a tool without parameters is refused.
    pub(crate) are_required: bool,
    /// Whether the root names its properties, and each array the schema of its items.
    pub(crate) is_complete: bool,
    /// Whether properties of the root are called `[a-zA-Z0-9_.-]{1,64}`.
    pub(crate) has_plain_keys: bool,
    /// The version of JSON Schema that the schema is valid in.
    pub(crate) draft: Draft,
}

/// A version of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draft {
    /// Draft 7, where `items` may be a list.
    Seven,
    /// 2020-12, where that list is `prefixItems`.
    Newest,
}

/// The longest name of a property.
const KEY_CHARACTERS: usize = 64;

/// Levels of a schema that are looked at: those of a definition that was read.
const MOST_LEVELS: u8 = 128;

/// Objects in one another that a strict schema of OpenAI's has at most.
const STRICT_LEVELS: u8 = 10;

/// Keywords that OpenAI's strict schemas have not.
const NOT_STRICT: [&str; 9] = [
    "allOf",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "patternProperties",
    "oneOf",
];

/// The types of JSON Schema.
const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];

/// Keywords with a list of schemas that is not empty.
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// Keywords with a number of elements or characters.
const SIZES: [&str; 6] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// Keywords with a number.
const BOUNDS: [&str; 5] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// Keywords with a text.
const TEXTS: [&str; 6] = ["title", "description", "pattern", "format", "$ref", "$comment"];

impl SchemaRules {
    /// Those of OpenAI's APIs.
    pub(crate) const fn of_openai(rule: &'static DialectRule) -> Self {
        Self {
            rule,
            not_at_root: &["anyOf", "oneOf", "allOf", "enum", "not"],
            are_required: false,
            is_complete: true,
            has_plain_keys: false,
            draft: Draft::Newest,
        }
    }

    /// No condition: the vendor's schemas have another converter.
    pub(crate) const fn none(rule: &'static DialectRule) -> Self {
        Self {
            rule,
            not_at_root: &[],
            are_required: false,
            is_complete: false,
            has_plain_keys: false,
            draft: Draft::Seven,
        }
    }

    /// Those of Anthropic's models, on every platform.
    pub(crate) const fn of_anthropic(rule: &'static DialectRule) -> Self {
        Self {
            rule,
            not_at_root: &["anyOf", "oneOf", "allOf"],
            are_required: true,
            is_complete: false,
            has_plain_keys: true,
            draft: Draft::Newest,
        }
    }

    /// Writes what has other words in the version of the schema in these; returns how much there was of it.
    pub(crate) fn repair(&self, schema: &mut Map<String, Value>) -> u64 {
        let mut repaired = 0;
        if self.is_complete && !schema.contains_key("properties") && !self.has_union(schema) {
            schema.insert("properties".to_owned(), Map::new().into());
            repaired += 1;
        }
        repaired + self.repair_each(schema)
    }

    fn has_union(&self, schema: &Map<String, Value>) -> bool {
        self.not_at_root.iter().any(|key| schema.contains_key(*key))
    }

    fn repair_each(&self, schema: &mut Map<String, Value>) -> u64 {
        let mut repaired = 0;
        if schema.get("required").is_some_and(Value::is_null) {
            schema.shift_remove("required");
            repaired += 1;
        }
        for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            match (schema.get(exclusive), schema.get(bound)) {
                (Some(Value::Bool(true)), Some(Value::Number(_))) => {
                    if let Some(number) = schema.shift_remove(bound) {
                        schema.insert(exclusive.to_owned(), number);
                    }
                    repaired += 1;
                }
                (Some(Value::Bool(false)), _) => {
                    schema.shift_remove(exclusive);
                    repaired += 1;
                }
                _ => {}
            }
        }
        let is_tuple = matches!(schema.get("items"), Some(Value::Array(list)) if !list.is_empty());
        if is_tuple && self.draft == Draft::Newest && !self.is_complete && !schema.contains_key("prefixItems")
        {
            if let Some(list) = schema.shift_remove("items") {
                schema.insert("prefixItems".to_owned(), list);
            }
            if let Some(rest) = schema.shift_remove("additionalItems") {
                schema.insert("items".to_owned(), rest);
            }
            repaired += 1;
        }
        each_inner(schema, &mut |schema| repaired += self.repair_each(schema));
        repaired
    }

    /// What is wrong with the parameters of a function, without a name of the input; none where they are right.
    pub(crate) fn problem(&self, schema: &Map<String, Value>) -> Option<String> {
        let union = self.not_at_root.iter().find(|key| schema.contains_key(**key));
        if let Some(key) = union {
            return Some(format!("there is `{key}` at the root"));
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut keys = properties.into_iter().flat_map(Map::keys);
        if self.has_plain_keys && keys.any(|key| !is_plain(key)) {
            return Some("a property is not called `[a-zA-Z0-9_.-]{1,64}`".to_owned());
        }
        let (path, [before, after]) = self.problem_in(schema, MOST_LEVELS)?;
        Some(format!("{before}{path}{after}"))
    }

    /// The path of what is wrong in a schema, in which a name is `*`, and the words around it.
    fn problem_in(&self, schema: &Map<String, Value>, levels: u8) -> Option<(String, [&'static str; 2])> {
        let levels = levels.checked_sub(1)?;
        let mut keys = schema.iter();
        if let Some((key, _)) = keys.find(|(key, value)| self.is_wrong(key, value)) {
            return Some((key.clone(), ["`", "` is not as JSON Schema has it"]));
        }
        if self.is_complete && is_of(schema, "array") && !schema.get("items").is_some_and(Value::is_object) {
            return Some((
                "type".to_owned(),
                ["the array at `", "` has no schema of its items"],
            ));
        }
        inner(schema).find_map(|(key, place, schema)| {
            let (path, words) = self.problem_in(schema, levels)?;
            Some((format!("{key}{place}{path}"), words))
        })
    }

    /// Whether the value of a keyword is none that the version of JSON Schema has.
    fn is_wrong(&self, key: &str, value: &Value) -> bool {
        let is_schema = |value: &Value| value.is_object() || value.is_boolean();
        let are_schemas = |list: &Vec<Value>| !list.is_empty() && list.iter().all(is_schema);
        let is_type = |word: &Value| word.as_str().is_some_and(|word| TYPES.contains(&word));
        match key {
            "type" => match value {
                Value::Array(words) => words.is_empty() || !words.iter().all(is_type),
                word => !is_type(word),
            },
            "items" => match value {
                Value::Array(list) => self.draft == Draft::Newest || !are_schemas(list),
                schema => !is_schema(schema),
            },
            "enum" => !value.is_array(),
            "required" => match value {
                Value::Array(names) => !names.iter().all(Value::is_string),
                _ => true,
            },
            "additionalProperties" | "not" | "contains" | "propertyNames" => !is_schema(value),
            _ if NAMED.contains(&key) => match value {
                Value::Object(schemas) => !schemas.values().all(is_schema),
                _ => true,
            },
            _ if LISTS.contains(&key) => !value.as_array().is_some_and(are_schemas),
            _ if SIZES.contains(&key) => !value
                .as_f64()
                .is_some_and(|size| size >= 0.0 && size.fract() == 0.0),
            _ if BOUNDS.contains(&key) => !value.is_number(),
            _ if TEXTS.contains(&key) => !value.is_string(),
            _ => false,
        }
    }
}

/// Whether a name of a property is one that Anthropic takes.
fn is_plain(key: &str) -> bool {
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=KEY_CHARACTERS).contains(&key.len()) && key.bytes().all(is_one)
}

/// Whether a schema is of this type, or of several with it.
fn is_of(schema: &Map<String, Value>, word: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(words)) => words.iter().any(|own| own == word),
        own => own.is_some_and(|own| own == word),
    }
}

/// Visits the schemas directly inside a schema.
pub(crate) fn each_inner(schema: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Map<String, Value>)) {
    for (key, value) in schema {
        let (is_named, is_nested) = (NAMED.contains(&key.as_str()), NESTED.contains(&key.as_str()));
        match value {
            Value::Object(schemas) if is_named => {
                schemas
                    .values_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(&mut *visit);
            }
            Value::Array(schemas) if is_nested => {
                schemas
                    .iter_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(&mut *visit);
            }
            Value::Object(schema) if is_nested => visit(schema),
            _ => {}
        }
    }
}

/// Whether OpenAI takes a schema as strict: every object requires all of its properties and takes no others.
pub(crate) fn may_be_strict(schema: &Map<String, Value>) -> bool {
    is_strict(schema, STRICT_LEVELS)
}

fn is_strict(schema: &Map<String, Value>, levels: u8) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_object = is_of(schema, "object");
    let Some(levels) = levels.checked_sub(u8::from(is_object)) else {
        return false;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|own| own == name));
    let is_closed = !is_object && properties.is_none()
        || schema.get("additionalProperties") == Some(&Value::Bool(false))
            && properties.is_some_and(|properties| properties.keys().all(is_required));
    is_closed
        && NOT_STRICT.iter().all(|key| !schema.contains_key(*key))
        && inner(schema).all(|(_, _, schema)| is_strict(schema, levels))
}

/// The schemas directly inside a schema, each with its keyword and the rest of its path, in which a name is `*`.
fn inner(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &'static str, &Map<String, Value>)> {
    schema.iter().flat_map(|(key, value)| {
        let (is_named, is_nested) = (NAMED.contains(&key.as_str()), NESTED.contains(&key.as_str()));
        let named = value.as_object().filter(|_| is_named).into_iter();
        let listed = value.as_array().filter(|_| is_nested).into_iter();
        let all = named.flat_map(|schemas| schemas.values().map(|schema| (".*.", schema)));
        let all = all.chain(listed.flatten().map(|schema| ("[].", schema)));
        let all = all.chain(is_nested.then_some((".", value)));
        all.filter_map(move |(place, schema)| Some((key.as_str(), place, schema.as_object()?)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use crate::tools::json_schema::convert;

    const OPENAI: SchemaRules = SchemaRules::of_openai(ABC_01);
    const ANTHROPIC: SchemaRules = SchemaRules::of_anthropic(ABC_01);
    const SEVEN: SchemaRules = SchemaRules::none(ABC_01);

    fn written(rules: &SchemaRules, raw: &str) -> (String, u64, Option<String>) {
        let converted = convert(raw, Some(rules), false);
        (
            converted.schema.into_owned(),
            converted.repaired,
            converted.problem,
        )
    }

    #[test]
    fn what_an_api_takes_stays_byte_for_byte() {
        let right = r##"{"type":"object","properties":{"n":{"type":["array","null"],"items":{"type":"string"},"minItems":1.0},"o":{"anyOf":[{"type":"number","minimum":1.50},{"$ref":"#/$defs/o"}]},"v":{}},"required":["n"],"$defs":{"o":{"type":"string","enum":["",null]}}}"##;
        for rules in [&OPENAI, &ANTHROPIC, &SEVEN] {
            assert_eq!(written(rules, right), (right.to_owned(), 0, None));
        }
        let root = r#"{"type":"object"}"#;
        assert_eq!(written(&ANTHROPIC, root), (root.to_owned(), 0, None));
    }

    #[test]
    fn what_takes_the_same_in_other_words_is_written_in_those() {
        for (rules, raw, repaired) in [
            (
                &OPENAI,
                r#"{"type":"object"}"#,
                r#"{"type":"object","properties":{}}"#,
            ),
            (
                &ANTHROPIC,
                r#"{"type":"object","required":null}"#,
                r#"{"type":"object"}"#,
            ),
            (
                &SEVEN,
                r#"{"type":"object","properties":{"n":{"type":"number","minimum":0,"exclusiveMinimum":true}}}"#,
                r#"{"type":"object","properties":{"n":{"type":"number","exclusiveMinimum":0}}}"#,
            ),
            (
                &ANTHROPIC,
                r#"{"type":"object","properties":{"p":{"type":"array","items":[{"type":"number"}],"additionalItems":false}}}"#,
                r#"{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"number"}],"items":false}}}"#,
            ),
        ] {
            assert_eq!(written(rules, raw), (repaired.to_owned(), 1, None), "{raw}");
        }
    }

    #[test]
    fn what_no_repair_makes_right_is_named_without_a_word_of_the_input() {
        let of = |inner: &str| format!(r#"{{"type":"object","properties":{{"secret":{inner}}}}}"#);
        for (rules, raw, problem) in [
            (
                &OPENAI,
                r#"{"anyOf":[{"type":"object"}]}"#.to_owned(),
                "there is `anyOf` at the root",
            ),
            (
                &ANTHROPIC,
                r#"{"type":"object","oneOf":[{}]}"#.to_owned(),
                "there is `oneOf` at the root",
            ),
            (
                &OPENAI,
                r#"{"type":"object","properties":{},"not":{}}"#.to_owned(),
                "there is `not` at the root",
            ),
            (
                &OPENAI,
                of(r#"{"type":"array"}"#),
                "the array at `properties.*.type` has no schema of its items",
            ),
            (
                &OPENAI,
                of(r#"{"type":"array","items":true}"#),
                "the array at `properties.*.type` has no schema of its items",
            ),
            (
                &OPENAI,
                of(r#"{"type":"any"}"#),
                "`properties.*.type` is not as JSON Schema has it",
            ),
            (
                &SEVEN,
                of(r#"{"type":"string","required":true}"#),
                "`properties.*.required` is not as JSON Schema has it",
            ),
            (
                &SEVEN,
                of(r#"{"anyOf":[{"type":"object","properties":[]}]}"#),
                "`properties.*.anyOf[].properties` is not as JSON Schema has it",
            ),
        ] {
            assert_eq!(written(rules, &raw).2.as_deref(), Some(problem), "{raw}");
        }
        for key in [
            "filter[name]",
            "$top",
            "Account Number",
            "@x",
            "",
            &"k".repeat(65),
        ] {
            let raw = format!(r#"{{"type":"object","properties":{{"{key}":{{"type":"string"}}}}}}"#);
            let problem = written(&ANTHROPIC, &raw).2.unwrap();
            assert_eq!(problem, "a property is not called `[a-zA-Z0-9_.-]{1,64}`");
            assert_eq!(written(&OPENAI, &raw).2, None, "{raw}");
        }
        let deeper = of(r#"{"type":"object","properties":{"filter[name]":{"type":"string"}}}"#);
        let longest = deeper.replace("secret", &"k".repeat(64));
        assert_eq!(
            written(&ANTHROPIC, &longest).2,
            None,
            "only keys of the root are bounded"
        );
    }

    #[test]
    fn a_strict_schema_requires_all_that_it_takes_at_every_depth() {
        let strict = |raw: &str| convert(raw, Some(&OPENAI), true).may_be_strict;
        let inner = |keys: &str| {
            format!(
                r#"{{"type":"object","properties":{{"a":{{"type":"object",{keys}}}}},"required":["a"],"additionalProperties":false}}"#
            )
        };
        let whole = r#""properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":false"#;
        assert!(strict(&inner(whole)));
        for keys in [
            whole.replace(r#"["b"]"#, "[]"),
            whole.replace("false", "true"),
            format!(r#"{whole},"allOf":[]"#),
            r#""additionalProperties":false"#.to_owned(),
        ] {
            assert!(!strict(&inner(&keys)), "{keys}");
        }
        let nested = |levels: usize| {
            let open = r#"{"type":"object","properties":{"a":"#.repeat(levels);
            let close = r#"},"required":["a"],"additionalProperties":false}"#.repeat(levels);
            format!(r#"{open}{{"type":"string"}}{close}"#)
        };
        assert!(strict(&nested(10)) && !strict(&nested(11)));
    }
}
