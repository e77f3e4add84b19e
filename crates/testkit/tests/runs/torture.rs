//! Histories that group chats and crashed bots leave, in every dialect: each rendering is valid, or declared invalid.
//!
//! `data-samples/torture/` has lists of messages and group chats. The structural validator, which knows the vendors'
//! rules but not how dialects are written, checks every rendering from the perspective of every participant, and must
//! agree with the dialect. `verdicts.txt` has the verdict and the losses of each case and dialect; `BLESS=1` writes it
//! again.

mod broken;
mod generated;
mod matrix;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use chatmill_dialect::policy::Orphans;
use chatmill_dialect::{DIALECTS, Dialect, Policy, Rendering, View, auto_perspective};
use chatmill_golden::assert_golden;
use chatmill_model::Linked;
use chatmill_testkit::conversations::torture_cases;
use chatmill_testkit::samples::samples;
use chatmill_testkit::validator;

/// The histories that were also tried on other converters.
const SIXTEEN: [&str; 16] = [
    "two-speakers",
    "person-between-call-and-result",
    "assistant-between-call-and-result",
    "result-never-came",
    "result-without-call",
    "same-result-twice",
    "call-id-reused",
    "malformed-arguments",
    "array-as-arguments",
    "id-with-illegal-signs",
    "empty-result",
    "empty-user-text",
    "starts-with-assistant",
    "system-in-the-middle",
    "space-after-last-answer",
    "remote-picture",
];

/// Cases without a message: no vendor accepts an empty request.
const SILENT: [&str; 3] = ["empty-room", "only-notices", "only-system-text"];

fn cases() -> Vec<(String, Linked)> {
    let mut cases = torture_cases();
    cases.sort_by(|one, other| one.0.cmp(&other.0));
    cases
}

fn each_rendering(
    profiles: &[&Dialect],
    linked: &Linked,
    perspective: Option<usize>,
    policy: &Policy,
    look: &mut dyn FnMut(&str, &Rendering),
) {
    for dialect in profiles {
        let view = View::whole(linked, perspective.filter(|_| !dialect.is_neutral()), policy);
        dialect.render_each(&view, &mut |sink, rendering| look(sink.text(), &rendering));
    }
}

#[test]
fn the_sixteen_and_more_than_twenty_of_our_own_are_there() {
    let names: BTreeSet<String> = cases().into_iter().map(|(name, _)| name).collect();
    for name in SIXTEEN.iter().chain(&SILENT) {
        assert!(names.contains(*name), "{name}");
    }
    assert!(names.len() >= 36, "{}", names.len());
}

/// Compares every rendering of a conversation with the validator. Returns how many follow the rules, and how many do not, so far.
fn agree(
    name: &str,
    linked: &Linked,
    perspective: Option<usize>,
    policy: &Policy,
    mut seen: (usize, usize),
) -> (usize, usize) {
    for dialect in DIALECTS.iter().filter(|dialect| validator::knows(dialect.id())) {
        for dialect in dialect.about().profiles {
            let profile = dialect.profile();
            let look = &mut |text: &str, rendering: &Rendering| {
                let breaches = validator::breaches(dialect.id(), profile, text);
                let is_hidden = policy.orphans == Orphans::Reject
                    && !validator::sees_pairs(dialect.id(), profile)
                    && !rendering.violations.is_empty();
                assert!(
                    is_hidden || breaches.is_empty() == rendering.violations.is_empty(),
                    "{name} in {}@{profile} through {perspective:?}: {breaches:?}, {:?}\n{text}",
                    dialect.id(),
                    rendering.violations
                );
                seen.0 += usize::from(breaches.is_empty());
                seen.1 += usize::from(!breaches.is_empty());
            };
            each_rendering(&[*dialect], linked, perspective, policy, look);
        }
    }
    seen
}

#[test]
fn every_rendering_is_valid_or_has_a_reason_and_an_independent_validator_agrees() {
    let (mut seen, mut all) = ((0, 0), 0);
    let mut random = chatmill_drawn::random(36);
    for (name, linked) in cases() {
        let everybody = (0..linked.conversation.participants.len()).map(Some);
        for perspective in std::iter::once(None).chain(everybody) {
            let mut policies = vec![Orphans::Repair, Orphans::Drop];
            if chatmill_drawn::cases(1) == 1 {
                // Only one of the two is tried, unless more cases are drawn.
                policies.swap_remove(random.below(2));
            }
            all += policies.len();
            for orphans in policies {
                let policy = Policy {
                    orphans,
                    ..Policy::default()
                };
                seen = agree(&name, &linked, perspective, &policy, seen);
            }
        }
    }
    assert!(seen.0 > 5_000 * all / 10_000 && seen.1 > 100, "{all}: {seen:?}");
}

#[test]
fn messages_are_valid_except_where_a_record_must_end_with_the_assistant() {
    for (name, linked) in cases() {
        for dialect in DIALECTS {
            let perspective = auto_perspective(&linked);
            let look = &mut |_: &str, rendering: &Rendering| {
                let is_expected = rendering.violations.is_empty()
                    || SILENT.contains(&name.as_str())
                    || name == "blank-texts-only"
                    || dialect.id() == "sharegpt";
                assert!(is_expected, "{name} {}: {:?}", dialect.id(), rendering.violations);
            };
            let profiles = dialect.about().profiles;
            each_rendering(profiles, &linked, perspective, &Policy::default(), look);
        }
    }
}

#[test]
fn verdicts_and_losses_are_as_they_were() {
    let mut verdicts = String::new();
    for (name, linked) in cases() {
        for dialect in DIALECTS {
            let policy = Policy::default();
            let view = View::whole(
                &linked,
                auto_perspective(&linked).filter(|_| !dialect.is_neutral()),
                &policy,
            );
            let mut count = 0;
            let mut invalid = BTreeSet::new();
            let mut codes = BTreeSet::new();
            dialect.render_each(&view, &mut |_, rendering| {
                count += 1;
                invalid.extend(rendering.violations.iter().map(ToString::to_string));
                // Losses that are inherent in a dialect are the same in every case.
                let at_a_message = rendering.losses.iter().filter(|loss| loss.position.is_some());
                codes.extend(at_a_message.map(|loss| loss.code.as_str()));
            });
            let verdict = match (count, invalid.is_empty()) {
                (0, _) => "nothing to say".to_owned(),
                (_, true) => "valid".to_owned(),
                _ => invalid.into_iter().collect::<Vec<_>>().join("; "),
            };
            let codes: Vec<_> = codes.into_iter().collect();
            writeln!(
                verdicts,
                "{name}\t{}\t{verdict}\t{}",
                dialect.id(),
                codes.join(" ")
            )
            .unwrap();
        }
    }
    let path = samples().join("torture/verdicts.txt");
    assert_golden(&path, &verdicts);
}
