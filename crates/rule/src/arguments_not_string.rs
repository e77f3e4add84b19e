//! `arguments-not-string`: the arguments of a call are a JSON value where the format wants a string that holds one.
//!
//! Formats that write a value by definition have no such fault, nor have calls that a source takes from a text or from its
//! metadata.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{ArgumentForm, Linked, ToolCall};

use crate::Rule;
use crate::walk::{at_message, calls};

/// Whether the format writes the arguments of such a call as a value, or allows it.
fn is_by_value(source: &str, call: &ToolCall) -> bool {
    match source {
        "gemini-contents" | "gryag-db" | "anthropic-messages" | "bedrock-converse" | "mistral-chat"
        | "hf-messages" | "sharegpt" | "chatml" => true,
        // Only calls in the content of a row have an id of their own; text and metadata hold the others.
        "suna-rows" => call.id.is_none(),
        _ => false,
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
        let source = linked.conversation.source;
        for (message, call) in calls(linked) {
            if call.form == ArgumentForm::Embedded && !is_by_value(source, call) {
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

    /// Findings for a call with an id and one without, in a conversation of this source.
    fn found(source: &'static str) -> Vec<Option<u32>> {
        let mut sample = Sample::new();
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Embedded);
        sample.call(None, "weather", object("{}"), ArgumentForm::Embedded);
        let mut linked = sample.linked();
        linked.conversation.source = source;
        let mut findings = Vec::new();
        ArgumentsNotString.check(&linked, &Limits::default(), &mut findings);
        findings.iter().map(|finding| finding.position).collect()
    }

    #[test]
    fn a_format_that_writes_values_is_silent() {
        for source in [
            "gemini-contents",
            "gryag-db",
            "anthropic-messages",
            "bedrock-converse",
            "mistral-chat",
            "hf-messages",
            "sharegpt",
        ] {
            assert!(found(source).is_empty(), "{source}");
        }
        for source in ["openai-messages", "openai-responses"] {
            assert_eq!(found(source), [Some(0), Some(1)], "{source}");
        }
    }

    #[test]
    fn a_call_that_stands_in_a_text_or_in_metadata_is_written_as_its_format_wants() {
        assert_eq!(found("suna-rows"), [Some(0)]);
    }

    #[test]
    fn arguments_as_text_are_silent() {
        let mut sample = Sample::new();
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Text);
        assert!(sample.check(&ArgumentsNotString).is_empty());
    }
}
