//! Cache marks: each goes onto the block before it, where the dialect has marks.

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::turns::{Block, BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |_| &[LossCode::CacheMarkDropped],
    run: |plan, _, profile| {
        if !plan.kinds.has(Kinds::CACHE_MARKS) {
            return;
        }
        plan.rebuild(|plan, turn, blocks| {
            let start = plan.blocks.len();
            for block in blocks {
                let (BlockContent::CacheMark, Some(position)) = (block.held, block.position) else {
                    plan.blocks.push(*block);
                    continue;
                };
                let behind = plan.blocks.get_mut(start..).unwrap_or_default().last_mut();
                let reason = match (profile.cache_marks, behind.filter(|block| is_markable(block))) {
                    (Some(_), Some(block)) => {
                        block.is_cached = true;
                        continue;
                    }
                    (Some(_), None) => reasons::NOTHING_BEFORE_THE_MARK,
                    (None, _) => reasons::MESSAGES_HAVE_NO_CACHE_MARKS,
                };
                plan.losses.at(LossCode::CacheMarkDropped, position, reason);
            }
            plan.close(turn, start);
        });
    },
};

/// Thoughts stand before everything else of their message, so no mark of the source stands behind them.
fn is_markable(block: &Block<'_>) -> bool {
    !block.is_thought()
}
