//! `result-before-call`: a tool's result precedes its call.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{CallStatus, Linked};

use crate::walk::{at_result, call_of, pairings, result_of, with_id};

/// Finds results that precede their call.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for pairing in pairings(linked, CallStatus::Early) {
        if let (Some((message, result)), Some((caller, call))) =
            (result_of(linked, pairing), call_of(linked, pairing))
        {
            let id = with_id(call.id.as_deref());
            let text = format!("the result precedes its call{id} at position {}", caller.position);
            let named = call.id.as_deref().unwrap_or_default();
            findings.push(at_result(&codes::RESULT_BEFORE_CALL, message, result, text).naming(named));
        }
    }
}
