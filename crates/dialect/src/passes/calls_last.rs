//! Moves the calls of a turn after its text.
//!
//! Where each call is a separate item, text keeps its place between the calls and their results, except in the last turn: after calls
//! without results the text would be another turn.

use chatmill_diag::cut;

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::passes::profile::Shape;
use crate::transcript::turns::{Block, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(profile.order.has_tools(), &[LossCode::PartMoved]),
    run: |plan, _, profile| {
        if !plan.kinds.has(Kinds::CALLS) {
            return;
        }
        let answered = match profile.shape {
            Shape::Items(_) => plan.turns.len().saturating_sub(1),
            _ => 0,
        };
        let (turns, blocks, losses) = (&plan.turns, &mut plan.blocks, &mut plan.losses);
        for turn in turns.iter().skip(answered) {
            let blocks = cut::slice_mut(blocks, turn.range());
            let Some(first) = blocks.iter().position(Block::is_call) else {
                continue;
            };
            let behind = blocks.iter().skip(first).filter(|block| !block.is_call());
            let moved = behind.count() as u64;
            if let Some(position) = turn.position.filter(|_| moved > 0) {
                losses.several(reasons::TEXT_BEFORE_CALLS_OF_THE_TURN, position, moved);
                blocks.sort_by_key(Block::is_call);
            }
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::samples::{BOT, PLAIN, Sample, call, result, text};

    #[test]
    fn text_behind_a_call_moves_before_it() {
        let sample = Sample::new()
            .post(BOT, vec![text("a"), call("c1"), text("b"), call("c2")])
            .post(BOT, vec![result("c1", "x"), result("c2", "y")]);
        let (turns, losses) = sample.after(&[&PASS], &PLAIN);
        assert_eq!(turns[0], "assistant: a | b | <call   > | <call   >");
        assert_eq!(losses, ["part-moved 0 1"]);
    }
}
