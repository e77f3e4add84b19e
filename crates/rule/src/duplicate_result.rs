//! `duplicate-result`: a call has two results.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{CallStatus, Linked};

use crate::walk::{at_result, results, with_id};

/// Finds further results of a call.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for (message, result) in results(linked, CallStatus::Duplicate) {
        let text = format!("call{} already has a result", with_id(result.known_id()));
        findings.push(at_result(&codes::DUPLICATE_RESULT, message, result, text));
    }
}
