//! `empty-conversation`: nobody says anything.

use chatmill_diag::{Code, Finding, Limits, Severity, codes};
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
        let said: Vec<_> = messages
            .iter()
            .filter(|message| message.kind == MessageKind::Message)
            .collect();
        if !said.is_empty() {
            // What was there stands among the extra fields: the record has another form than its source knows.
            let is_unread = said.iter().all(|message| message.parts.is_empty())
                && said.iter().any(|message| !message.extra.is_empty());
            if is_unread {
                let text = format!("nothing was read of what the messages hold ({})", said.len());
                findings.push(Finding::new(&codes::EMPTY_CONVERSATION, text).with_severity(Severity::Error));
            }
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
    fn messages_of_which_nothing_was_read_are_an_error() {
        let mut silent = Sample::new();
        silent.post("u1", Vec::new());
        let found = silent.check(&EmptyConversation);
        assert!(found.is_empty(), "nothing was there to be read");
        let mut sample = Sample::new();
        sample.post("u1", Vec::new());
        let kept = chatmill_model::RawJson("[{}]".to_owned());
        sample
            .post("u1", Vec::new())
            .extra
            .0
            .push(("content".to_owned(), kept));
        let findings = sample.check(&EmptyConversation);
        assert_eq!(findings[0].severity, Severity::Error);
        assert_eq!(
            findings[0].message,
            "nothing was read of what the messages hold (2)"
        );
    }

    #[test]
    fn one_message_is_enough() {
        let mut sample = Sample::new();
        sample.say("u1", "");
        assert!(sample.check(&EmptyConversation).is_empty());
    }
}
