//! Removes messages without content, and marks the first block of every other message.

use chatmill_diag::cut;

use super::Pass;
use crate::loss::{LossCode, reasons};

pub(super) const PASS: Pass = Pass {
    loses: |_| &[LossCode::EmptyDropped],
    run: |plan, _, _| {
        let (turns, blocks, losses) = (&mut plan.turns, &mut plan.blocks, &mut plan.losses);
        turns.retain(|turn| {
            if let Some(first) = cut::slice_mut(blocks, turn.range()).first_mut() {
                first.opens = true;
                return true;
            }
            if let Some(position) = turn.position {
                losses.at(reasons::MESSAGE_IS_EMPTY, position);
            }
            false
        });
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::samples::{ANN, BEN, PLAIN, Sample, text};

    #[test]
    fn a_message_without_content_is_left_out() {
        let sample = Sample::new().post(ANN, vec![text("")]).post(BEN, vec![text("b")]);
        let (turns, losses) = sample.after(&[&PASS], &PLAIN);
        assert_eq!(turns, ["user: b"]);
        assert_eq!(losses, ["empty-dropped 0 1"]);
    }
}
