//! `empty-message`: a turn without text, media, call or result.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, Message, MessageKind, Part};

use crate::walk::at_message;

/// Finds messages with no part except empty text.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for message in &linked.conversation.messages {
        if message.kind == MessageKind::Message && is_empty(message) {
            let text = if message.parts.is_empty() {
                "message has no content"
            } else {
                "message contains only empty text"
            };
            findings.push(at_message(&codes::EMPTY_MESSAGE, message, text));
        }
    }
}

fn is_empty(message: &Message) -> bool {
    message.parts.iter().all(|part| match part {
        Part::Text(text) => text.trim().is_empty(),
        Part::CacheMark => true,
        _ => false,
    })
}
