//! `dangling-reference`: a reference to a missing message, without a preview of it.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked};

use crate::walk::{Id, references};

/// Finds references without target and without preview text.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for referring in references(linked) {
        if referring.link.status == LinkStatus::Dangling {
            let text = match referring.reference.target.as_deref() {
                Some(id) => format!("message {} is not in this conversation", Id(id)),
                None => "reference names no message and shows no text".to_owned(),
            };
            let target = referring.reference.target.as_deref().unwrap_or_default();
            findings.push(referring.finding(&codes::DANGLING_REFERENCE, text).naming(target));
        }
    }
}
