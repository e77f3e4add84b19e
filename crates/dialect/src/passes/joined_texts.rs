//! Declares texts of one message that the writer joins into one.

use chatmill_model::{Component, Role};

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::passes::profile::Texts;
use crate::text::run::TextRun;
use crate::transcript::turns::{Block, BlockContent, Lead, Turn, Wording};

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(profile.texts != Texts::Blocks, &[LossCode::PartFlattened]),
    run: |plan, _, profile| {
        if matches!(profile.texts, Texts::Blocks | Texts::BlocksOfOthers) {
            return;
        }
        let mut losses = std::mem::take(&mut plan.losses);
        for (turn, blocks) in plan.turn_blocks() {
            let shape = profile.shape;
            let parts = profile.texts == Texts::JoinedBetweenMedia;
            let runs = blocks.chunk_by(|one, next| {
                !shape.separates(one, next) && !(parts && (one.is_media() || next.is_media()))
            });
            let more = runs.map(|run| texts(run).saturating_sub(1)).sum();
            let joins = match profile.texts {
                Texts::Joined | Texts::JoinedBetweenMedia => true,
                Texts::JoinedWithoutMedia => !blocks.iter().any(Block::is_media),
                // Where texts are written this way, a call has no mark.
                Texts::JoinedWithoutMarks => !blocks.iter().any(|block| block.is_cached && !block.is_call()),
                Texts::Blocks | Texts::BlocksOfOthers => false,
            };
            if let Some(position) = turn.position.filter(|_| joins && more > 0) {
                losses.several(reasons::TEXTS_ARE_JOINED, position, more);
            }
        }
        plan.losses = losses;
    },
};

/// Joins neighbouring texts of an answer with line breaks where a reader would join their blocks without a separator.
pub(super) const OF_ANSWERS: Pass = Pass {
    loses: |profile| codes_if(profile.texts == Texts::BlocksOfOthers, &[LossCode::PartFlattened]),
    run: |plan, _, profile| {
        let has_neighbours = |(turn, blocks): (&Turn<'_>, &[Block<'_>])| {
            let mut pairs = blocks.iter().zip(blocks.iter().skip(1));
            turn.role == Role::Assistant && pairs.any(|(one, next)| are_one(one, next))
        };
        if profile.texts != Texts::BlocksOfOthers || !plan.turn_blocks().any(has_neighbours) {
            return;
        }
        plan.rebuild(|plan, turn, blocks| {
            let start = plan.blocks.len();
            let is_answer = turn.role == Role::Assistant;
            let mut before: Option<&Block<'_>> = None;
            for run in
                blocks.chunk_by(|one, next| is_answer && are_one(one, next) && one.position == next.position)
            {
                let [first, more @ ..] = run else { continue };
                let follows = is_answer && before.is_some_and(|before| are_one(before, first));
                before = run.last();
                if more.is_empty() && !follows {
                    plan.blocks.push(*first);
                    continue;
                }
                // The text of another message stays a separate block: it may be trained on where the text before is not.
                let mut words = Vec::new();
                if follows {
                    words.push(TextRun::new("\n\n", Component::Framing));
                }
                plan.joined(run, |text| words.push(text));
                let words = plan.wording(words);
                plan.blocks.push(Block {
                    content: BlockContent::Words(Wording::Text, words),
                    lead: Lead::None,
                    is_cached: run.iter().any(|block| block.is_cached),
                    ..*first
                });
                if let Some(position) = first.position {
                    plan.losses
                        .several(reasons::TEXTS_ARE_JOINED, position, more.len() as u64);
                }
            }
            plan.close(turn, start);
        });
    },
};

/// Whether two neighbouring blocks are texts that a reader joins: no cache mark separates them.
fn are_one(one: &Block<'_>, next: &Block<'_>) -> bool {
    let is_text = |block: &Block<'_>| matches!(block.content, BlockContent::Words(Wording::Text, _));
    is_text(one) && is_text(next) && !one.is_cached
}

/// Counts the texts among the blocks of a turn.
pub(super) fn texts(blocks: &[Block<'_>]) -> u64 {
    let is_text = |block: &&Block<'_>| matches!(block.content, BlockContent::Words(Wording::Text, _));
    blocks.iter().filter(is_text).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::Part;

    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, BOT, PLAIN, REASON, Sample, call, picture, text};

    #[test]
    fn texts_of_an_answer_are_one_where_readers_would_join_them() {
        let sample = Sample::new()
            .post(ANN, vec![text("a"), text("b")])
            .post(BOT, vec![text("c"), text("d"), call("1"), text("e")]);
        let profile = DialectProfile {
            texts: Texts::BlocksOfOthers,
            ..PLAIN
        };
        let (turns, losses) = sample.after(&[&OF_ANSWERS], &profile);
        assert_eq!(turns, ["user: a | b", "assistant: c\nd | <call   > | e"]);
        assert_eq!(losses, ["part-flattened 1 1"]);
    }

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
