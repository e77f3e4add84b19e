//! System text: where the dialect keeps it, and what comes too late for that place.

use chatmill_model::Role;

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::profile::SystemPlace;
use crate::turns::{Lead, Turn};

/// What stands before system text that became a user turn.
const SYSTEM_MARK: &str = "[system] ";

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.system {
        SystemPlace::Anywhere => &[],
        SystemPlace::Start => &[LossCode::SystemInlined],
        SystemPlace::Outside => &[LossCode::SystemHoisted, LossCode::SystemInlined],
    },
    run: |plan, _, profile| {
        let is_system = |turn: &Turn<'_>| turn.role == Role::System;
        if profile.system == SystemPlace::Anywhere || !plan.turns.iter().any(is_system) {
            return;
        }
        let mut has_begun = false;
        plan.rebuild(|plan, turn, blocks| {
            let start = plan.blocks.len();
            if is_system(&turn) && !has_begun && profile.system == SystemPlace::Outside {
                if let Some(position) = turn.position {
                    let reason = reasons::SYSTEM_TEXT_STANDS_OUTSIDE;
                    plan.losses.at(LossCode::SystemHoisted, position, reason);
                }
                return plan.system.extend(blocks);
            }
            plan.blocks.extend(blocks);
            if !is_system(&turn) || !has_begun {
                has_begun |= !is_system(&turn);
                return plan.close(turn, start);
            }
            if let Some(position) = turn.position {
                let reason = reasons::LATER_SYSTEM_TEXT;
                plan.losses.at(LossCode::SystemInlined, position, reason);
            }
            let said = plan.blocks.get_mut(start..).unwrap_or_default();
            for block in &mut *said {
                block.role = Role::User;
            }
            if let Some(first) = said.first_mut() {
                first.lead = Lead::Label(SYSTEM_MARK);
            }
            plan.close(Turn { role: Role::User, ..turn }, start);
        });
    },
};
