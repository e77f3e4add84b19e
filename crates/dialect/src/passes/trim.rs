//! No white space at the end of the assistant's last turn.

use chatmill_model::Role;

use super::Pass;
use crate::loss::{LossCode, reasons};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.trims_end {
        Some(_) => &[LossCode::WhitespaceTrimmed],
        None => &[],
    },
    run: |plan, _, profile| {
        let (Some(rule), Some(last)) = (profile.trims_end, plan.turns.last().copied()) else {
            return;
        };
        if last.role == Role::Assistant
            && plan.trim_end(last)
            && let Some(position) = plan.blocks(&last).last().and_then(|block| block.position)
        {
            let reason = reasons::END_IS_TRIMMED.by(rule);
            plan.losses.at(LossCode::WhitespaceTrimmed, position, reason);
        }
    },
};
