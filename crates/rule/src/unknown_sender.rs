//! `unknown-sender`: the sender of a message is not in the roster, or is missing.
//!
//! The cause of an unlisted sender is in the roster, so each unlisted sender is one finding, at its first message, with the number of its
//! messages as count. Some formats require a sender for everything; elsewhere events and instructions may have none.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, Message, MessageKind, Role};

use crate::walk::{Id, PerParticipant, at_message};

/// Finds senders who are not listed and messages without sender.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let conversation = &linked.conversation;
    let mut per_participant = PerParticipant::new(conversation);
    for message in &conversation.messages {
        let sender = message.sender.zip(conversation.sender(message));
        let Some((index, participant)) = sender else {
            if conversation.traits.senders_everywhere || needs_sender(message) {
                findings.push(at_message(
                    &codes::UNKNOWN_SENDER,
                    message,
                    "message names no sender",
                ));
            }
            continue;
        };
        if participant.listed {
            continue;
        }
        per_participant.add(index, findings, || {
            let text = format!("sender {} is not in the roster", Id(&participant.id));
            at_message(&codes::UNKNOWN_SENDER, message, text)
                .marking(&participant.id)
                .naming(&participant.id)
        });
    }
}

fn needs_sender(message: &Message) -> bool {
    message.kind == MessageKind::Message && message.role != Role::System
}
