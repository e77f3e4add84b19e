//! Calls and text in turns of their own, where a dialect wants them apart.

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::turns::{Block, Kinds, Turn};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.splits_calls {
        Some(_) => &[LossCode::TurnSplit],
        None => &[],
    },
    run: |plan, _, profile| {
        let Some(rule) = profile.splits_calls.filter(|_| plan.kinds.has(Kinds::CALLS)) else {
            return;
        };
        for turn in std::mem::take(&mut plan.turns) {
            let blocks = plan.blocks(&turn);
            let said = blocks.iter().position(Block::is_call).unwrap_or(blocks.len());
            if said == 0 || said == blocks.len() {
                plan.turns.push(turn);
                continue;
            }
            if let Some(position) = turn.position {
                let reason = reasons::TEXT_OR_CALLS.by(rule);
                plan.losses.at(LossCode::TurnSplit, position, reason);
            }
            let border = turn.start + said;
            plan.turns.push(Turn { end: border, ..turn });
            plan.turns.push(Turn { start: border, ..turn });
        }
    },
};
