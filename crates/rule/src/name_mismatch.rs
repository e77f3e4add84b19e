//! `name-mismatch`: the answer comes from another tool than the call asked.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::Linked;

use crate::Rule;
use crate::walk::{Id, at_message, call_of, result_of};

/// Finds pairs whose call and result name different tools.
pub(crate) struct NameMismatch;

impl Rule for NameMismatch {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::NAME_MISMATCH];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for pairing in &linked.pairings {
            let (Some((_, call)), Some((message, result))) =
                (call_of(linked, pairing), result_of(linked, pairing))
            else {
                continue;
            };
            if let (Some(asked), Some(answered)) = (call.name.as_deref(), result.name.as_deref())
                && asked != answered
            {
                let id = call
                    .id
                    .as_deref()
                    .map_or_else(String::new, |id| format!(" {}", Id(id)));
                let text = format!("result names another tool than its call{id}");
                findings.push(
                    at_message(&codes::NAME_MISMATCH, message, text)
                        .marking(answered)
                        .naming(call.id.as_deref().unwrap_or_default())
                        .quoting(&format!("{answered} for {asked}")),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, object};
    use chatmill_model::{ArgumentForm, CallStatus, Part};

    #[test]
    fn an_answer_of_another_tool_is_found() {
        let mut sample = Sample::new();
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Text);
        sample.answer(Some("c1"), "calendar");
        sample.pair(Some(0), Some(1), CallStatus::Paired);
        let findings = sample.check(&NameMismatch);
        assert_eq!(findings.len(), 1);
        assert_eq!(
            findings[0].message,
            "result names another tool than its call `c1`"
        );
        assert_eq!(findings[0].detail.as_deref(), Some("calendar for weather"));
    }

    #[test]
    fn equal_names_and_a_result_without_name_are_silent() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        sample.pair(Some(0), Some(1), CallStatus::Paired);
        sample.call(Some("c2"), "weather", object("{}"), ArgumentForm::Text);
        sample.answer(Some("c2"), "");
        sample.pair(Some(2), Some(3), CallStatus::Paired);
        let mut linked = sample.linked();
        if let Part::ToolResult(result) = &mut linked.conversation.messages[3].parts[0] {
            result.name = None;
        }
        let mut findings = Vec::new();
        NameMismatch.check(&linked, &Limits::default(), &mut findings);
        assert_eq!(findings, Vec::new());
    }
}
