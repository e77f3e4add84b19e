//! Splits text and calls of a turn into two turns, where a dialect demands it.

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::transcript::turns::{Block, Kinds, Turn};

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(profile.splits_calls.is_some(), &[LossCode::TurnSplit]),
    run: |plan, _, profile| {
        let Some(rule) = profile.splits_calls.filter(|_| plan.kinds.has(Kinds::CALLS)) else {
            return;
        };
        for turn in std::mem::take(&mut plan.turns) {
            let blocks = plan.blocks(&turn);
            let texts = blocks.iter().position(Block::is_call).unwrap_or(blocks.len());
            if texts == 0 || texts == blocks.len() {
                plan.turns.push(turn);
                continue;
            }
            if let Some(position) = turn.position {
                plan.losses.at(reasons::TEXT_OR_CALLS.by(rule), position);
            }
            let middle = turn.start + texts;
            plan.turns.push(Turn { end: middle, ..turn });
            plan.turns.push(Turn {
                start: middle,
                ..turn
            });
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{BOT, PLAIN, Sample, call, result, text};

    #[test]
    fn text_and_calls_are_turns_of_their_own_where_a_rule_wants_it() {
        let sample = Sample::new()
            .post(BOT, vec![text("a"), call("c")])
            .post(BOT, vec![result("c", "x")]);
        assert_eq!(sample.after(&[&PASS], &PLAIN).0.len(), 2);
        let splitting = DialectProfile {
            splits_calls: Some(ABC_01),
            ..PLAIN
        };
        let (turns, losses) = sample.after(&[&PASS], &splitting);
        assert_eq!(turns[..2], ["assistant: a", "assistant: <call   >"]);
        assert_eq!(losses, ["turn-split 0 1"]);
    }
}
