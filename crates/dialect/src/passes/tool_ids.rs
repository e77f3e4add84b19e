//! Ids of calls: the source's where the dialect allows them, else written anew, no two alike.

use super::Pass;
use crate::loss::LossCode;
use crate::order::Order;
use crate::tool_call_ids::CallIds;
use crate::turns::{BlockContent, Kinds};
use crate::loss::reasons;

pub(super) const PASS: Pass = Pass {
    loses: |profile| match (profile.order, profile.drops_ids) {
        (Order::Toolless(_), _) => &[],
        (_, None) => &[LossCode::ToolIdRewritten],
        (_, Some(_)) => &[LossCode::ToolIdRewritten, LossCode::ToolIdDropped],
    },
    run: |plan, transcript, profile| {
        if matches!(profile.order, Order::Toolless(_)) || !transcript.has_tool_use() {
            return;
        }
        let view = transcript.view();
        let ids = CallIds::new(
            view,
            transcript.messages(),
            &profile.ids,
            transcript.made(),
            &mut plan.losses,
        );
        if !plan.kinds.has(Kinds::CALLS) && !plan.kinds.has(Kinds::RESULTS) {
            return;
        }
        for block in &mut plan.blocks {
            match &mut block.held {
                BlockContent::Call(call) => {
                    call.id = ids.of(call.place);
                    if let (Some(reason), Some(position)) = (profile.drops_ids, block.position) {
                        plan.losses.at(LossCode::ToolIdDropped, position, reason);
                    }
                }
                BlockContent::Result(result) => {
                    result.id = match result.call {
                        Some(place) => ids.of(place),
                        None => {
                            let given = result.result.and_then(|result| result.known_id()).unwrap_or_default();
                            let id = ids.loose(given);
                            if let Some(position) = block.position.filter(|_| id != given) {
                                let reason = reasons::ID_WITHOUT_A_CALL;
                                plan.losses.at(LossCode::ToolIdRewritten, position, reason);
                            }
                            id
                        }
                    };
                }
                _ => {}
            }
        }
    },
};
