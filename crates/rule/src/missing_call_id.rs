//! `missing-call-id`: a call or a result without the id that pairs them.
//!
//! Formats that pair calls and results by place and name are exempt, and so are pairs by the source's metadata.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, Part};

use crate::walk::{at_call, at_result, parts};

/// Finds calls without an id and results without a call id.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    if linked.conversation.traits.pairs_by_place {
        return;
    }
    for (message, part) in parts(linked) {
        let code = &codes::MISSING_CALL_ID;
        findings.push(match part {
            Part::ToolCall(call) if none_of([&call.id, &call.metadata_id]) => {
                at_call(code, message, call, "call has no id")
            }
            Part::ToolResult(result) if none_of([&result.call_id, &result.metadata_id, &result.caller]) => {
                at_result(code, message, result, "result does not name its call")
            }
            _ => continue,
        });
    }
}

fn none_of<const COUNT: usize>(ids: [&Option<String>; COUNT]) -> bool {
    ids.into_iter().flatten().all(String::is_empty)
}
