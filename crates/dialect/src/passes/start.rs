//! Adds a synthetic user turn where the assistant would come first and the dialect demands a user.

use chatmill_model::{Component, Role};

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::text::run::TextRun;
use crate::transcript::turns::{Block, BlockContent, Turn, TurnPlan, Wording};

/// The text of a synthetic user turn.
pub const SYNTHETIC_QUESTION: &str = "[start]";

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(profile.user_first.is_some(), &[LossCode::EmptyFilled]),
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

/// Adds the block of a synthetic user turn.
pub(super) fn push_start(plan: &mut TurnPlan<'_>) {
    let words = plan.wording([TextRun::new(SYNTHETIC_QUESTION, Component::Framing)]);
    let content = BlockContent::Words(Wording::Text, words);
    plan.blocks.push(Block {
        opens: true,
        ..Block::new(content, None, Role::User)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{BOT, PLAIN, Sample, text};

    #[test]
    fn a_synthetic_user_turn_precedes_a_first_assistant_turn() {
        let sample = Sample::new().system("s").post(BOT, vec![text("a")]);
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
