//! A user comes first.

use chatmill_model::{Component, Role};

use super::{Pass, when};
use crate::loss::{LossCode, reasons};
use crate::text::run::TextRun;
use crate::transcript::turns::{Block, BlockContent, Turn, TurnPlan, Wording};

/// What stands in a first user turn that the source has not.
pub const MADE_QUESTION: &str = "[start]";

pub(super) const PASS: Pass = Pass {
    loses: |profile| when(profile.user_first.is_some(), &[LossCode::EmptyFilled]),
    run: |plan, _, profile| {
        let Some(rule) = profile.user_first else {
            return;
        };
        let mut turns = plan.turns.iter().enumerate();
        let first = turns.find(|(_, turn)| turn.role != Role::System);
        if let Some((first, turn)) = first
            && turn.role == Role::Assistant
        {
            plan.losses
                .whole_rendering(reasons::USER_TURN_COMES_FIRST.by(rule), 1);
            let start = plan.blocks.len();
            push_start(plan);
            let turn = Turn {
                start,
                end: plan.blocks.len(),
                ..Turn::new(Role::User, None)
            };
            plan.turns.insert(first, turn);
        }
    },
};

/// Adds the block of a user turn that is made up.
pub(super) fn push_start(plan: &mut TurnPlan<'_>) {
    let words = plan.wording([TextRun::new(MADE_QUESTION, Component::Framing)]);
    let held = BlockContent::Words(Wording::Text, words);
    plan.blocks.push(Block {
        opens: true,
        ..Block::new(held, None, Role::User)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{BOT, PLAIN, Sample, text};

    #[test]
    fn a_user_turn_is_made_up_where_the_assistant_would_come_first() {
        let sample = Sample::new().system("s").say(BOT, vec![text("a")]);
        assert_eq!(sample.after(&[&PASS], &PLAIN).0.len(), 2);
        let wanting = DialectProfile {
            user_first: Some(ABC_01),
            ..PLAIN
        };
        let (turns, losses) = sample.after(&[&PASS], &wanting);
        assert_eq!(turns, ["system: s", "user: [start]", "assistant: a"]);
        assert_eq!(losses, ["empty-filled all 1"]);
    }
}
