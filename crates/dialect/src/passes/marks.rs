//! Puts each cache mark on the block before it, where the dialect has marks.

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::transcript::turns::{Block, BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |_| &[LossCode::CacheMarkDropped],
    run: |plan, _, profile| {
        if !plan.kinds.has(Kinds::CACHE_MARKS) {
            return;
        }
        plan.rebuild(|plan, turn, blocks| {
            let start = plan.blocks.len();
            for block in blocks {
                let (BlockContent::CacheMark, Some(position)) = (block.content, block.position) else {
                    plan.blocks.push(*block);
                    continue;
                };
                let behind = plan.blocks.split_at_mut(start).1.last_mut();
                let reason = match (profile.cache_marks, behind.filter(|block| is_markable(block))) {
                    (Some(_), Some(block)) if block.is_cached => reasons::MARKED_ALREADY,
                    (Some(_), Some(block)) => {
                        block.is_cached = true;
                        continue;
                    }
                    (Some(_), None) => reasons::NOTHING_BEFORE_THE_MARK,
                    (None, _) => reasons::MESSAGES_HAVE_NO_CACHE_MARKS,
                };
                plan.losses.at(reason, position);
            }
            plan.close(turn, start);
        });
    },
};

/// Whether a block can have a mark. A thought cannot: thoughts are moved before everything else of their message, so the mark that follows
/// one there did not follow it in the source.
fn is_markable(block: &Block<'_>) -> bool {
    !block.is_thought()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::Part;

    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, PLAIN, REASON, Sample, text};

    #[test]
    fn a_mark_goes_onto_what_stands_before_it() {
        let mark = || Part::CacheMark;
        let sample = Sample::new().post(ANN, vec![mark(), text("a"), mark(), mark(), text("b")]);
        let (turns, losses) = sample.after(&[&PASS], &PLAIN);
        assert_eq!(turns, ["user: a | b"]);
        assert_eq!(losses, ["cache-mark-dropped 0 3"]);
        let marked = DialectProfile {
            cache_marks: Some((4, REASON)),
            ..PLAIN
        };
        let (turns, losses) = sample.after(&[&PASS], &marked);
        assert_eq!(turns, ["user: a* | b"]);
        assert_eq!(losses, ["cache-mark-dropped 0 1", "cache-mark-dropped 0 1"]);
    }
}
