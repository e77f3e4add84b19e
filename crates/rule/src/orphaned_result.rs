//! `orphaned-result`: a tool's result without a call.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{CallStatus, Linked};

use crate::walk::{Id, at_result, results};

/// Finds results that answer no call.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for (message, result) in results(linked, CallStatus::Orphaned) {
        let text = match result.known_id() {
            Some(id) => format!("no call has the id {} of this result", Id(id)),
            None => "result belongs to no call".to_owned(),
        };
        findings.push(at_result(&codes::ORPHANED_RESULT, message, result, text));
    }
}
