//! `missing-call-id`: a call or a result without the id that ties them together.
//!
//! Formats that tie them together by place and name have no such fault.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{Linked, Part};

use crate::Rule;
use crate::walk::{at_message, parts};

/// Sources whose format pairs calls and results by place and name.
const WITHOUT_IDS: [&str; 1] = ["gemini-contents"];

/// Finds calls without id and results that do not say whose they are.
pub(crate) struct MissingCallId;

impl Rule for MissingCallId {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::MISSING_CALL_ID];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        if WITHOUT_IDS.contains(&linked.conversation.source) {
            return;
        }
        for (message, part) in parts(linked) {
            let text = match part {
                Part::ToolCall(call) if is_missing(call.id.as_deref()) => "call has no id",
                Part::ToolResult(result) if is_missing(result.call_id.as_deref()) => {
                    "result does not say which call it answers"
                }
                _ => continue,
            };
            findings.push(at_message(&codes::MISSING_CALL_ID, message, text));
        }
    }
}

fn is_missing(id: Option<&str>) -> bool {
    id.is_none_or(str::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, object};
    use chatmill_model::ArgumentForm;

    #[test]
    fn a_call_and_a_result_without_id_are_found() {
        let mut sample = Sample::new();
        sample.call(None, "weather", object("{}"), ArgumentForm::Text);
        sample.answer(Some(""), "weather");
        let findings = sample.check(&MissingCallId);
        let texts: Vec<_> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            texts,
            ["call has no id", "result does not say which call it answers"]
        );
    }

    #[test]
    fn a_format_without_ids_is_silent() {
        let mut sample = Sample::new();
        sample.call(None, "weather", object("{}"), ArgumentForm::Text);
        let mut linked = sample.linked();
        linked.conversation.source = "gemini-contents";
        let mut findings = Vec::new();
        MissingCallId.check(&linked, &Limits::default(), &mut findings);
        assert_eq!(findings, Vec::new());
    }

    #[test]
    fn a_call_and_a_result_with_ids_are_silent() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        assert!(sample.check(&MissingCallId).is_empty());
    }
}
