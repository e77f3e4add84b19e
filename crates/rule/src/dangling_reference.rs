//! `dangling-reference`: a reference to a message that is not there, and nothing is known of it.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked};

use crate::Rule;
use crate::walk::{Id, references};

/// Finds references without target and without preview text.
pub(crate) struct DanglingReference;

impl Rule for DanglingReference {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::DANGLING_REFERENCE];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for referring in references(linked) {
            if referring.link.status == LinkStatus::Dangling {
                let text = match referring.reference.target.as_deref() {
                    Some(id) => format!("message {} is not in this conversation", Id(id)),
                    None => "reference names no message and shows no text".to_owned(),
                };
                let target = referring.reference.target.as_deref().unwrap_or_default();
                findings.push(referring.finding(&codes::DANGLING_REFERENCE, text).naming(target));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;
    use chatmill_diag::Path;

    #[test]
    fn a_missing_target_is_found_at_its_reference() {
        let mut sample = Sample::new().listing_references_in("refer_list");
        sample.say("u1", "one");
        sample.say("u2", "two");
        sample.refer(Some(0), LinkStatus::Resolved, None);
        sample.refer(None, LinkStatus::Dangling, None);
        let findings = sample.check(&DanglingReference);
        assert_eq!(findings.len(), 1);
        assert_eq!(
            findings[0].message,
            "message `elsewhere` is not in this conversation"
        );
        assert_eq!(findings[0].message_id.as_deref(), Some("m1"));
        assert_eq!(findings[0].path, Path::InMessage(".refer_list[1]".to_owned()));
    }

    #[test]
    fn where_references_are_no_list_the_message_is_the_place() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.refer(None, LinkStatus::Dangling, None);
        let findings = sample.check(&DanglingReference);
        assert_eq!(findings[0].path, Path::InMessage(String::new()));
    }

    #[test]
    fn resolved_and_previewed_references_are_silent() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.say("u2", "two");
        sample.refer(Some(0), LinkStatus::Resolved, None);
        sample.refer(None, LinkStatus::Preview, None);
        assert!(sample.check(&DanglingReference).is_empty());
    }
}
