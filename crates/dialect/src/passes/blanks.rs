//! Texts of nothing but white space, which some vendors take for none.

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::text_run::is_blank_character;
use crate::turns::{BlockContent, Kinds, Wording};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.blank_is_empty {
        true => &[LossCode::WhitespaceTrimmed],
        false => &[],
    },
    run: |plan, _, profile| {
        if !profile.blank_is_empty || !plan.kinds.has(Kinds::BLANK) {
            return;
        }
        plan.each_block(|plan, _, block| {
            if let (BlockContent::Words(Wording::Text, words), Some(position)) = (block.held, block.position)
                && plan
                    .words(words)
                    .iter()
                    .all(|words| words.text.chars().all(is_blank_character))
            {
                let reason = reasons::WHITE_SPACE_IS_EMPTY;
                plan.losses.at(LossCode::WhitespaceTrimmed, position, reason);
                return None;
            }
            Some(block)
        });
    },
};
