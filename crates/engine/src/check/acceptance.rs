//! Checks whether an API or trainer accepts a conversation: it is
//! rendered in the dialect, and every broken rule becomes a finding.

use std::collections::{BTreeSet, HashMap};

use chatmill_diag::{Finding, Limits, ShownId, codes};
use chatmill_dialect::policy::{ControlTokens, Orphans};
use chatmill_dialect::{Dialect, Policy, Problem, RefusedDefinition, TextArena, Violation};
use chatmill_model::{Linked, Sink, SinkBuffers};

use crate::pipeline::{PerspectiveChoice, PerspectiveRule};
use crate::work::render;

/// The findings of a conversation that a dialect would refuse.
pub(super) struct Refusals {
    /// One finding per rule, with the number of renderings that break it.
    pub(super) findings: Vec<Finding>,
    /// One finding per tool definition, with the name of the tool and a hash of its text.
    pub(super) definitions: Vec<(String, u64, Finding)>,
}

/// Returns the rules of a dialect that a conversation breaks.
///
/// The conversation is validated unchanged: nothing is repaired for the dialect.
pub(super) fn refusals(linked: &Linked, target: &Dialect, limits: &Limits) -> Refusals {
    let policy = Policy {
        orphans: Orphans::Reject,
        control_tokens: ControlTokens::Keep,
        ..Policy::default()
    };
    let (perspectives, _) = render::perspectives(linked, &PerspectiveChoice::Rule(PerspectiveRule::Auto));
    let mut broken = BrokenRules::default();
    let most = usize::try_from(limits.rendering).unwrap_or(usize::MAX);
    let arena = TextArena::default();
    let mut sink = Sink::new(SinkBuffers::default(), most);
    render::render(
        linked,
        target,
        &perspectives,
        &policy,
        &arena,
        &mut sink,
        &mut |sink, _, rendering| {
            broken.oversize += u64::from(sink.is_oversize());
            for violation in rendering.violations {
                broken.add(violation);
            }
        },
    );
    let name = name(target);
    let definitions = std::mem::take(&mut broken.definitions).into_iter();
    let definitions = definitions.map(|refused| {
        let RefusedDefinition {
            tool,
            text,
            rule,
            problem,
        } = refused;
        let Problem { path, names, words } = problem;
        let message = format!(
            "{name} would refuse it: {rule}: parameters of {}: `{path}` {words}",
            ShownId(&tool)
        );
        let finding = Finding::new(&codes::NOT_ACCEPTED, message).naming(&tool);
        let finding = names.iter().fold(finding, |finding, name| finding.naming(name));
        (tool, text, finding)
    });
    let definitions = definitions.collect();
    let mut findings = broken.findings(&name, limits);
    for finding in &mut findings {
        let message = finding
            .position
            .and_then(|position| linked.conversation.messages.get(position as usize));
        finding.message_id = message.and_then(|message| message.id.clone());
    }
    Refusals {
        findings,
        definitions,
    }
}

/// Returns the name of a dialect: `ID`, or `ID@PROFILE` if the profile is not the default.
pub(super) fn name(target: &Dialect) -> String {
    let id = target.id();
    let default = target.about().profile_names().next();
    if default.is_none_or(|default| default == target.profile()) {
        id.to_owned()
    } else {
        format!("{id}@{}", target.profile())
    }
}

/// Broken rules in the order of their first appearance.
#[derive(Default)]
struct BrokenRules {
    rules: Vec<(Violation, u64)>,
    /// Definitions of tools that break a rule, each once.
    definitions: BTreeSet<RefusedDefinition>,
    indexes: HashMap<Violation, usize>,
    /// Number of renderings that are too large to keep.
    oversize: u64,
}

impl BrokenRules {
    fn add(&mut self, mut rule: Violation) {
        if let Some(refused) = rule.definition.take() {
            self.definitions.insert(refused);
            return;
        }
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

    /// Returns the findings: one for each rule and message; those
    /// beyond `limits.findings_per_code` are summed in one more.
    fn findings(self, target: &str, limits: &Limits) -> Vec<Finding> {
        let found = |code, message: String, count| Finding {
            count,
            ..Finding::new(code, message)
        };
        let mut findings = Vec::new();
        let mut rest = 0;
        for (violation, count) in self.rules {
            if (findings.len() as u64) < limits.findings_per_code {
                let message = format!("{target} would refuse it: {violation}");
                let mut finding = found(&codes::NOT_ACCEPTED, message, count);
                finding.position = violation.position;
                if let Some(id) = &violation.call_id {
                    finding = finding.marking(id);
                }
                findings.push(finding);
            } else {
                rest += count;
            }
        }
        if rest > 0 {
            let message = format!("{target} would refuse it for further reasons");
            findings.push(found(&codes::NOT_ACCEPTED, message, rest));
        }
        if self.oversize > 0 {
            let limit = limits.rendering;
            let message = format!("the {target} rendering is larger than limits.rendering ({limit} bytes)");
            findings.push(found(&codes::OVERSIZE_RENDERING, message, self.oversize));
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(findings_per_code: u64) -> Limits {
        Limits {
            findings_per_code,
            ..Limits::default()
        }
    }

    #[test]
    fn a_rule_is_one_finding_however_often_it_is_broken_and_too_many_are_counted() {
        let mut broken = BrokenRules::default();
        for rule in ["b", "a", "b", "c", "d", "d"] {
            broken.add(Violation::whole(rule));
        }
        let found: Vec<(String, u64)> = broken
            .findings("x", &limits(2))
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

    #[test]
    fn a_rule_that_a_message_breaks_is_found_at_that_message() {
        let mut broken = BrokenRules::default();
        for position in [4, 2, 4] {
            broken.add(Violation::at(position, "a"));
        }
        let found: Vec<(Option<u32>, u64)> = broken
            .findings("x", &limits(9))
            .into_iter()
            .map(|finding| (finding.position, finding.count))
            .collect();
        assert_eq!(found, [(Some(4), 2), (Some(2), 1)]);
    }

    #[test]
    fn renderings_that_are_too_large_are_found_beside_the_rules() {
        let broken = BrokenRules {
            oversize: 2,
            ..BrokenRules::default()
        };
        let found = broken.findings("x", &limits(9));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].code.name, found[0].count), ("oversize-rendering", 2));
    }
}
