//! `name-mismatch`: the result comes from another tool than the call names.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::Linked;

use crate::walk::{at_message, call_of, result_of, with_id};

/// Finds pairs of a call and a result with different tool names.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for pairing in &linked.pairings {
        let (Some((_, call)), Some((message, result))) =
            (call_of(linked, pairing), result_of(linked, pairing))
        else {
            continue;
        };
        if let (Some(asked), Some(answered)) = (call.name.as_deref(), result.name.as_deref())
            && asked != answered
        {
            let id = with_id(call.id.as_deref());
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
