//! `forward-reference`: a reference to a later message.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked};

use crate::walk::references;

/// Finds resolved references to messages that come after them.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for referring in references(linked) {
        if referring.link.status == LinkStatus::Resolved
            && let Some(target) = referring.link.target
            && target > referring.message.position
        {
            let text = format!("the target comes later, at position {target}");
            findings.push(referring.finding(&codes::FORWARD_REFERENCE, text));
        }
    }
}
