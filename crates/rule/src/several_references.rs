//! `several-references`: a message with more than one reference, for which some dialects have no form.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked};

use crate::walk::at_message;

/// Finds messages with more than one reference that a person made.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for (message, links) in linked.conversation.messages.iter().zip(&linked.links) {
        let references = links
            .iter()
            .filter(|link| link.status != LinkStatus::Pseudo)
            .count();
        if references > 1 {
            let text = format!("the message has {references} references");
            findings.push(at_message(&codes::SEVERAL_REFERENCES, message, text));
        }
    }
}
