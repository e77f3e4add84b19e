//! `toy-word`: a word that no tide table knows.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::Linked;

use crate::Rule;
use crate::walk::at_message;

/// Finds messages with the word.
pub(crate) struct ToyWord;

impl Rule for ToyWord {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::TOY_WORD];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for message in &linked.conversation.messages {
            if message.texts().any(|text| text.contains("xyzzy")) {
                findings.push(at_message(&codes::TOY_WORD, message, "the message says the word"));
            }
        }
    }
}
