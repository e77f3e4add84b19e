//! `arguments-not-string`: the arguments of a call are a JSON value where the format wants a string that holds one.
//!
//! Formats that write a value by definition have no such fault, nor have calls that a source takes from a text or from its
//! metadata.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{ArgumentForm, Linked, TextArguments, ToolCall};

use crate::Rule;
use crate::walk::{at_arguments, calls};

/// Whether the format writes the arguments of such a call as a string.
fn is_text(wanted: TextArguments, call: &ToolCall) -> bool {
    match wanted {
        TextArguments::All => true,
        TextArguments::WithId => call.id.is_some(),
        TextArguments::None => false,
    }
}

/// Finds calls whose arguments stand in the record as a value.
pub(crate) struct ArgumentsNotString;

impl Rule for ArgumentsNotString {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::ARGUMENTS_NOT_STRING];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        let wanted = linked.conversation.customs.text_arguments;
        for (message, call) in calls(linked) {
            if call.form == ArgumentForm::Embedded && is_text(wanted, call) {
                let text = "arguments are a JSON value, not a string that holds one";
                findings.push(at_arguments(&codes::ARGUMENTS_NOT_STRING, message, call, text));
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

    /// Findings for a call with an id and one without, where these calls write their arguments as a string.
    fn found(wanted: TextArguments) -> Vec<Option<u32>> {
        let mut sample = Sample::new();
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Embedded);
        sample.call(None, "weather", object("{}"), ArgumentForm::Embedded);
        let mut linked = sample.linked();
        linked.conversation.customs.text_arguments = wanted;
        let mut findings = Vec::new();
        ArgumentsNotString.check(&linked, &Limits::default(), &mut findings);
        findings.iter().map(|finding| finding.position).collect()
    }

    #[test]
    fn formats_that_write_values_are_silent_where_they_do() {
        assert_eq!(found(TextArguments::All), [Some(0), Some(1)]);
        assert_eq!(found(TextArguments::WithId), [Some(0)]);
        assert_eq!(found(TextArguments::None), []);
    }

    #[test]
    fn arguments_as_text_are_silent() {
        let mut sample = Sample::new();
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Text);
        assert!(sample.check(&ArgumentsNotString).is_empty());
    }
}
