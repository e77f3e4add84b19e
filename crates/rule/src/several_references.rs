//! `several-references`: a message that refers to more than one, which some dialects have no form for.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked};

use crate::Rule;
use crate::walk::at_message;

/// Finds messages with more than one reference that a person made.
pub(crate) struct SeveralReferences;

impl Rule for SeveralReferences {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::SEVERAL_REFERENCES];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn two_references_are_one_note_at_their_message() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.say("u2", "two");
        sample.say("u1", "both of you are right");
        sample.refer(Some(0), LinkStatus::Resolved, None);
        sample.refer(Some(1), LinkStatus::Resolved, None);
        let findings = sample.check(&SeveralReferences);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].position, Some(2));
        assert_eq!(findings[0].message, "the message has 2 references");
    }

    #[test]
    fn one_reference_is_silent_and_a_made_up_one_does_not_count() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.say("u2", "two");
        sample.refer(Some(0), LinkStatus::Resolved, None);
        sample.refer(Some(0), LinkStatus::Pseudo, None);
        assert!(sample.check(&SeveralReferences).is_empty());
    }
}
