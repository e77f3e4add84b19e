//! The conditions for schemas of strict tools, from the pages of the vendors that have such tools.
//!
//! <https://developers.openai.com/api/docs/guides/structured-outputs>, "Supported schemas", and the keywords that its API refuses as not
//! permitted in public reports (openai-agents-python 4353, oh-my-pi 206 and 209, jcode 687);
//! <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>, "JSON Schema limitations"; read 2026-11.

use serde_json::{Map, Value};

use crate::tools::schemas::keywords::{inner, is_of};

/// The schemas that a vendor accepts for strict tools. All of them require closed objects.
#[derive(Debug)]
pub(crate) struct StrictRules {
    /// Whether every property must be required.
    requires_all: bool,
    /// Maximum number of nested objects.
    most_levels: u8,
    /// Keywords that are refused, separated by blanks.
    refused: &'static str,
    /// Formats that are accepted, separated by blanks.
    formats: &'static str,
    /// Whether a reference may have no sibling keywords.
    has_lone_references: bool,
    /// Whether a schema may contain itself, and `minItems` may be any number.
    is_lenient: bool,
    /// Maximum number of strict tools in a request.
    pub(crate) most_tools: usize,
}

/// Maximum number of schemas of a definition that are checked; references that multiply end here.
const MOST_SCHEMAS: u32 = 2_000;

/// Maximum number of nested references; a reference to itself ends here.
const MOST_REFERENCES: u8 = 32;

impl StrictRules {
    /// The rules of OpenAI.
    pub(crate) const OPENAI: Self = Self {
        requires_all: true,
        most_levels: 10,
        refused: "allOf oneOf not if then else dependentRequired dependentSchemas patternProperties propertyNames uniqueItems default",
        formats: "date-time time date duration email hostname ipv4 ipv6 uuid",
        has_lone_references: true,
        is_lenient: true,
        most_tools: usize::MAX,
    };

    /// The rules of Anthropic.
    pub(crate) const ANTHROPIC: Self = Self {
        requires_all: false,
        most_levels: u8::MAX,
        refused: "oneOf not if then else dependentRequired dependentSchemas patternProperties propertyNames minProperties maxProperties minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems contains prefixItems",
        formats: "date-time time date duration email hostname uri ipv4 ipv6 uuid",
        has_lone_references: false,
        is_lenient: false,
        most_tools: 20,
    };

    /// Whether a strict tool may have these parameters.
    pub(crate) fn allow(&self, schema: &Map<String, Value>) -> bool {
        let mut schema = schema.clone();
        // A root without a type is written with one.
        schema.entry("type").or_insert_with(|| "object".into());
        let (root, mut left) = (Value::Object(schema.clone()), MOST_SCHEMAS);
        self.allow_in(&schema, &root, [self.most_levels, MOST_REFERENCES], &mut left)
    }

    fn allow_in(&self, schema: &Map<String, Value>, root: &Value, levels: [u8; 2], left: &mut u32) -> bool {
        let [objects, references] = levels;
        let properties = schema.get("properties").and_then(Value::as_object);
        let is_object = is_of(schema, "object");
        let (Some(objects), Some(fewer)) = (objects.checked_sub(u8::from(is_object)), left.checked_sub(1))
        else {
            return false;
        };
        *left = fewer;
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|own| own == name));
        let is_closed = !is_object && properties.is_none()
            || schema.get("additionalProperties") == Some(&Value::Bool(false))
                && (!self.requires_all
                    || properties.is_some_and(|properties| properties.keys().all(is_required)));
        let has = |key: &str| schema.contains_key(key);
        let is_typed = ["type", "properties", "anyOf", "allOf", "$ref", "enum", "const"]
            .into_iter()
            .any(has);
        let format = schema.get("format").map(Value::as_str);
        let has_format = format.is_none_or(|format| {
            format.is_some_and(|format| self.formats.split(' ').any(|own| own == format))
        });
        let is_plain = |value: &Value| !value.is_object() && !value.is_array();
        let mut values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        let is_lean = schema
            .get("minItems")
            .is_none_or(|least| *least == 0 || *least == 1)
            && values.all(is_plain);
        is_closed
            && is_typed
            && has_format
            && (self.is_lenient || is_lean)
            && !self.refused.split(' ').any(has)
            && self.allow_reference(schema, root, [objects, references], left)
            && inner(schema).all(|(_, _, inner)| self.allow_in(inner, root, [objects, references], left))
    }

    /// Whether a reference, if there is one, leads to an allowed schema.
    fn allow_reference(
        &self,
        schema: &Map<String, Value>,
        root: &Value,
        levels: [u8; 2],
        left: &mut u32,
    ) -> bool {
        let Some(place) = schema.get("$ref") else {
            return true;
        };
        let pointer = place.as_str().and_then(|place| place.strip_prefix('#'));
        let target = pointer
            .and_then(|pointer| root.pointer(pointer))
            .and_then(Value::as_object);
        let ([objects, references], Some(target)) = (levels, target) else {
            return false;
        };
        if self.is_lenient {
            return !self.has_lone_references || schema.len() == 1;
        }
        let Some(references) = references.checked_sub(1) else {
            return false;
        };
        self.allow_in(target, root, [objects, references], left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(rules: &StrictRules, raw: &str) -> bool {
        rules.allow(&serde_json::from_str(raw).unwrap())
    }

    /// A closed object with one property.
    fn closed(property: &str) -> String {
        format!(
            r#"{{"type":"object","properties":{{"p":{property}}},"required":["p"],"additionalProperties":false}}"#
        )
    }

    #[test]
    fn objects_are_closed_and_openai_wants_all_of_their_properties_at_every_depth() {
        let whole = closed(r#"{"type":"string"}"#);
        for rules in [&StrictRules::OPENAI, &StrictRules::ANTHROPIC] {
            assert!(allows(rules, &closed(&whole)));
            assert!(!allows(rules, &closed(&whole.replace("false", "true"))));
            assert!(!allows(rules, r#"{"const":"a"}"#), "the root is an object");
            assert!(!allows(rules, &closed(r#"{"type":"object","properties":{}}"#)));
            assert!(!allows(
                rules,
                &closed(r#"{"type":["object","null"],"properties":{}}"#)
            ));
        }
        let optional = closed(&whole.replace(r#"["p"]"#, "[]"));
        assert!(!allows(&StrictRules::OPENAI, &optional) && allows(&StrictRules::ANTHROPIC, &optional));
        let nested =
            |levels: usize| (1..levels).fold(closed(r#"{"type":"string"}"#), |inner, _| closed(&inner));
        assert!(allows(&StrictRules::OPENAI, &nested(10)) && !allows(&StrictRules::OPENAI, &nested(11)));
    }

    #[test]
    fn what_a_page_does_not_list_makes_no_strict_tool() {
        for (property, openai, anthropic) in [
            (
                r#"{"type":"string","format":"date","description":"d"}"#,
                true,
                true,
            ),
            (r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, true, true),
            (
                r#"{"type":"array","items":{"type":"string"},"minItems":1}"#,
                true,
                true,
            ),
            (
                r#"{"type":"array","items":{"type":"string"},"minItems":2}"#,
                true,
                false,
            ),
            (r#"{"type":"string","format":"uri"}"#, false, true),
            (r#"{"type":"string","minLength":1}"#, true, false),
            (r#"{"type":"integer","minimum":1}"#, true, false),
            (r#"{"type":"string","default":"a"}"#, false, true),
            (r#"{"oneOf":[{"type":"string"}]}"#, false, false),
            (r#"{"allOf":[{"type":"string"}]}"#, false, true),
            (r#"{"enum":["a",1,null]}"#, true, true),
            (r#"{"enum":[{}]}"#, true, false),
            (r#"{"description":"anything"}"#, false, false),
            (r##"{"$ref":"#/$defs/none"}"##, false, false),
            (r#"{"$ref":"https://a.example/s"}"#, false, false),
        ] {
            let schema = closed(property);
            let allowed = [&StrictRules::OPENAI, &StrictRules::ANTHROPIC].map(|rules| allows(rules, &schema));
            assert_eq!(allowed, [openai, anthropic], "{property}");
        }
    }

    #[test]
    fn a_schema_may_hold_itself_at_openai_only_and_references_that_multiply_end() {
        let tree = closed(r##"{"anyOf":[{"$ref":"#"},{"type":"null"}]}"##);
        assert!(allows(&StrictRules::OPENAI, &tree) && !allows(&StrictRules::ANTHROPIC, &tree));
        let defined = |inner: &str| {
            let root = closed(inner);
            let root = root.strip_suffix('}').unwrap();
            format!(r#"{root},"$defs":{{"a":{{"type":"string"}}}}}}"#)
        };
        let beside = defined(r##"{"$ref":"#/$defs/a","description":"d"}"##);
        assert!(!allows(&StrictRules::OPENAI, &beside) && allows(&StrictRules::ANTHROPIC, &beside));
        let many: Vec<String> = (1..30)
            .map(|at| {
                format!(
                    r##""d{at}":{{"anyOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##,
                    at - 1
                )
            })
            .collect();
        let many = format!(
            r#"{{"type":"object","additionalProperties":false,"$defs":{{"d0":{{"type":"string"}},{}}}}}"#,
            many.join(",")
        );
        assert!(!allows(&StrictRules::ANTHROPIC, &many));
    }
}
