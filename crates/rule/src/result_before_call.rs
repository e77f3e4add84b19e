//! `result-before-call`: the answer stands before the question.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{CallStatus, Linked};

use crate::Rule;
use crate::walk::{Id, at_result, call_of, result_of};

/// Finds results that stand before their call.
pub(crate) struct ResultBeforeCall;

impl Rule for ResultBeforeCall {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::RESULT_BEFORE_CALL];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for pairing in linked
            .pairings
            .iter()
            .filter(|pairing| pairing.status == CallStatus::Early)
        {
            if let (Some((message, result)), Some((caller, call))) =
                (result_of(linked, pairing), call_of(linked, pairing))
            {
                let id = call
                    .id
                    .as_deref()
                    .map_or_else(String::new, |id| format!(" {}", Id(id)));
                let text = format!(
                    "result stands before its call{id} at position {}",
                    caller.position
                );
                let named = call.id.as_deref().unwrap_or_default();
                findings.push(at_result(&codes::RESULT_BEFORE_CALL, message, result, text).naming(named));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, object};
    use chatmill_model::ArgumentForm;

    #[test]
    fn an_early_result_is_found_where_the_result_stands() {
        let mut sample = Sample::new();
        sample.answer(Some("c1"), "weather");
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Text);
        sample.pair(Some(1), Some(0), CallStatus::Early);
        let findings = sample.check(&ResultBeforeCall);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].position, Some(0));
        assert_eq!(
            findings[0].message,
            "result stands before its call `c1` at position 1"
        );
    }

    #[test]
    fn a_result_after_its_call_is_silent() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        sample.pair(Some(0), Some(1), CallStatus::Paired);
        assert!(sample.check(&ResultBeforeCall).is_empty());
    }
}
