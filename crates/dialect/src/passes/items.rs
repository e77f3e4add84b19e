//! Declares what is lost where calls are separate items next to the turn that made them.

use chatmill_model::Role;

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::passes::profile::Shape;
use crate::transcript::turns::Block;

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(matches!(profile.shape, Shape::Items(_)), &[LossCode::TurnMerged]),
    run: |plan, _, profile| {
        let Shape::Items(rule) = profile.shape else {
            return;
        };
        // Readers cannot distinguish a turn that begins with a call from the assistant's turn before it.
        let mut losses = std::mem::take(&mut plan.losses);
        let mut last = Role::System;
        for (turn, blocks) in plan.turn_blocks() {
            let is_continued = turn.role == Role::Assistant && last == Role::Assistant;
            last = turn.role;
            if let Some(position) = turn.position
                && is_continued
                && blocks.first().is_none_or(Block::is_call)
            {
                losses.at(reasons::CALLS_ARE_THE_TURNS_BEFORE.by(rule), position);
            }
        }
        plan.losses = losses;
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{BOT, PLAIN, Sample, call, result, text};

    #[test]
    fn a_turn_that_begins_with_a_call_is_the_turn_before() {
        let items = DialectProfile {
            shape: Shape::Items(ABC_01),
            ..PLAIN
        };
        for (turn, expected) in [
            (vec![call("c")], &["turn-merged 1 1"][..]),
            (vec![call("c"), text("b")], &["turn-merged 1 1"]),
            (vec![text("b"), call("c")], &[]),
        ] {
            let sample = Sample::new().post(BOT, vec![text("a")]).post(BOT, turn);
            let sample = sample.post(BOT, vec![result("c", "x")]);
            assert!(sample.after(&[&PASS], &PLAIN).1.is_empty());
            assert_eq!(sample.after(&[&PASS], &items).1, expected);
        }
    }
}
