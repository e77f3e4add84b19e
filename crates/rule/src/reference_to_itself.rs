//! `reference-to-itself`: a message that refers to itself.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked};

use crate::walk::references;

/// Finds references from a message to itself.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for referring in references(linked) {
        if referring.link.status == LinkStatus::Itself {
            findings.push(referring.finding(&codes::REFERENCE_TO_ITSELF, "message refers to itself"));
        }
    }
}
