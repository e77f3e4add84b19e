//! `reference-to-itself`: a message that refers to itself.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked};

use crate::Rule;
use crate::walk::references;

/// Finds references whose target is the message that holds them.
pub(crate) struct ReferenceToItself;

impl Rule for ReferenceToItself {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::REFERENCE_TO_ITSELF];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for referring in references(linked) {
            if referring.link.status == LinkStatus::Itself {
                findings.push(referring.finding(&codes::REFERENCE_TO_ITSELF, "message refers to itself"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn a_message_that_refers_to_itself_is_found() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.refer(Some(0), LinkStatus::Itself, None);
        assert_eq!(sample.check(&ReferenceToItself).len(), 1);
    }

    #[test]
    fn answering_ones_own_earlier_message_is_normal() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.say("u1", "and one more thing");
        sample.refer(Some(0), LinkStatus::Resolved, None);
        assert!(sample.check(&ReferenceToItself).is_empty());
    }
}
