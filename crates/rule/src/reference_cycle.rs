//! `reference-cycle`: following references leads back to where one began.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked};

use crate::Rule;
use crate::walk::references;

/// Finds references that lie on a cycle; linking has marked them.
pub(crate) struct ReferenceCycle;

impl Rule for ReferenceCycle {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::REFERENCE_CYCLE];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for referring in references(linked) {
            if referring.link.status == LinkStatus::Cyclic {
                let text = match referring.link.target {
                    Some(target) => format!("reference to position {target} leads back to this message"),
                    None => "reference leads back to this message".to_owned(),
                };
                findings.push(referring.finding(&codes::REFERENCE_CYCLE, text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn every_reference_on_the_cycle_is_found() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.refer(Some(1), LinkStatus::Cyclic, None);
        sample.say("u2", "two");
        sample.refer(Some(0), LinkStatus::Cyclic, None);
        let findings = sample.check(&ReferenceCycle);
        let positions: Vec<_> = findings.iter().map(|finding| finding.position).collect();
        assert_eq!(positions, [Some(0), Some(1)]);
    }

    #[test]
    fn a_chain_is_not_a_cycle() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.say("u2", "two");
        sample.refer(Some(0), LinkStatus::Resolved, None);
        assert!(sample.check(&ReferenceCycle).is_empty());
    }
}
