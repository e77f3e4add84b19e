//! Runs of one speaker become one turn.

use chatmill_model::Role;

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::profile::{DialectProfile, Results};
use crate::turns::{Block, Turn};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.merging {
        Some(_) => &[LossCode::TurnMerged],
        None => &[],
    },
    run: |plan, _, profile| {
        let Some(rule) = profile.merging else {
            return;
        };
        let turns = std::mem::take(&mut plan.turns);
        let mut merged: Vec<Turn<'_>> = Vec::with_capacity(turns.len());
        // Whether the last of them calls: to ask it of a turn that grows would take as long as it is, for each that joins it.
        let mut has_calls = false;
        for turn in turns {
            let calls = plan.blocks(&turn).iter().any(Block::is_call);
            let last = merged.last_mut();
            let Some(last) = last.filter(|last| is_one(last, has_calls, &turn, profile)) else {
                has_calls = calls;
                merged.push(turn);
                continue;
            };
            has_calls |= calls;
            let before = plan.blocks(last).last().and_then(|block| block.position);
            if let Some(position) = turn.position.filter(|position| before != Some(*position)) {
                let reason = reasons::TURNS_ARE_ONE.by(rule);
                plan.losses.at(LossCode::TurnMerged, position, reason);
            }
            if turn.role == Role::User {
                last.role = Role::User;
            }
            last.end = turn.end;
        }
        plan.turns = merged;
    },
};

fn is_one(last: &Turn<'_>, has_calls: bool, next: &Turn<'_>, profile: &DialectProfile) -> bool {
    match (last.role, next.role) {
        (Role::User, Role::User) => true,
        (Role::Assistant, Role::Assistant) => !has_calls,
        (Role::Tool, Role::Tool) => profile.results != Results::OwnTurns,
        (Role::Tool, Role::User) => profile.results == Results::UserTurn,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::samples::{ANN, BEN, BOT, PLAIN, Sample, call, result, text};
    use crate::rules::samples::ABC_01;

    #[test]
    fn runs_of_one_speaker_become_one_turn_but_not_across_calls() {
        let sample = Sample::new()
            .say(ANN, vec![text("a")])
            .say(BEN, vec![text("b")])
            .say(BOT, vec![text("c")])
            .say(BOT, vec![call("c1")])
            .say(BOT, vec![result("c1", "x")])
            .say(ANN, vec![text("d")]);
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
