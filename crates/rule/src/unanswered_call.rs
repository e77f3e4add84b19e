//! `unanswered-call`: a call whose result is nowhere.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{CallStatus, Linked};

use crate::Rule;
use crate::walk::{Id, at_call, call_of};

/// Finds calls without a result.
pub(crate) struct UnansweredCall;

impl Rule for UnansweredCall {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::UNANSWERED_CALL];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for pairing in linked
            .pairings
            .iter()
            .filter(|pairing| pairing.status == CallStatus::Unanswered)
        {
            if let Some((message, call)) = call_of(linked, pairing) {
                let text = match call.known_id() {
                    Some(id) => format!("call {} has no result", Id(id)),
                    None => "call has no result".to_owned(),
                };
                findings.push(at_call(&codes::UNANSWERED_CALL, message, call, text));
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
    fn a_call_without_result_is_found() {
        let mut sample = Sample::new();
        sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Text);
        sample.pair(Some(0), None, CallStatus::Unanswered);
        let findings = sample.check(&UnansweredCall);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].message, "call `c1` has no result");
    }

    #[test]
    fn a_late_result_is_an_answer() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        sample.pair(Some(0), Some(1), CallStatus::Late);
        assert!(sample.check(&UnansweredCall).is_empty());
    }
}
