//! `arguments-not-string`: the arguments of a call are a JSON value where the format wants a string that holds one.
//!
//! Formats that write a value by definition have no such fault.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{ArgumentForm, Linked};

use crate::Rule;
use crate::walk::{at_message, calls};

/// Sources whose format writes arguments as a value.
const BY_VALUE: [&str; 1] = ["gemini-contents"];

/// Finds calls whose arguments stand in the record as a value.
pub(crate) struct ArgumentsNotString;

impl Rule for ArgumentsNotString {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::ARGUMENTS_NOT_STRING];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        if BY_VALUE.contains(&linked.conversation.source) {
            return;
        }
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
    fn a_format_that_writes_values_is_silent() {
        let mut sample = Sample::new();
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Embedded);
        let mut linked = sample.linked();
        linked.conversation.source = "gemini-contents";
        let mut findings = Vec::new();
        ArgumentsNotString.check(&linked, &Limits::default(), &mut findings);
        assert_eq!(findings, Vec::new());
    }

    #[test]
    fn arguments_as_text_are_silent() {
        let mut sample = Sample::new();
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Text);
        assert!(sample.check(&ArgumentsNotString).is_empty());
    }
}
