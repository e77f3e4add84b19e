//! Moves system text to where the dialect keeps it, and turns later system text into user turns.

use chatmill_model::Role;

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::passes::profile::SystemPlace;
use crate::transcript::turns::{Lead, Turn};

/// The prefix of system text that is written as a user turn.
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
                    plan.losses.at(reasons::SYSTEM_TEXT_STANDS_OUTSIDE, position);
                }
                return plan.system.extend(blocks);
            }
            plan.blocks.extend(blocks);
            if !is_system(&turn) || !has_begun {
                has_begun |= !is_system(&turn);
                return plan.close(turn, start);
            }
            if let Some(position) = turn.position {
                plan.losses.at(reasons::LATER_SYSTEM_TEXT, position);
            }
            let moved = plan.blocks.split_at_mut(start).1;
            for block in &mut *moved {
                block.role = Role::User;
            }
            if let Some(first) = moved.first_mut() {
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
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, PLAIN, Sample, text};

    #[test]
    fn system_text_stands_where_the_dialect_keeps_it() {
        let sample = Sample::new().system("s").post(ANN, vec![text("a")]).system("t");
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
