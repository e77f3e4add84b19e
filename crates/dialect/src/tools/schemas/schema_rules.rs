//! The schemas that vendors accept as parameters of a function: repairs that do not change what the tool accepts, and problems that no
//! repair solves.
//!
//! Specified by the vendors' pages on function calling and, where a page does not specify it, by error messages of the APIs:
//! <https://developers.openai.com/api/docs/guides/function-calling> and `.../structured-outputs`,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use>, the validator of mistral-common 1.13.1, which
//! checks against draft 7 of JSON Schema; all read 2026-11. The schemas that strict tools may have are in `strict_schema`.

use serde_json::{Map, Value};

use crate::loss::rule::DialectRule;
use crate::loss::schema_path::{Problem, SchemaStep};
use crate::tools::hosted::Hosts;
use crate::tools::schemas::keywords::{Holds, each_inner, holds, inner, is_of};
use crate::tools::schemas::strict_schema::StrictRules;

/// The schemas that an API accepts as parameters of a function.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a condition of its own")]
pub(crate) struct SchemaRules {
    /// The rule of the dialect that a schema breaks if it does not meet these conditions.
    pub(crate) rule: &'static DialectRule,
    /// Keywords that the root must not have.
    pub(crate) not_at_root: &'static [&'static str],
    /// Whether a tool without parameters is refused.
    pub(crate) are_required: bool,
    /// Whether the root must have `properties`, and each array `items`.
    pub(crate) is_complete: bool,
    /// Whether names of the root's properties must match `[a-zA-Z0-9_.-]{1,64}`.
    pub(crate) has_plain_keys: bool,
    /// Whether each reference must lead to a place in the schema.
    pub(crate) has_whole_references: bool,
    /// The version of JSON Schema in which the schema must be valid.
    pub(crate) draft: Draft,
    /// Whether there is a place for schemas that the vendor's subset of JSON Schema cannot express.
    pub(crate) takes_all: bool,
    /// The API that runs the hosted tools of the dialect.
    pub(crate) hosts: Hosts,
    /// The conditions for schemas of strict tools; `None`: a tool is strict if it claims to be.
    pub(crate) strict: Option<&'static StrictRules>,
}

/// A version of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draft {
    /// Draft 7, in which `items` may be a list.
    Seven,
    /// 2020-12, in which that list is `prefixItems`.
    Newest,
}

/// Maximum number of characters in the name of a property.
const KEY_CHARACTERS: usize = 64;

/// The types of JSON Schema.
const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];

/// Keywords that draft 7 does not know.
const NEWER: [&str; 8] = [
    "$defs",
    "prefixItems",
    "dependentSchemas",
    "dependentRequired",
    "unevaluatedItems",
    "unevaluatedProperties",
    "minContains",
    "maxContains",
];

impl SchemaRules {
    /// The rules of OpenAI's APIs.
    pub(crate) const fn of_openai(rule: &'static DialectRule) -> Self {
        Self {
            not_at_root: &["anyOf", "oneOf", "allOf", "enum", "not"],
            is_complete: true,
            draft: Draft::Newest,
            strict: Some(&StrictRules::OPENAI),
            ..Self::none(rule)
        }
    }

    /// The rules for Anthropic's models, on every platform.
    pub(crate) const fn of_anthropic(rule: &'static DialectRule) -> Self {
        Self {
            not_at_root: &["anyOf", "oneOf", "allOf"],
            are_required: true,
            has_plain_keys: true,
            has_whole_references: true,
            draft: Draft::Newest,
            strict: Some(&StrictRules::ANTHROPIC),
            ..Self::none(rule)
        }
    }

    /// Validity in draft 7 as the only condition.
    pub(crate) const fn none(rule: &'static DialectRule) -> Self {
        Self {
            rule,
            not_at_root: &[],
            are_required: false,
            is_complete: false,
            has_plain_keys: false,
            has_whole_references: false,
            draft: Draft::Seven,
            takes_all: false,
            hosts: Hosts::Nobody,
            strict: None,
        }
    }

    /// Rewrites keywords of other versions of JSON Schema in the words of this one; returns the number of changes.
    pub(crate) fn repair(&self, schema: &mut Map<String, Value>) -> u64 {
        let mut repaired = self.repair_each(schema);
        if self.is_complete && !schema.contains_key("properties") && self.at_root(schema).is_none() {
            schema.insert("properties".to_owned(), Map::new().into());
            repaired += 1;
        }
        repaired
    }

    /// Returns a keyword of the root that it must not have.
    fn at_root(&self, schema: &Map<String, Value>) -> Option<&'static str> {
        let mut keys = self.not_at_root.iter().copied();
        keys.find(|key| schema.contains_key(*key))
    }

    fn repair_each(&self, schema: &mut Map<String, Value>) -> u64 {
        let before = schema.len();
        // Some writers write null for an absent key. Removing it changes nothing.
        schema.retain(|key, value| !value.is_null() || holds(key).is_none() || !self.knows(key));
        let mut repaired = (before - schema.len()) as u64;
        for key in ["required", "type"] {
            if let Some(Value::Array(words)) = schema.get_mut(key) {
                let before = words.len();
                let mut seen: Vec<Value> = Vec::with_capacity(before);
                for word in std::mem::take(words) {
                    if !seen.contains(&word) {
                        seen.push(word);
                    }
                }
                repaired += u64::from(seen.len() < before);
                *words = seen;
            }
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
        if is_tuple && self.draft == Draft::Newest && !schema.contains_key("prefixItems") {
            if let Some(list) = schema.shift_remove("items") {
                schema.insert("prefixItems".to_owned(), list);
            }
            if let Some(rest) = schema.shift_remove("additionalItems") {
                schema.insert("items".to_owned(), rest);
            }
            repaired += 1;
        }
        let is_known = |key: &str| self.knows(key);
        each_inner(schema, &is_known, &mut |schema| {
            repaired += self.repair_each(schema);
        });
        repaired
    }

    /// Returns the first problem in the parameters of a function; `None` if they are valid.
    pub(crate) fn problem(&self, schema: &Map<String, Value>) -> Option<Problem> {
        if let Some(key) = self.at_root(schema) {
            return Some(Problem::of(&[SchemaStep::Keyword(key)], "is refused at the root"));
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut keys = properties.into_iter().flat_map(Map::keys);
        if self.has_plain_keys
            && let Some(key) = keys.find(|key| !is_plain(key))
        {
            let path = [SchemaStep::Keyword("properties"), SchemaStep::Name(key)];
            return Some(Problem::of(&path, "is not called `[a-zA-Z0-9_.-]{1,64}`"));
        }
        let mut path = Vec::new();
        let words = self.problem_in(schema, schema, &mut path)?;
        Some(Problem::of(&path, words))
    }

    /// Returns the first problem in a schema below `root`, and extends `path` to its place.
    fn problem_in<'s>(
        &self,
        schema: &'s Map<String, Value>,
        root: &Map<String, Value>,
        path: &mut Vec<SchemaStep<'s>>,
    ) -> Option<&'static str> {
        if let Some((key, _)) = schema.iter().find(|(key, value)| self.is_wrong(key, value)) {
            path.push(SchemaStep::Keyword(key));
            return Some("is not valid JSON Schema");
        }
        if self.is_complete && is_of(schema, "array") && !schema.get("items").is_some_and(Value::is_object) {
            path.push(SchemaStep::Keyword("type"));
            return Some("is an array, and there is no schema of its items");
        }
        if self.has_whole_references && schema.get("$ref").is_some_and(|place| is_nowhere(place, root)) {
            path.push(SchemaStep::Keyword("$ref"));
            return Some("leads nowhere");
        }
        inner(schema)
            .filter(|(key, ..)| self.knows(key))
            .find_map(|(key, step, schema)| {
                let before = path.len();
                path.push(SchemaStep::Keyword(key));
                path.extend(step);
                let found = self.problem_in(schema, root, path);
                if found.is_none() {
                    path.truncate(before);
                }
                found
            })
    }

    /// Whether the version of JSON Schema has a keyword.
    fn knows(&self, key: &str) -> bool {
        match self.draft {
            Draft::Seven => !NEWER.contains(&key),
            Draft::Newest => key != "additionalItems",
        }
    }

    /// Whether the value of a keyword is invalid in the version of JSON Schema.
    fn is_wrong(&self, key: &str, value: &Value) -> bool {
        let Some(holds) = holds(key).filter(|_| self.knows(key)) else {
            return false;
        };
        let is_schema = |value: &Value| value.is_object() || value.is_boolean();
        let is_type = |word: &Value| word.as_str().is_some_and(|word| TYPES.contains(&word));
        let are_texts = |value: &Value| {
            value
                .as_array()
                .is_some_and(|list| list.iter().all(Value::is_string))
        };
        let list = value.as_array();
        let fields = value.as_object();
        let are_schemas = list.is_some_and(|list| !list.is_empty() && list.iter().all(is_schema));
        let is_right = match holds {
            Holds::Schema => is_schema(value),
            Holds::Schemas => are_schemas,
            Holds::Items => is_schema(value) || self.draft == Draft::Seven && are_schemas,
            Holds::Named => fields.is_some_and(|fields| fields.values().all(is_schema)),
            Holds::Dependencies => fields.is_some_and(|fields| {
                let may_be_schemas = key == "dependencies";
                let mut values = fields.values();
                values.all(|value| are_texts(value) || may_be_schemas && is_schema(value))
            }),
            Holds::Types => {
                is_type(value) || list.is_some_and(|list| !list.is_empty() && list.iter().all(is_type))
            }
            // Only OpenAI's rules set `is_complete`, and its API also checks ids.
            Holds::Text if self.is_complete && key == "$id" => {
                value.as_str().is_some_and(|id| !id.contains(char::is_whitespace))
            }
            Holds::Text => value.is_string(),
            Holds::Texts => are_texts(value),
            Holds::Size => value
                .as_f64()
                .is_some_and(|size| size >= 0.0 && size.fract() == 0.0),
            Holds::Number => value.is_number(),
            Holds::Positive => value.as_f64().is_some_and(|number| number > 0.0),
            Holds::Flag => value.is_boolean(),
            Holds::List => value.is_array(),
        };
        !is_right
    }
}

/// Whether a reference is a path in the schema that ends at nothing. References by name or address are not judged.
fn is_nowhere(place: &Value, root: &Map<String, Value>) -> bool {
    let path = place.as_str().and_then(|place| place.strip_prefix("#/"));
    path.filter(|path| !path.contains('%')).is_some_and(|path| {
        let (first, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
        let first = root.get(&first.replace("~1", "/").replace("~0", "~"));
        first.and_then(|first| first.pointer(rest)).is_none()
    })
}

/// Whether Anthropic accepts the name of a property.
fn is_plain(key: &str) -> bool {
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=KEY_CHARACTERS).contains(&key.len()) && key.bytes().all(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use crate::tools::schemas::json_schema::convert;

    const OPENAI: SchemaRules = SchemaRules::of_openai(ABC_01);
    const ANTHROPIC: SchemaRules = SchemaRules::of_anthropic(ABC_01);
    const SEVEN: SchemaRules = SchemaRules::none(ABC_01);

    fn written(rules: &SchemaRules, raw: &str) -> (String, u64, Option<String>) {
        let converted = convert(raw, Some(rules), false);
        let problem = converted.problem.as_ref().map(Problem::sentence);
        (
            converted.text(raw).unwrap().into_owned(),
            converted.repaired,
            problem,
        )
    }

    #[test]
    fn what_an_api_takes_stays_byte_for_byte() {
        let right = r##"{"type":"object","properties":{"n":{"type":["array","null"],"items":{"type":"string"},"minItems":1.0},"o":{"anyOf":[{"type":"number","minimum":1.50},{"$ref":"#/$defs/o"}]},"v":{}},"required":["n"],"$defs":{"o":{"type":"string","enum":["",null]}}}"##;
        for rules in [&OPENAI, &ANTHROPIC, &SEVEN] {
            assert_eq!(written(rules, right), (right.to_owned(), 0, None));
        }
        let led = r##"{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#/definitions/x~1y/items"},"c":{"$ref":"#name"},"d":{"$ref":"#/%24defs"}},"definitions":{"x/y":{"items":{}}}}"##;
        assert_eq!(written(&ANTHROPIC, led), (led.to_owned(), 0, None));
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
                "`anyOf` is refused at the root",
            ),
            (
                &ANTHROPIC,
                r#"{"type":"object","oneOf":[{}]}"#.to_owned(),
                "`oneOf` is refused at the root",
            ),
            (
                &OPENAI,
                r#"{"type":"object","properties":{},"not":{}}"#.to_owned(),
                "`not` is refused at the root",
            ),
            (
                &OPENAI,
                of(r#"{"type":"array"}"#),
                "`properties['…'].type` is an array, and there is no schema of its items",
            ),
            (
                &OPENAI,
                of(r#"{"type":"array","items":true}"#),
                "`properties['…'].type` is an array, and there is no schema of its items",
            ),
            (
                &OPENAI,
                of(r#"{"type":"any"}"#),
                "`properties['…'].type` is not valid JSON Schema",
            ),
            (
                &SEVEN,
                of(r#"{"type":"string","required":true}"#),
                "`properties['…'].required` is not valid JSON Schema",
            ),
            (
                &SEVEN,
                of(r#"{"anyOf":[{"type":"object","properties":[]}]}"#),
                "`properties['…'].anyOf[0].properties` is not valid JSON Schema",
            ),
        ] {
            assert_eq!(written(rules, &raw).2.as_deref(), Some(problem), "{raw}");
        }
        let nowhere = of(r##"{"anyOf":[{"$ref":"#/definitions/tags"}]}"##);
        let problem = "`properties['…'].anyOf[0].$ref` leads nowhere";
        assert_eq!(written(&ANTHROPIC, &nowhere).2.as_deref(), Some(problem));
        assert_eq!(written(&OPENAI, &nowhere).2, None);
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
            assert_eq!(problem, "`properties['…']` is not called `[a-zA-Z0-9_.-]{1,64}`");
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
}
