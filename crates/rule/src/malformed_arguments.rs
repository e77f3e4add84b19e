//! `malformed-arguments`: the arguments of a call are not JSON.

use chatmill_diag::{Code, Finding, Limits, Severity, codes};
use chatmill_model::{ArgumentForm, Arguments, Linked};

use crate::Rule;
use crate::walk::{at_arguments, calls};

/// Finds calls whose arguments are not JSON; empty ones are only a note.
pub(crate) struct MalformedArguments;

impl Rule for MalformedArguments {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::MALFORMED_ARGUMENTS];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for (message, call) in calls(linked) {
            if let Arguments::Malformed(text) = &call.arguments
                && call.form != ArgumentForm::FreeText
            {
                findings.push(if text.trim().is_empty() {
                    at_arguments(&codes::MALFORMED_ARGUMENTS, message, call, "arguments are empty")
                        .with_severity(Severity::Note)
                } else {
                    at_arguments(
                        &codes::MALFORMED_ARGUMENTS,
                        message,
                        call,
                        "arguments are not JSON",
                    )
                    .quoting(text)
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, object};

    #[test]
    fn text_for_a_tool_that_takes_any_text_is_silent() {
        let mut sample = Sample::new();
        let patch = Arguments::Malformed("*** Begin Patch".to_owned());
        sample.call(None, "apply_patch", patch, ArgumentForm::FreeText);
        assert!(sample.check(&MalformedArguments).is_empty());
    }

    #[test]
    fn text_that_is_not_json_is_a_warning() {
        let mut sample = Sample::new();
        sample.call(
            None,
            "weather",
            Arguments::Malformed("{city:".to_owned()),
            ArgumentForm::Text,
        );
        let findings = sample.check(&MalformedArguments);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].severity, Severity::Warning);
        assert_eq!(findings[0].message, "arguments are not JSON");
        assert_eq!(findings[0].detail.as_deref(), Some("{city:"));
    }

    #[test]
    fn empty_text_is_a_note() {
        let mut sample = Sample::new();
        sample.call(
            None,
            "weather",
            Arguments::Malformed(String::new()),
            ArgumentForm::Text,
        );
        let findings = sample.check(&MalformedArguments);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].severity, Severity::Note);
    }

    #[test]
    fn an_object_is_silent() {
        let mut sample = Sample::new();
        sample.call(None, "weather", object("{}"), ArgumentForm::Text);
        assert!(sample.check(&MalformedArguments).is_empty());
    }
}
