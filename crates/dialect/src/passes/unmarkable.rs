//! Cache marks on what the dialect can put none on.

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::profile::MarksOn;
use crate::turns::{BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.cache_marks {
        Some(_) => &[LossCode::CacheMarkDropped],
        None => &[],
    },
    run: |plan, _, profile| {
        if profile.marks_on == MarksOn::Everything || !plan.kinds.has(Kinds::CACHE_MARKS) {
            return;
        }
        let losses = &mut plan.losses;
        for turn in &plan.turns {
            let blocks = plan.blocks.get_mut(turn.start..turn.end).unwrap_or_default();
            for block in blocks.iter_mut().filter(|block| block.is_cached) {
                let reason = match block.held {
                    BlockContent::Call(_) => reasons::CALL_BEARS_NO_MARK,
                    BlockContent::Result(result)
                        if profile.marks_on == MarksOn::Texts || result.content.is_empty() =>
                    {
                        reasons::RESULT_HAS_NO_BLOCK
                    }
                    _ => continue,
                };
                block.is_cached = false;
                if let Some(position) = block.position {
                    losses.at(LossCode::CacheMarkDropped, position, reason);
                }
            }
        }
    },
};
