//! `reference-cycle`: a chain of references leads back to its start.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked};

use crate::walk::references;

/// Finds references on a cycle; linking has marked them.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for referring in references(linked) {
        if referring.link.status == LinkStatus::Cyclic {
            let text = match referring.link.target {
                Some(target) => format!("reference to position {target} leads back to this message"),
                None => "reference leads back to this message".to_owned(),
            };
            findings.push(referring.finding(&codes::REFERENCE_CYCLE, text));
        }
    }
}
