//! `forward-reference`: a reference to a message that stands later.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked};

use crate::Rule;
use crate::walk::references;

/// Finds resolved references whose target comes after them.
pub(crate) struct ForwardReference;

impl Rule for ForwardReference {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::FORWARD_REFERENCE];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for referring in references(linked) {
            if referring.link.status == LinkStatus::Resolved
                && let Some(target) = referring.link.target
                && target > referring.message.position
            {
                let text = format!("the target stands later, at position {target}");
                findings.push(referring.finding(&codes::FORWARD_REFERENCE, text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;
    use chatmill_diag::Severity;

    #[test]
    fn a_reference_to_a_later_message_is_a_note() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.refer(Some(1), LinkStatus::Resolved, None);
        sample.say("u2", "two");
        let findings = sample.check(&ForwardReference);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].severity, Severity::Note);
        assert_eq!(findings[0].position, Some(0));
    }

    #[test]
    fn a_reference_to_an_earlier_message_is_silent() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.say("u2", "two");
        sample.refer(Some(0), LinkStatus::Resolved, None);
        assert!(sample.check(&ForwardReference).is_empty());
    }
}
