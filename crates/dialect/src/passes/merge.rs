//! Merges neighbouring turns of one speaker.

use std::collections::BTreeSet;

use chatmill_model::Role;

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::passes::profile::{DialectProfile, Results, Shape};
use crate::text::placeholders::{Placeholders, is_only_media};
use crate::transcript::Transcript;
use crate::transcript::turns::{Block, BlockContent, Turn, TurnPlan};
use crate::view::policy::{Reasoning, TurnsInARow};

pub(super) const PASS: Pass = Pass {
    loses: |profile| {
        codes_if(
            profile.merging.is_some() || may_merge(profile),
            &[LossCode::TurnMerged],
        )
    },
    run: |plan, transcript, profile| {
        let is_policy = transcript.view().policy.turns == TurnsInARow::Merge && may_merge(profile);
        let reason = match profile.merging {
            Some(rule) => reasons::TURNS_ARE_ONE.by(rule),
            None if is_policy => reasons::POLICY_MERGES_TURNS,
            None => return,
        };
        let turns = std::mem::take(&mut plan.turns);
        let mut merged: Vec<Turn<'_>> = Vec::with_capacity(turns.len());
        // Whether the last merged turn has calls. Looking for them in its blocks would take quadratic time while the turn grows.
        let mut has_calls = false;
        for turn in turns {
            let calls = plan.blocks(&turn).iter().any(Block::is_call);
            // The thoughts of a turn are in a separate field: those of a later turn would come before earlier text.
            let thinks = is_policy && plan.blocks(&turn).iter().any(Block::is_thought);
            let last = merged.last_mut();
            // Where a rule wants text and calls in separate turns, an earlier pass split them.
            let is_split = thinks || calls && profile.splits_calls.is_some();
            let Some(last) = last.filter(|last| !is_split && is_one(last, has_calls, &turn, profile)) else {
                has_calls = calls;
                merged.push(turn);
                continue;
            };
            has_calls |= calls;
            let before = plan.blocks(last).last().and_then(|block| block.position);
            if let Some(position) = turn.position.filter(|position| before != Some(*position)) {
                plan.losses.at(reason, position);
            }
            if turn.role == Role::User {
                last.role = Role::User;
            }
            last.end = turn.end;
        }
        plan.turns = merged;
    },
};

/// Finds messages of the perspective that have only media and are merged with messages that have words. The placeholders of these media are
/// left out, so that the merged turn can be trained on.
pub(super) fn wordless_beside_words(
    plan: &TurnPlan<'_>,
    transcript: &Transcript<'_>,
    profile: &DialectProfile,
) -> BTreeSet<u32> {
    let view = transcript.view();
    let is_policy = view.policy.turns == TurnsInARow::Merge && may_merge(profile);
    let mut found = BTreeSet::new();
    if view.placeholders == Placeholders::Learned
        || !is_policy && profile.merging.is_none() && profile.shape == Shape::Turns
    {
        return found;
    }
    let mut group = Vec::new();
    let (mut has_words, mut has_calls) = (false, false);
    for (turn, blocks) in plan.turn_blocks() {
        let calls = blocks.iter().any(Block::is_call);
        let keeps_thoughts = is_policy && view.policy.reasoning == Reasoning::Keep;
        let thinks = keeps_thoughts
            && blocks
                .iter()
                .any(|block| matches!(block.content, BlockContent::Reasoning(_)));
        let is_split = thinks || has_calls || calls && profile.splits_calls.is_some();
        if turn.role != Role::Assistant || is_split {
            found.extend(group.drain(..).filter(|_| has_words));
            (has_words, has_calls) = (false, false);
        }
        let message = turn.position.and_then(|position| view.message(position));
        let Some(message) = message.filter(|_| turn.role == Role::Assistant) else {
            continue;
        };
        if is_only_media(message) {
            group.push(message.position);
        }
        has_words |= message.texts().any(|text| !text.trim().is_empty());
        has_calls = calls;
    }
    found.extend(group.into_iter().filter(|_| has_words));
    found
}

/// Whether policy may ask for merging: not where a rule already asks for it, where ids of messages have to stay distinct, or where the
/// shape combines turns in another way.
fn may_merge(profile: &DialectProfile) -> bool {
    profile.merging.is_none() && profile.shape == Shape::Turns && !profile.keeps_message_ids
}

fn is_one(last: &Turn<'_>, has_calls: bool, next: &Turn<'_>, profile: &DialectProfile) -> bool {
    match (last.role, next.role) {
        (Role::User, Role::User) => profile.merging.is_some() || last.alias == next.alias,
        (Role::Assistant, Role::Assistant) => !has_calls,
        (Role::Tool, Role::Tool) => profile.results != Results::OwnTurns,
        (Role::Tool, Role::User) => profile.results == Results::UserTurn,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use chatmill_model::Part;

    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use crate::passes::profile::Thoughts;
    use crate::passes::samples::{ANN, BEN, BOT, PLAIN, Sample, call, picture, result, text};
    use crate::view::policy::Reasoning;

    #[test]
    fn policy_merges_where_no_rule_does_but_not_across_names() {
        let mut sample = Sample::new()
            .post(ANN, vec![text("a")])
            .post(BEN, vec![text("b")])
            .post(BOT, vec![text("c")])
            .post(BOT, vec![text("d")]);
        assert_eq!(sample.after(&[&PASS], &PLAIN).0.len(), 4);
        sample.policy.turns = TurnsInARow::Merge;
        let (turns, losses) = sample.after(&[&PASS], &PLAIN);
        assert_eq!(turns, ["user: a | b", "assistant: c | d"]);
        assert_eq!(losses, ["turn-merged 1 1", "turn-merged 3 1"]);
        let mut calling = Sample::new()
            .post(BOT, vec![text("a")])
            .post(BOT, vec![text("b"), call("c")]);
        calling.policy.turns = TurnsInARow::Merge;
        let separate = DialectProfile {
            splits_calls: Some(ABC_01),
            ..PLAIN
        };
        let passes: [&Pass; 2] = [&crate::passes::split_calls::PASS, &PASS];
        let (turns, _) = calling.after(&passes, &separate);
        assert_eq!(turns, ["assistant: a | b", "assistant: <call   >"]);
        assert_eq!(calling.after(&passes, &PLAIN).0.len(), 1);
        let keeping = DialectProfile {
            keeps_message_ids: true,
            ..PLAIN
        };
        assert_eq!(sample.after(&[&PASS], &keeping).0.len(), 4);
        let naming = DialectProfile {
            name_field: Some(ABC_01),
            ..PLAIN
        };
        let passes = [&crate::passes::names::PASS, &PASS];
        assert_eq!(sample.after(&passes, &naming).0.len(), 3);
    }

    #[test]
    fn words_that_stand_for_media_stay_out_of_a_turn_that_is_merged_with_words() {
        let posts = |merges| {
            let mut sample = Sample::new()
                .post(ANN, vec![text("a")])
                .post(BOT, vec![picture()])
                .post(BOT, vec![text("b")])
                .post(ANN, vec![text("c")])
                .post(BOT, vec![picture()]);
            if merges {
                sample.policy.turns = TurnsInARow::Merge;
            }
            sample.after(
                &[&crate::passes::media::PASS, &crate::passes::empty::PASS, &PASS],
                &PLAIN,
            )
        };
        let alone = "assistant: [Image: p.png]";
        assert_eq!(
            posts(false).0,
            ["user: a", alone, "assistant: b", "user: c", alone]
        );
        let (turns, losses) = posts(true);
        assert_eq!(turns, ["user: a", "assistant: b", "user: c", alone]);
        assert!(losses.contains(&"media-dropped 1 1".to_owned()), "{losses:?}");
    }

    #[test]
    fn policy_merges_no_turn_with_thoughts() {
        let thought = || Part::Reasoning("hm".to_owned());
        let mut sample = Sample::new()
            .post(BOT, vec![text("a")])
            .post(BOT, vec![thought(), text("b")])
            .post(BOT, vec![text("c")]);
        sample.policy.turns = TurnsInARow::Merge;
        sample.policy.reasoning = Reasoning::Keep;
        let thinking = DialectProfile {
            thoughts: Thoughts::Field,
            ..PLAIN
        };
        let passes = [&crate::passes::thoughts::PASS, &PASS];
        assert_eq!(sample.after(&passes, &thinking).0.len(), 2);
    }

    #[test]
    fn runs_of_one_speaker_become_one_turn_but_not_across_calls() {
        let sample = Sample::new()
            .post(ANN, vec![text("a")])
            .post(BEN, vec![text("b")])
            .post(BOT, vec![text("c")])
            .post(BOT, vec![call("c1")])
            .post(BOT, vec![result("c1", "x")])
            .post(ANN, vec![text("d")]);
        assert_eq!(sample.after(&[&PASS], &PLAIN).0.len(), 6);
        let merging = |results| DialectProfile {
            merging: Some(ABC_01),
            results,
            ..PLAIN
        };
        let (turns, losses) = sample.after(&[&PASS], &merging(Results::OneTurn));
        assert_eq!(
            turns,
            [
                "user: a | b",
                "assistant: c | <call   >",
                "tool: <result   x>",
                "user: d"
            ]
        );
        assert_eq!(losses, ["turn-merged 1 1", "turn-merged 3 1"]);
        let (turns, losses) = sample.after(&[&PASS], &merging(Results::UserTurn));
        assert_eq!(turns[2], "user: <result   x> | d");
        assert_eq!(losses.last().unwrap(), "turn-merged 5 1");
    }
}
