//! Converts the parameters of a function to JSON Schema, which all vendors except Gemini accept.
//!
//! Words become those of JSON Schema if the source spells them like Gemini or Python, and the parameters become an object.

use std::borrow::Cow;

use serde_json::Value;

use crate::loss::schema_path::Problem;
use crate::text::json::{behind_brace, compact};
use crate::tools::schemas::schema_rules::SchemaRules;
use crate::tools::schemas::spelling::{respell, translate};

/// The schema of a tool without parameters.
pub(crate) const NO_PARAMETERS: &str = "{\"type\":\"object\",\"properties\":{}}";

/// The same for a strict tool.
const NOTHING_ELSE: &str = "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}";

/// A converted schema and the changes to it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Parameters {
    /// How the schema is written.
    pub(crate) schema: Schema,
    /// Number of types other than `object` and of constraints that are left out.
    pub(crate) dropped: u64,
    /// Number of types that are added because the schema has none.
    pub(crate) filled: u64,
    /// Number of places that are rewritten and still accept the same values.
    pub(crate) repaired: u64,
    /// The problem, if the rules of the vendor do not allow the schema.
    pub(crate) problem: Option<Problem>,
    /// Whether a strict tool may have the schema.
    pub(crate) may_be_strict: bool,
    /// Whether it is written in JSON Schema because the vendor's subset cannot express it.
    pub(crate) is_beyond: bool,
}

/// How a schema is written.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum Schema {
    /// As in the source, without white space.
    #[default]
    AsItIs,
    /// As this text.
    Text(Cow<'static, str>),
    /// Not at all.
    Nowhere,
}

impl Parameters {
    /// Creates parameters with this text and without a problem.
    pub(crate) fn of(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            schema: Schema::Text(text.into()),
            ..Self::default()
        }
    }

    /// Creates the parameters of a tool that takes none.
    pub(crate) fn of_nothing(is_strict: bool) -> Self {
        Self {
            may_be_strict: is_strict,
            ..Self::of(if is_strict { NOTHING_ELSE } else { NO_PARAMETERS })
        }
    }

    /// Returns the text of the schema, given its text `raw` in the source; `None` if it is not written.
    pub(crate) fn text<'t>(&self, raw: &'t str) -> Option<Cow<'t, str>> {
        match &self.schema {
            Schema::AsItIs => Some(compact(raw)),
            Schema::Text(text) => Some(text.clone()),
            Schema::Nowhere => None,
        }
    }
}

/// Converts the parameters of a function by the rules of the vendor, if it has any; a valid schema stays unchanged. If the tool claims to
/// be strict (`is_strict`), checks whether the schema allows it.
pub(crate) fn convert(raw: &str, rules: Option<&SchemaRules>, is_strict: bool) -> Parameters {
    let mut converted = Parameters::default();
    let Ok(Value::Object(mut schema)) = serde_json::from_str(raw) else {
        return converted;
    };
    let is_respelled = respell(&mut schema) | translate(&mut schema);
    let repaired = rules.map_or(0, |rules| rules.repair(&mut schema));
    match schema.get("type") {
        Some(Value::Array(words)) if words.iter().any(|word| word == "object") => {
            schema.insert("type".to_owned(), "object".into());
            converted.dropped = 1;
        }
        Some(word) if word != "object" => {
            return Parameters {
                dropped: 1,
                ..Parameters::of(NO_PARAMETERS)
            };
        }
        _ => {}
    }
    converted.repaired = repaired;
    if let Some(rules) = rules {
        converted.problem = rules.problem(&schema);
        converted.may_be_strict = is_strict && rules.strict.is_some_and(|strict| strict.allow(&schema));
    }
    let is_changed = is_respelled || converted.dropped > 0 || converted.repaired > 0;
    let changed = is_changed.then(|| Value::Object(schema.clone()).to_string());
    if !schema.contains_key("type") {
        // The type is inserted into the text, so that numbers under other keys keep their digits.
        let written = changed.map_or_else(|| compact(raw), Cow::Owned);
        let rest = behind_brace(&written);
        let separator = if rest == "}" { "" } else { "," };
        converted.schema = Schema::Text(format!("{{\"type\":\"object\"{separator}{rest}").into());
        converted.filled = 1;
    } else if let Some(changed) = changed {
        converted.schema = Schema::Text(changed.into());
    }
    converted
}

/// The same without rules, for readers that require `properties`: a schema without it gets an empty object.
pub(crate) fn with_properties(raw: &str) -> Parameters {
    let converted = convert(raw, None, false);
    let written = converted.text(raw).unwrap_or_default();
    match serde_json::from_str(&written) {
        Ok(Value::Object(schema)) if !schema.contains_key("properties") => {
            let fields = written.strip_suffix('}').unwrap_or_default();
            let separator = if schema.is_empty() { "" } else { "," };
            Parameters {
                schema: Schema::Text(format!("{fields}{separator}\"properties\":{{}}}}").into()),
                repaired: converted.repaired + 1,
                ..converted
            }
        }
        _ => converted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(raw: &str) -> (String, u64, u64) {
        let parameters = convert(raw, None, false);
        let text = parameters.text(raw).unwrap().into_owned();
        (text, parameters.dropped, parameters.filled)
    }

    #[test]
    fn readers_that_look_for_properties_find_some() {
        let written = |raw: &str| {
            let parameters = with_properties(raw);
            (parameters.text(raw).unwrap().into_owned(), parameters.repaired)
        };
        let none = (NO_PARAMETERS.to_owned(), 1);
        assert_eq!(written(r#"{"type":"object"}"#), none);
        assert_eq!(written("{}"), none);
        let some = r#"{"type":"object","properties":{"a":{}}}"#;
        assert_eq!(written(some), (some.to_owned(), 0));
    }

    #[test]
    fn a_schema_of_an_object_stays_as_it_is_written() {
        let raw = r#"{"properties":{"n":{"type":"number","minimum":1.50}},"type":"object"}"#;
        assert_eq!(converted(raw), (raw.to_owned(), 0, 0));
    }

    #[test]
    fn types_in_upper_case_are_respelled_at_every_depth_and_other_words_are_not() {
        let raw = r#"{"type":"OBJECT","properties":{"type":{"type":"STRING","enum":["STRING"]},"l":{"type":"ARRAY","items":{"anyOf":[{"type":"INTEGER"}]}}}}"#;
        let wanted = r#"{"type":"object","properties":{"type":{"type":"string","enum":["STRING"]},"l":{"type":"array","items":{"anyOf":[{"type":"integer"}]}}}}"#;
        assert_eq!(converted(raw), (wanted.to_owned(), 0, 0));
    }

    #[test]
    fn types_in_pythons_words_are_respelled() {
        let raw = r#"{"type":"dict","properties":{"n":{"type":"float"},"l":{"type":"tuple","items":{"type":"int"}}}}"#;
        let wanted = r#"{"type":"object","properties":{"n":{"type":"number"},"l":{"type":"array","items":{"type":"integer"}}}}"#;
        assert_eq!(converted(raw), (wanted.to_owned(), 0, 0));
    }

    #[test]
    fn a_schema_of_another_type_becomes_an_object_and_is_declared() {
        assert_eq!(converted("{}"), (r#"{"type":"object"}"#.to_owned(), 0, 1));
        assert_eq!(
            converted(r#"{"minProperties": 1.0}"#),
            (r#"{"type":"object","minProperties":1.0}"#.to_owned(), 0, 1)
        );
        assert_eq!(
            converted(r#"{"title":"T","type":["object","null"]}"#),
            (r#"{"title":"T","type":"object"}"#.to_owned(), 1, 0)
        );
        assert_eq!(
            converted(r#"{"type":"string"}"#),
            (NO_PARAMETERS.to_owned(), 1, 0)
        );
    }
}
