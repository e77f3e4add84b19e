//! The structural judge of the testkit, which knows the vendors' rules alone, against what the dialects say of themselves.

use std::collections::BTreeSet;

use chatmill_dialect::policy::Orphans;
use chatmill_dialect::{DIALECTS, Dialect, Rules};
use chatmill_testkit::judge;

use crate::laws::{each_of, rooms};

#[test]
fn every_dialect_is_judged_or_says_why_nobody_can() {
    for dialect in DIALECTS {
        let id = dialect.id();
        match (dialect.about().rules, judge::knows(id)) {
            (Rules::Judged(_), true) => {}
            (Rules::Judged(_), false) => panic!(
                "nobody judges {id}: write what its rules refuse in crates/testkit/src/judge/ and its line in JUDGES of \
                 crates/testkit/src/judge.rs; where no rules are written down, give its `About` `rules: Rules::None(\"why\")`"
            ),
            (Rules::None(why), known) => {
                assert!(why.len() > 10, "{id}: `Rules::None` says why in a few words");
                assert!(
                    !known,
                    "{id} has a judge: give its `About` `rules: Rules::Judged(RULES)`"
                );
            }
        }
    }
}

/// What the judge refuses, the dialect has called invalid, by the same rules; and nothing else.
#[test]
fn the_judge_agrees_with_every_dialect_in_every_profile() {
    let seen: Vec<[u32; 2]> = std::thread::scope(|scope| {
        let judged = DIALECTS
            .iter()
            .copied()
            .filter(|dialect| judge::knows(dialect.id()));
        let all: Vec<_> = judged
            .map(|dialect| scope.spawn(move || agree(dialect)))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let broken = seen
        .iter()
        .filter(|[_, broken]| u64::from(*broken) > rooms())
        .count();
    assert!(broken >= 12, "few dialects have invalid renderings: {seen:?}");
}

/// How many renderings of generated rooms keep the rules, and how many do not.
fn agree(dialect: &Dialect) -> [u32; 2] {
    let id = dialect.id();
    let mut seen = [0, 0];
    for profile in dialect.about().profile_names() {
        each_of(&[&format!("{id}@{profile}")], |_, seed, policy, _, out| {
            let faults = judge::faults(id, profile, &out.text);
            let named: BTreeSet<&str> = out.violations.iter().map(|said| code(said)).collect();
            // The rules of some systems have no numbers.
            let are_named = faults
                .iter()
                .all(|fault| fault.rule.len() < 6 || named.contains(fault.rule));
            let (is_broken, is_invalid) = (!faults.is_empty(), !named.is_empty());
            let is_hidden = policy.orphans == Orphans::Reject && !judge::sees_pairs(id, profile);
            assert!(
                are_named && (is_broken == is_invalid || is_invalid && is_hidden),
                "{id}@{profile} {seed}: {faults:?}, {:?} in {}",
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
        u64::from(seen[0]) > rooms(),
        "{id} has few valid renderings: {seen:?}"
    );
    seen
}

/// The code of the rule that a violation names.
fn code(violation: &str) -> &str {
    violation.split(':').next().unwrap_or_default()
}
