//! `duplicate-result`: a call is answered twice.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{CallStatus, Linked};

use crate::Rule;
use crate::walk::{Id, at_result, result_of};

/// Finds further results for a call that has one.
pub(crate) struct DuplicateResult;

impl Rule for DuplicateResult {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::DUPLICATE_RESULT];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for pairing in linked
            .pairings
            .iter()
            .filter(|pairing| pairing.status == CallStatus::Duplicate)
        {
            if let Some((message, result)) = result_of(linked, pairing) {
                let text = match result.known_id() {
                    Some(id) => format!("call {} has a result already", Id(id)),
                    None => "call has a result already".to_owned(),
                };
                findings.push(at_result(&codes::DUPLICATE_RESULT, message, result, text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn the_second_answer_is_found() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        sample.answer(Some("c1"), "weather");
        sample.pair(Some(0), Some(1), CallStatus::Paired);
        sample.pair(None, Some(2), CallStatus::Duplicate);
        let findings = sample.check(&DuplicateResult);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].position, Some(2));
        assert_eq!(findings[0].message, "call `c1` has a result already");
    }

    #[test]
    fn one_answer_is_silent() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        sample.pair(Some(0), Some(1), CallStatus::Paired);
        assert!(sample.check(&DuplicateResult).is_empty());
    }
}
