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
            plan.close(
                Turn {
                    role: Role::User,
                    ..turn
                },
                start,
            );
        });
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::samples::{ANN, PLAIN, Sample, text};
    use crate::profile::DialectProfile;

    #[test]
    fn system_text_stands_where_the_dialect_keeps_it() {
        let sample = Sample::new().system("s").say(ANN, vec![text("a")]).system("t");
        let at = |system| DialectProfile { system, ..PLAIN };
        let (turns, losses) = sample.after(&[&PASS], &at(SystemPlace::Anywhere));
        assert_eq!(turns, ["system: s", "user: a", "system: t"]);
        assert!(losses.is_empty());
        let (turns, losses) = sample.after(&[&PASS], &at(SystemPlace::Start));
        assert_eq!(turns, ["system: s", "user: a", "user: [system] t"]);
        assert_eq!(losses, ["system-inlined 2 1"]);
        let (turns, losses) = sample.after(&[&PASS], &at(SystemPlace::Outside));
        assert_eq!(turns, ["user: a", "user: [system] t"]);
        assert_eq!(losses, ["system-hoisted 0 1", "system-inlined 2 1"]);
    }
}
