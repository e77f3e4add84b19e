//! `toy-word`: a word that no tide table knows.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::Linked;

use crate::walk::at_message;

/// Finds messages with the word.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for message in &linked.conversation.messages {
        if message.texts().any(|text| text.contains("xyzzy")) {
            findings.push(at_message(&codes::TOY_WORD, message, "the message says the word"));
        }
    }
}
