//! `orphaned-result`: a tool answers what nobody asked.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{CallStatus, Linked};

use crate::Rule;
use crate::walk::{Id, at_result, result_of};

/// Finds results that no call asked for.
pub(crate) struct OrphanedResult;

impl Rule for OrphanedResult {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::ORPHANED_RESULT];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for pairing in linked
            .pairings
            .iter()
            .filter(|pairing| pairing.status == CallStatus::Orphaned)
        {
            if let Some((message, result)) = result_of(linked, pairing) {
                let text = match result.known_id() {
                    Some(id) => format!("no call has the id {} of this result", Id(id)),
                    None => "result belongs to no call".to_owned(),
                };
                findings.push(at_result(&codes::ORPHANED_RESULT, message, result, text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn a_result_without_call_is_found() {
        let mut sample = Sample::new();
        sample.answer(Some("c9"), "weather");
        sample.pair(None, Some(0), CallStatus::Orphaned);
        let findings = sample.check(&OrphanedResult);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].message, "no call has the id `c9` of this result");
        assert_eq!(findings[0].position, Some(0));
    }

    #[test]
    fn a_paired_result_is_silent() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        sample.pair(Some(0), Some(1), CallStatus::Paired);
        assert!(sample.check(&OrphanedResult).is_empty());
    }
}
