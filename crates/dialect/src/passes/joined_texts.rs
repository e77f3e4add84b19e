//! Texts of one message that a writer joins into one.

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::passes::profile::Texts;
use crate::transcript::turns::{Block, BlockContent, Wording};

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(profile.texts != Texts::Blocks, &[LossCode::PartFlattened]),
    run: |plan, _, profile| {
        if profile.texts == Texts::Blocks {
            return;
        }
        let mut losses = std::mem::take(&mut plan.losses);
        for (turn, blocks) in plan.turn_blocks() {
            let shape = profile.shape;
            let runs = blocks.chunk_by(|one, next| !shape.separates(one, next));
            let more = runs.map(|run| texts(run).saturating_sub(1)).sum();
            let joins = match profile.texts {
                Texts::Joined => true,
                Texts::JoinedWithoutMedia => !blocks.iter().any(Block::is_media),
                // A call bears no mark where texts are written so.
                Texts::JoinedWithoutMarks => !blocks.iter().any(|block| block.is_cached && !block.is_call()),
                Texts::Blocks => false,
            };
            if let Some(position) = turn.position.filter(|_| joins && more > 0) {
                losses.several(reasons::TEXTS_ARE_JOINED, position, more);
            }
        }
        plan.losses = losses;
    },
};

/// How many texts the blocks of a turn have.
pub(super) fn texts(blocks: &[Block<'_>]) -> u64 {
    let is_text = |block: &&Block<'_>| matches!(block.content, BlockContent::Words(Wording::Text, _));
    blocks.iter().filter(is_text).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::Part;

    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, PLAIN, REASON, Sample, picture, text};

    #[test]
    fn texts_that_become_one_are_counted() {
        let sample = Sample::new().post(ANN, vec![text("a"), picture(), text("b")]);
        let joined = |texts| DialectProfile { texts, ..PLAIN };
        assert_eq!(
            sample.after(&[&PASS], &joined(Texts::Joined)).1,
            ["part-flattened 0 1"]
        );
        for texts in [Texts::JoinedWithoutMedia, Texts::Blocks] {
            assert!(sample.after(&[&PASS], &joined(texts)).1.is_empty());
        }
        let marked = Sample::new().post(ANN, vec![text("a"), Part::CacheMark, text("b")]);
        let without_marks = DialectProfile {
            cache_marks: Some((4, REASON)),
            ..joined(Texts::JoinedWithoutMarks)
        };
        let passes: [&Pass; 2] = [&crate::passes::marks::PASS, &PASS];
        assert!(marked.after(&passes, &without_marks).1.is_empty());
    }
}
