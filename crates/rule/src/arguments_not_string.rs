//! `arguments-not-string`: the arguments of a call are a JSON value where the format wants a string that holds one.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{ArgumentForm, Linked};

use crate::Rule;
use crate::walk::{at_message, calls};

/// Finds calls whose arguments stand in the record as a value.
pub(crate) struct ArgumentsNotString;

impl Rule for ArgumentsNotString {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::ARGUMENTS_NOT_STRING];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for (message, call) in calls(linked) {
            if call.form == ArgumentForm::Embedded {
                let text = "arguments are a JSON value, not a string that holds one";
                findings.push(at_message(&codes::ARGUMENTS_NOT_STRING, message, text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, object};

    #[test]
    fn an_embedded_object_is_found() {
        let mut sample = Sample::new();
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Embedded);
        let findings = sample.check(&ArgumentsNotString);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].position, Some(0));
    }

    #[test]
    fn arguments_as_text_are_silent() {
        let mut sample = Sample::new();
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Text);
        assert!(sample.check(&ArgumentsNotString).is_empty());
    }
}
