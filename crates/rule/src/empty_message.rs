//! `empty-message`: a turn in which nothing is said, shown, called or answered.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{Linked, Message, MessageKind, Part};

use crate::Rule;
use crate::walk::at_message;

/// Finds messages that have no part but empty text.
pub(crate) struct EmptyMessage;

impl Rule for EmptyMessage {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::EMPTY_MESSAGE];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for message in &linked.conversation.messages {
            if message.kind == MessageKind::Message && is_empty(message) {
                let text = if message.parts.is_empty() {
                    "message has no content"
                } else {
                    "message holds nothing but empty text"
                };
                findings.push(at_message(&codes::EMPTY_MESSAGE, message, text));
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn white_space_and_no_part_at_all_are_empty() {
        let mut sample = Sample::new();
        sample.say("u1", " \n");
        sample.post("u1", Vec::new());
        sample.say("u1", "hello");
        let findings = sample.check(&EmptyMessage);
        let positions: Vec<_> = findings.iter().map(|finding| finding.position).collect();
        assert_eq!(positions, [Some(0), Some(1)]);
    }

    #[test]
    fn a_call_without_words_and_an_empty_notice_are_not() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        sample.say("u1", "").kind = MessageKind::Notice;
        assert!(sample.check(&EmptyMessage).is_empty());
    }
}
