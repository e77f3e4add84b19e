//! `missing-call-id`: a call or a result without the id that ties them together.
//!
//! Formats that tie them together by place and name have no such fault, nor has what the source's metadata ties together.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{Linked, Part};

use crate::Rule;
use crate::walk::{at_call, at_result, parts};

/// Finds calls without id and results that do not say whose they are.
pub(crate) struct MissingCallId;

impl Rule for MissingCallId {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::MISSING_CALL_ID];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        if linked.conversation.customs.pairs_by_place {
            return;
        }
        for (message, part) in parts(linked) {
            let code = &codes::MISSING_CALL_ID;
            findings.push(match part {
                Part::ToolCall(call) if none_of([&call.id, &call.metadata_id]) => {
                    at_call(code, message, call, "call has no id")
                }
                Part::ToolResult(result)
                    if none_of([&result.call_id, &result.metadata_id, &result.caller]) =>
                {
                    at_result(code, message, result, "result does not say which call it answers")
                }
                _ => continue,
            });
        }
    }
}

fn none_of<const COUNT: usize>(ids: [&Option<String>; COUNT]) -> bool {
    ids.into_iter().flatten().all(String::is_empty)
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
        linked.conversation.customs.pairs_by_place = true;
        let mut findings = Vec::new();
        MissingCallId.check(&linked, &Limits::default(), &mut findings);
        assert_eq!(findings, Vec::new());
    }

    #[test]
    fn what_metadata_ties_together_is_silent() {
        let mut sample = Sample::new();
        sample.call(None, "weather", object("{}"), ArgumentForm::Text);
        sample.answer(None, "weather");
        sample.answer(None, "weather");
        let mut linked = sample.linked();
        let id = || Some("xml_tool_index0_m0".to_owned());
        let messages = &mut linked.conversation.messages;
        if let [Part::ToolCall(call)] = messages[0].parts.as_mut_slice() {
            call.metadata_id = id();
        }
        if let [Part::ToolResult(result)] = messages[1].parts.as_mut_slice() {
            result.metadata_id = id();
        }
        if let [Part::ToolResult(result)] = messages[2].parts.as_mut_slice() {
            result.caller = Some("m0".to_owned());
        }
        let mut findings = Vec::new();
        MissingCallId.check(&linked, &Limits::default(), &mut findings);
        assert_eq!(findings, Vec::new());
        if let [Part::ToolResult(result)] = linked.conversation.messages[2].parts.as_mut_slice() {
            result.caller = None;
        }
        MissingCallId.check(&linked, &Limits::default(), &mut findings);
        assert_eq!(findings.len(), 1);
    }

    #[test]
    fn a_call_and_a_result_with_ids_are_silent() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        assert!(sample.check(&MissingCallId).is_empty());
    }
}
