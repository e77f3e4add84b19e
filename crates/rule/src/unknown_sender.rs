//! `unknown-sender`: somebody speaks whom the roster does not list, or nobody is named.
//!
//! The cause of an unlisted sender lies in the roster, so each unlisted sender is one finding, at its first message,
//! with the number of its messages as count. Some formats want a sender for everything; elsewhere events and
//! instructions may have none.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{Linked, Message, MessageKind, Role};

use crate::Rule;
use crate::walk::{Id, PerParticipant, at_message};

/// Finds senders who are not listed and messages without sender.
pub(crate) struct UnknownSender;

impl Rule for UnknownSender {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::UNKNOWN_SENDER];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        let conversation = &linked.conversation;
        let mut per_participant = PerParticipant::new(conversation);
        for message in &conversation.messages {
            let sender = message
                .sender
                .and_then(|index| Some((index, conversation.participants.get(index)?)));
            let Some((index, participant)) = sender else {
                if conversation.customs.senders_everywhere || is_spoken(message) {
                    findings.push(finding(message, "message names no sender".to_owned()));
                }
                continue;
            };
            if participant.listed {
                continue;
            }
            per_participant.add(index, findings, || {
                let text = format!("sender {} is not in the roster", Id(&participant.id));
                finding(message, text)
                    .marking(&participant.id)
                    .naming(&participant.id)
            });
        }
    }
}

fn is_spoken(message: &Message) -> bool {
    message.kind == MessageKind::Message && message.role != Role::System
}

fn finding(message: &Message, text: String) -> Finding {
    at_message(&codes::UNKNOWN_SENDER, message, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;
    use chatmill_diag::Severity;

    #[test]
    fn each_unlisted_sender_is_one_error_with_a_count() {
        let mut sample = Sample::new();
        sample.say("u1", "hello");
        sample.say("u8", "who am I?");
        sample.say("u9", "and I?");
        sample.say("u8", "still here");
        let findings = sample.check(&UnknownSender);
        let seen: Vec<_> = findings
            .iter()
            .map(|f| (f.position, f.count, f.severity))
            .collect();
        assert_eq!(
            seen,
            [(Some(1), 2, Severity::Error), (Some(2), 1, Severity::Error)]
        );
        assert_eq!(findings[0].message, "sender `u8` is not in the roster");
    }

    #[test]
    fn a_message_without_sender_is_found() {
        let mut sample = Sample::new();
        sample.say("u1", "hello").sender = None;
        sample.say("u1", "hello again").sender = None;
        assert_eq!(sample.check(&UnknownSender).len(), 2);
    }

    #[test]
    fn events_and_instructions_need_a_sender_only_where_their_format_says_so() {
        let mut sample = Sample::new();
        sample.say("u1", "started");
        sample.say("u1", "be brief");
        sample.say("u1", "hello");
        let mut linked = sample.linked();
        for message in &mut linked.conversation.messages {
            message.sender = None;
        }
        linked.conversation.messages[0].kind = MessageKind::Notice;
        linked.conversation.messages[1].role = Role::System;
        for (senders_everywhere, expected) in [(true, 3), (false, 1)] {
            linked.conversation.customs.senders_everywhere = senders_everywhere;
            let mut findings = Vec::new();
            UnknownSender.check(&linked, &Limits::default(), &mut findings);
            assert_eq!(findings.len(), expected);
        }
    }

    #[test]
    fn listed_senders_are_silent() {
        let mut sample = Sample::new();
        sample.say("u1", "hello");
        sample.say("u2", "hello");
        assert!(sample.check(&UnknownSender).is_empty());
    }
}
