//! A user comes first.

use chatmill_model::{Component, Role};

use super::{Pass, START};
use crate::loss::{LossCode, reasons};
use crate::text_run::TextRun;
use crate::turns::{Block, BlockContent, Turn, Wording};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.user_first {
        Some(_) => &[LossCode::EmptyFilled],
        None => &[],
    },
    run: |plan, _, profile| {
        let Some(rule) = profile.user_first else {
            return;
        };
        let first = plan.turns.iter().position(|turn| turn.role != Role::System);
        let Some(first) = first else {
            return;
        };
        if plan.turns.get(first).is_some_and(|turn| turn.role == Role::Assistant) {
            let reason = reasons::USER_TURN_COMES_FIRST.by(rule);
            plan.losses.whole_rendering(LossCode::EmptyFilled, 1, reason);
            let words = plan.wording([TextRun::new(START, Component::Framing)]);
            let (start, end) = (plan.blocks.len(), plan.blocks.len() + 1);
            let held = BlockContent::Words(Wording::Text, words);
            plan.blocks.push(Block {
                opens: true,
                ..Block::new(held, None, Role::User)
            });
            let turn = Turn {
                start,
                end,
                ..Turn::new(Role::User, None)
            };
            plan.turns.insert(first, turn);
        }
    },
};
