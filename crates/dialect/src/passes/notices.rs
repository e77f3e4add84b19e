//! Removes notices inside messages, which have no place in turns.

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::transcript::turns::{BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |_| &[LossCode::NoticeDropped],
    run: |plan, _, _| {
        if plan.kinds.has(Kinds::NOTICES) {
            plan.each_block(|plan, _, block| {
                let position = block.position;
                if let (BlockContent::Notice, Some(position)) = (block.content, position) {
                    plan.losses.at(reasons::MESSAGES_HAVE_NO_NOTICES, position);
                    return None;
                }
                Some(block)
            });
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::Part;

    use crate::passes::samples::{ANN, PLAIN, Sample, text};

    #[test]
    fn a_notice_inside_a_message_is_left_out() {
        let sample = Sample::new().post(ANN, vec![text("a"), Part::Notice("joined".to_owned()), text("b")]);
        let (turns, losses) = sample.after(&[&PASS], &PLAIN);
        assert_eq!(turns, ["user: a | b"]);
        assert_eq!(losses, ["notice-dropped 0 1"]);
    }
}
