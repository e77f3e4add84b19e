//! Would that API or trainer take this conversation? It is said in the dialect, and every broken rule becomes a finding.

use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_dialect::policy::{ControlTokens, Orphans};
use chatmill_dialect::{History, Policy};
use chatmill_model::Linked;

use crate::pipeline::{Speaker, SpeakerRule};
use crate::plan::Target;
use crate::render;

/// The rules of a dialect that a conversation breaks, one finding a rule, with the number of renderings that break it.
///
/// The conversation is judged as it stands: nothing is repaired for the dialect's sake.
pub(super) fn refusals(linked: &Linked, target: Target, limits: &Limits) -> Vec<Finding> {
    let policy = Policy {
        orphans: Orphans::Reject,
        control_tokens: ControlTokens::Keep,
        ..Policy::default()
    };
    let (perspectives, _) = render::perspectives(linked, &Speaker::Rule(SpeakerRule::Auto));
    let mut broken = Broken::default();
    render::render(
        linked,
        target,
        &perspectives,
        &policy,
        History::Document,
        &mut |_, rendering| {
            for violation in rendering.violations {
                broken.add(violation);
            }
        },
    );
    broken.findings(&name(target), limits.findings_per_code)
}

/// `ID`, or `ID@PROFILE` where the profile is not the default.
pub(super) fn name(target: Target) -> String {
    let id = target.dialect.id();
    if target.dialect.about().profiles.first() == Some(&target.profile) {
        id.to_owned()
    } else {
        format!("{id}@{}", target.profile)
    }
}

/// Broken rules in the order of their first appearance.
#[derive(Default)]
struct Broken {
    rules: Vec<(String, u64)>,
    indexes: HashMap<String, usize>,
}

impl Broken {
    fn add(&mut self, rule: String) {
        let known = self
            .indexes
            .get(&rule)
            .and_then(|index| self.rules.get_mut(*index));
        if let Some((_, count)) = known {
            *count += 1;
        } else {
            self.indexes.insert(rule.clone(), self.rules.len());
            self.rules.push((rule, 1));
        }
    }

    /// One finding a rule; what is beyond `most` becomes one more.
    fn findings(self, target: &str, most: u64) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut rest = 0;
        for (rule, count) in self.rules {
            if (findings.len() as u64) < most {
                let message = format!("{target} would refuse it: {rule}");
                let mut finding = Finding::new(&codes::NOT_ACCEPTED, message);
                finding.count = count;
                findings.push(finding);
            } else {
                rest += count;
            }
        }
        if rest > 0 {
            let message = format!("{target} would refuse it for further reasons");
            let mut finding = Finding::new(&codes::NOT_ACCEPTED, message);
            finding.count = rest;
            findings.push(finding);
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_one_finding_however_often_it_is_broken_and_too_many_are_counted() {
        let mut broken = Broken::default();
        for rule in ["b", "a", "b", "c", "d", "d"] {
            broken.add(rule.to_owned());
        }
        let found: Vec<(String, u64)> = broken
            .findings("x", 2)
            .into_iter()
            .map(|finding| (finding.message, finding.count))
            .collect();
        let expected = [
            ("x would refuse it: b", 2),
            ("x would refuse it: a", 1),
            ("x would refuse it for further reasons", 3),
        ];
        assert_eq!(
            found,
            expected.map(|(message, count)| (message.to_owned(), count))
        );
    }
}
