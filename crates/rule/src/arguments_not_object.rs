//! `arguments-not-object`: the arguments of a call are JSON, but no object.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{Arguments, Linked};

use crate::Rule;
use crate::walk::{at_arguments, calls};

/// Finds calls whose arguments are an array, a string, a number or a constant.
pub(crate) struct ArgumentsNotObject;

impl Rule for ArgumentsNotObject {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::ARGUMENTS_NOT_OBJECT];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for (message, call) in calls(linked) {
            if let Arguments::NotObject(raw) = &call.arguments {
                let text = format!("arguments are {}, not an object", kind(raw.as_str()));
                findings.push(
                    at_arguments(&codes::ARGUMENTS_NOT_OBJECT, message, call, text).quoting(raw.as_str()),
                );
            }
        }
    }
}

/// What a JSON value is, told by its first character.
fn kind(raw: &str) -> &'static str {
    match raw.trim_start().chars().next() {
        Some('[') => "an array",
        Some('"') => "a string",
        Some('t' | 'f') => "a boolean",
        Some('n') => "null",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, object};
    use chatmill_model::{ArgumentForm, RawJson};

    #[test]
    fn json_that_is_no_object_is_found_and_named() {
        let values = [
            ("[1]", "arguments are an array, not an object"),
            (" \"x\"", "arguments are a string, not an object"),
            ("true", "arguments are a boolean, not an object"),
            ("null", "arguments are null, not an object"),
            ("-7", "arguments are a number, not an object"),
        ];
        for (raw, expected) in values {
            let mut sample = Sample::new();
            sample.call(
                None,
                "weather",
                Arguments::NotObject(RawJson(raw.to_owned())),
                ArgumentForm::Text,
            );
            let findings = sample.check(&ArgumentsNotObject);
            assert_eq!(findings.len(), 1);
            assert_eq!(findings[0].message, expected);
        }
    }

    #[test]
    fn an_object_is_silent() {
        let mut sample = Sample::new();
        sample.call(None, "weather", object("{}"), ArgumentForm::Text);
        assert!(sample.check(&ArgumentsNotObject).is_empty());
    }
}
