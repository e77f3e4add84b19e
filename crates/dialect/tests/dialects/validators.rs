//! Compares the structural validator of the testkit, which knows only the rules of the vendors, with the violations that dialects report.

use std::collections::BTreeSet;

use chatmill_dialect::policy::Orphans;
use chatmill_dialect::{DIALECTS, Dialect, Rules};
use chatmill_testkit::validator;

use crate::properties::{chats, each_of};

#[test]
fn every_dialect_has_rules_or_a_reason_for_none() {
    for dialect in DIALECTS {
        let id = dialect.id();
        match (dialect.about().rules, validator::knows(id)) {
            (Rules::Validated(_), true) => {}
            (Rules::Validated(_), false) => panic!(
                "no validator for {id}: write what its rules refuse in crates/testkit/src/validator/ and its line in VALIDATORS of \
                 crates/testkit/src/validator.rs; where no rules are written down, give its `About` `rules: Rules::None(\"why\")`"
            ),
            (Rules::None(why), known) => {
                assert!(why.len() > 10, "{id}: `Rules::None` says why in a few words");
                assert!(
                    !known,
                    "{id} has a judge: give its `About` `rules: Rules::Validated(RULES)`"
                );
            }
        }
    }
}

/// Checks that a dialect reports exactly the renderings as invalid that the validator refuses, by the same rules.
#[test]
fn the_validator_agrees_with_every_dialect_in_every_profile() {
    let seen: Vec<[u32; 2]> = std::thread::scope(|scope| {
        let validated = DIALECTS
            .iter()
            .copied()
            .filter(|dialect| validator::knows(dialect.id()));
        let all: Vec<_> = validated
            .map(|dialect| scope.spawn(move || agree(dialect)))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let broken = seen
        .iter()
        .filter(|[_, broken]| u64::from(*broken) > chats())
        .count();
    assert!(broken >= 12, "few dialects have invalid renderings: {seen:?}");
}

/// Counts the renderings of generated chats that keep the rules, and those that do not.
fn agree(dialect: &Dialect) -> [u32; 2] {
    let id = dialect.id();
    let mut seen = [0, 0];
    for profile in dialect.about().profile_names() {
        each_of(&[&format!("{id}@{profile}")], |_, seed, policy, _, out| {
            let found = validator::breaches(id, profile, &out.text);
            let named: BTreeSet<&str> = out.violations.iter().map(|violation| code(violation)).collect();
            // The rules of some systems have no codes.
            let are_named = found
                .iter()
                .all(|broken| broken.rule.len() < 6 || named.contains(broken.rule));
            let (is_broken, is_invalid) = (!found.is_empty(), !named.is_empty());
            // What follows a call without a result may leave no turn, so that the rendering ends with the call.
            let ends_with_call = || {
                out.violations
                    .iter()
                    .all(|broken| broken.contains("has no result"))
            };
            let is_hidden = policy.orphans == Orphans::Reject
                && (!validator::sees_pairs(id, profile) || ends_with_call());
            assert!(
                are_named && (is_broken == is_invalid || is_invalid && is_hidden),
                "{id}@{profile} {seed}: {found:?}, {:?} in {}",
                out.violations,
                out.text
            );
            // Only conversations without turns, or with orphans that policy rejects, are invalid.
            if policy.orphans != Orphans::Reject && out.text.contains("\"role\":\"user\"") {
                assert_eq!(out.violations, Vec::<String>::new(), "{id}@{profile} {seed}");
            }
            seen[usize::from(is_broken)] += 1;
        });
    }
    assert!(
        u64::from(seen[0]) > chats(),
        "{id} has few valid renderings: {seen:?}"
    );
    seen
}

/// Returns the code of the rule that a violation names.
fn code(violation: &str) -> &str {
    violation.split(':').next().unwrap_or_default()
}
