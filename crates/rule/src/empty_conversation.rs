//! `empty-conversation`: nobody says anything.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{Linked, MessageKind};

use crate::Rule;

/// Finds conversations without a message.
pub(crate) struct EmptyConversation;

impl Rule for EmptyConversation {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::EMPTY_CONVERSATION];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        let messages = &linked.conversation.messages;
        if messages
            .iter()
            .any(|message| message.kind == MessageKind::Message)
        {
            return;
        }
        let text = match messages.len() {
            0 => "conversation has no message".to_owned(),
            notices => format!("conversation has no message, only notices ({notices})"),
        };
        findings.push(Finding::new(&codes::EMPTY_CONVERSATION, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn a_conversation_without_messages_is_found() {
        let findings = Sample::new().check(&EmptyConversation);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].position, None);
    }

    #[test]
    fn notices_alone_do_not_make_a_conversation() {
        let mut sample = Sample::new();
        sample.say("u1", "joined").kind = MessageKind::Notice;
        let findings = sample.check(&EmptyConversation);
        assert_eq!(
            findings[0].message,
            "conversation has no message, only notices (1)"
        );
    }

    #[test]
    fn one_message_is_enough() {
        let mut sample = Sample::new();
        sample.say("u1", "");
        assert!(sample.check(&EmptyConversation).is_empty());
    }
}
