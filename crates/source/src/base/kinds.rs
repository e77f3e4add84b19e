//! Conversions of facts that formats state in a word into values of the model.

use chatmill_model::{MessageKind, ParticipantKind, Reference};

/// The kind of a message that may be an event.
pub(crate) const fn message_kind(is_notice: bool) -> MessageKind {
    if is_notice {
        MessageKind::Notice
    } else {
        MessageKind::Message
    }
}

/// The kind of a participant that may be a bot.
pub(crate) const fn participant_kind(is_agent: bool) -> ParticipantKind {
    if is_agent {
        ParticipantKind::Agent
    } else {
        ParticipantKind::Human
    }
}

/// A reply to the message with this id.
pub(crate) fn reply_to(target: String) -> Reference {
    Reference {
        target: Some(target),
        ..Reference::default()
    }
}
