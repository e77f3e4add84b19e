//! Parameters of a function in JSON Schema, as all vendors but Gemini want them.
//!
//! Types are the words of JSON Schema, also where the source wrote them as Gemini or Python does, and what a function takes is an object.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::text::json::{behind_brace, compact};
use crate::tools::schema_rules::{SchemaRules, each_inner, may_be_strict};

/// The schema of a tool that takes nothing.
pub(crate) const NO_PARAMETERS: &str = "{\"type\":\"object\",\"properties\":{}}";

/// The same for a strict tool.
const NOTHING_ELSE: &str = "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}";

/// What became of a schema.
#[derive(Debug, PartialEq)]
pub(crate) struct Parameters<'a> {
    /// The schema of an object.
    pub(crate) schema: Cow<'a, str>,
    /// Types beside `object` that are left out.
    pub(crate) dropped: u64,
    /// Types that are added because the schema names none.
    pub(crate) filled: u64,
    /// Places that are written in other words, which take the same.
    pub(crate) repaired: u64,
    /// What the rules of the vendor do not allow.
    pub(crate) problem: Option<String>,
    /// Whether OpenAI takes it as strict.
    pub(crate) may_be_strict: bool,
    /// Whether it is JSON Schema where the vendor's own subset cannot hold it.
    pub(crate) is_beyond: bool,
}

impl<'a> Parameters<'a> {
    /// Those that nothing is wrong with.
    pub(crate) fn right(schema: Cow<'a, str>) -> Self {
        Self {
            schema,
            dropped: 0,
            filled: 0,
            repaired: 0,
            problem: None,
            may_be_strict: false,
            is_beyond: false,
        }
    }

    /// Those of a tool that takes nothing.
    pub(crate) fn of_nothing(is_strict: bool) -> Self {
        let schema = if is_strict { NOTHING_ELSE } else { NO_PARAMETERS };
        Self {
            may_be_strict: is_strict,
            ..Self::right(schema.into())
        }
    }
}

/// Converts the parameters of a function by the rules of a vendor that has some; a schema that is right already stays as it is written.
/// `is_strict` is whether the tool claims to be, which is examined.
pub(crate) fn convert<'a>(raw: &'a str, rules: Option<&SchemaRules>, is_strict: bool) -> Parameters<'a> {
    let mut converted = Parameters::right(compact(raw));
    let Ok(Value::Object(mut schema)) = serde_json::from_str(raw) else {
        return converted;
    };
    let is_respelled = respell(&mut schema);
    match schema.get("type") {
        Some(Value::Array(words)) if words.iter().any(|word| word == "object") => {
            schema.insert("type".to_owned(), "object".into());
            converted.dropped = 1;
        }
        Some(word) if word != "object" => {
            converted.schema = NO_PARAMETERS.into();
            converted.dropped = 1;
            return converted;
        }
        _ => {}
    }
    if let Some(rules) = rules {
        converted.repaired = rules.repair(&mut schema);
        converted.problem = rules.problem(&schema);
        converted.may_be_strict = is_strict && may_be_strict(&schema);
    }
    if is_respelled || converted.dropped > 0 || converted.repaired > 0 {
        converted.schema = Value::Object(schema.clone()).to_string().into();
    }
    if !schema.contains_key("type") {
        // Numbers of the other keys keep their digits.
        let rest = behind_brace(&converted.schema);
        let separator = if rest == "}" { "" } else { "," };
        converted.schema = format!("{{\"type\":\"object\"{separator}{rest}").into();
        converted.filled = 1;
    }
    converted
}

/// Writes types of Gemini and Python in the words of JSON Schema; whether there were any.
fn respell(schema: &mut Map<String, Value>) -> bool {
    let mut any = false;
    let words = match schema.get_mut("type") {
        Some(Value::Array(words)) => words.as_mut_slice(),
        Some(word) => std::slice::from_mut(word),
        None => &mut [],
    };
    for word in words {
        if let Value::String(word) = word {
            any |= respell_type(word);
        }
    }
    each_inner(schema, &mut |schema| any |= respell(schema));
    any
}

fn respell_type(word: &mut String) -> bool {
    let respelled = respelled(word);
    if let Some(respelled) = respelled {
        respelled.clone_into(word);
    }
    respelled.is_some()
}

/// The word of JSON Schema for a type of Gemini's or Python's.
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

    fn converted(raw: &str) -> (String, u64, u64) {
        let parameters = convert(raw, None, false);
        (
            parameters.schema.into_owned(),
            parameters.dropped,
            parameters.filled,
        )
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
