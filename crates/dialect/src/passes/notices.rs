//! Notices inside messages, which no turn holds.

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::turns::{BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |_| &[LossCode::NoticeDropped],
    run: |plan, _, _| {
        if plan.kinds.has(Kinds::NOTICES) {
            plan.each_block(|plan, _, block| {
                let position = block.position;
                if let (BlockContent::Notice, Some(position)) = (block.held, position) {
                    let reason = reasons::MESSAGES_HAVE_NO_NOTICES;
                    plan.losses.at(LossCode::NoticeDropped, position, reason);
                    return None;
                }
                Some(block)
            });
        }
    },
};
