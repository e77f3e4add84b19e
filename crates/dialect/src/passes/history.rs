//! Merges older turns into one text with a cache mark; the newest user turn and what follows it stay unchanged.
//!
//! A turn that is already a cached block stays as it is, and the turns between two such blocks become another block. A request has at most
//! four marks: turns after the last mark stay unchanged.

use chatmill_model::{Component, Role};

use super::{Pass, joined_texts, message_ids};
use crate::loss::{LossCause, LossCode, reasons};
use crate::passes::profile::Shape;
use crate::text::edit::paragraphs_like;
use crate::text::run::{TextRun, trim_end, trim_start};
use crate::transcript::Transcript;
use crate::transcript::turns::{Block, BlockContent, Kinds, Turn, TurnPlan, Wording};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.shape {
        Shape::History => &[
            LossCode::CacheMarkCapped,
            LossCode::CacheMarkDropped,
            LossCode::MessageIdDropped,
            LossCode::TurnMerged,
            LossCode::ToolCallDropped,
            LossCode::ToolIdDropped,
            LossCode::WhitespaceTrimmed,
            LossCode::EmptyDropped,
            LossCode::SpecialTokenInText,
        ],
        _ => &[],
    },
    run: |plan, transcript, profile| {
        let (Shape::History, Some((most, _))) = (profile.shape, profile.cache_marks) else {
            return;
        };
        let newest = plan.turns.iter().rposition(|turn| turn.role == Role::User);
        let is_older = |index: usize| newest.is_some_and(|newest| index < newest);
        // Marks in other older turns are merged away with their turns and leave room for new blocks.
        let stays = |(index, (turn, blocks)): &(usize, (&Turn<'_>, &[Block<'_>]))| {
            is_marked(blocks) && (!is_older(*index) || matches!(turn.role, Role::User | Role::System))
        };
        let marked = plan.turn_blocks().enumerate().filter(stays).count();
        let mut history = History {
            left: most.saturating_sub(marked),
            ..History::default()
        };
        let mut index = 0;
        plan.rebuild(|plan, turn, blocks| {
            let is_history = is_older(index) && turn.role != Role::System;
            index += 1;
            // A turn that was read as a cached block is written as one; after the last block that may have a mark, turns stay unchanged.
            let is_older = is_history && !(turn.role == Role::User && is_marked(blocks));
            if is_older && (history.left > 0 || !history.words.is_empty()) {
                return history.add(plan, &turn, blocks);
            }
            if turn.role != Role::System {
                history.close(plan);
            }
            let start = plan.blocks.len();
            plan.blocks.extend(blocks);
            if is_older {
                drop_marks(plan, &turn, start);
            }
            plan.close(turn, start);
        });
        history.declare(plan, transcript);
    },
};

/// Whether a turn has a cache mark.
fn is_marked(blocks: &[Block<'_>]) -> bool {
    blocks.iter().any(|block| block.is_cached)
}

/// Removes the marks from an older turn that is not a block: other blocks have all the marks that a request may have.
fn drop_marks(plan: &mut TurnPlan<'_>, turn: &Turn<'_>, start: usize) {
    let blocks = plan.blocks.split_at_mut(start).1;
    // Texts with a mark would have been written as a list; without the mark they are joined.
    let is_list = blocks.iter().any(|block| block.is_cached && !block.is_call());
    let joined = joined_texts::texts(blocks).saturating_sub(1);
    let marks = blocks
        .iter_mut()
        .map(|block| u64::from(std::mem::take(&mut block.is_cached)));
    let marks: u64 = marks.sum();
    if let Some(position) = turn.position {
        plan.losses
            .several(reasons::REQUEST_HAS_FOUR_MARKS, position, marks);
        let joined = if is_list { joined } else { 0 };
        plan.losses.several(reasons::TEXTS_ARE_JOINED, position, joined);
    }
}

/// The older turns since the last cached block, and the losses of merging them.
#[derive(Default)]
struct History<'a> {
    words: Vec<TextRun<'a>>,
    /// The words of the turn that is added, kept to reuse the allocation.
    own_words: Vec<TextRun<'a>>,
    /// Positions of the messages that are in a block.
    positions: Vec<u32>,
    /// Number of turns that are in a block.
    turns: u64,
    /// Number of blocks that may still be added.
    left: usize,
}

impl<'a> History<'a> {
    /// Adds a turn: `ROLE: TEXT`, after a blank line; a turn without text has no line.
    fn add(&mut self, plan: &mut TurnPlan<'a>, turn: &Turn<'a>, blocks: &[Block<'a>]) {
        let words = &mut self.own_words;
        words.clear();
        let mut losses = std::mem::take(&mut plan.losses);
        let mut declare = |cause: LossCause| {
            if let Some(position) = turn.position {
                losses.at(cause, position);
            }
        };
        for block in blocks {
            if block.is_cached {
                declare(reasons::BLOCK_HAS_ONE_MARK);
            }
            match block.content {
                BlockContent::Call(_) => declare(reasons::BLOCK_HAS_NO_CALLS),
                BlockContent::Result(result) => {
                    declare((LossCode::ToolIdDropped, reasons::BLOCK_HAS_NO_IDS).into());
                    words.push(TextRun::new(result.content, Component::Tools));
                }
                _ => {}
            }
        }
        plan.joined(blocks, |run| words.push(run));
        let trimmed = [trim_start(words), trim_end(words)];
        if trimmed.contains(&true) {
            declare(reasons::BLOCK_TRIMS_TEXTS);
        }
        let is_empty = words.iter().all(|words| words.text.is_empty());
        if is_empty {
            declare(reasons::NO_TEXT_NO_LINE);
        }
        if let Some(position) = turn.position.filter(|_| !is_empty) {
            self.positions.push(position);
            self.turns += 1;
            let labels = ["User: ", "Assistant: ", "Tool: "];
            let spelled = words.iter().map(|words| paragraphs_like(words.text, &labels));
            losses.several(reasons::BLOCK_HAS_NO_ESCAPE, position, spelled.sum());
        }
        plan.losses = losses;
        if is_empty {
            return;
        }
        if !self.words.is_empty() {
            self.words.push(TextRun::new("\n\n", Component::Framing));
        }
        let label = match turn.role {
            Role::Assistant => "Assistant: ",
            Role::Tool => "Tool: ",
            Role::User | Role::System => "User: ",
        };
        self.words.push(TextRun::new(label, Component::Framing));
        self.words.append(words);
    }

    /// Turns the older turns into one cached block.
    fn close(&mut self, plan: &mut TurnPlan<'a>) {
        if self.words.is_empty() {
            return;
        }
        let start = plan.blocks.len();
        let words = plan.wording(self.words.drain(..));
        let content = BlockContent::Words(Wording::Text, words);
        plan.kinds.add(Kinds::CACHE_MARKS);
        plan.blocks.push(Block {
            opens: true,
            is_cached: true,
            ..Block::new(content, None, Role::User)
        });
        plan.close(Turn::new(Role::User, None), start);
        self.left = self.left.saturating_sub(1);
    }

    /// Declares the losses that all messages in blocks have in common.
    fn declare(mut self, plan: &mut TurnPlan<'a>, transcript: &Transcript<'a>) {
        self.positions.sort_unstable();
        self.positions.dedup();
        let written = message_ids::written(plan);
        let is_lost = |position: &&u32| {
            let message = transcript.view().message(**position);
            message.is_some_and(|message| message.id.is_some()) && !written.contains(*position)
        };
        let lost = self.positions.iter().filter(is_lost).count() as u64;
        let losses = &mut plan.losses;
        losses.whole_rendering((LossCode::MessageIdDropped, reasons::BLOCK_HAS_NO_IDS), lost);
        losses.whole_rendering(reasons::OLDER_TURNS_ARE_ONE_BLOCK, self.turns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::Part;

    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, BOT, PLAIN, REASON, Sample, call, result, text};

    const HISTORY: DialectProfile = DialectProfile {
        shape: Shape::History,
        cache_marks: Some((1, REASON)),
        ..PLAIN
    };

    #[test]
    fn older_turns_are_one_block_with_a_mark() {
        let sample = Sample::new()
            .post(ANN, vec![text(" a ")])
            .post(BOT, vec![text("b"), call("c")])
            .post(BOT, vec![result("c", "x")])
            .post(ANN, vec![text("d")])
            .post(BOT, vec![text("e")]);
        assert_eq!(sample.after(&[&PASS], &PLAIN).0.len(), 5);
        let (turns, losses) = sample.after(&[&PASS], &HISTORY);
        assert_eq!(
            turns,
            [
                "user: User: a\n\nAssistant: b\n\nTool: x*",
                "user: d",
                "assistant: e"
            ]
        );
        assert_eq!(
            losses,
            [
                "turn-merged all 3",
                "message-id-dropped all 3",
                "whitespace-trimmed 0 1",
                "tool-call-dropped 1 1",
                "tool-id-dropped 2 1",
            ]
        );
    }

    #[test]
    fn a_marked_turn_stays_a_block_and_uses_up_the_mark() {
        let sample = Sample::new()
            .post(ANN, vec![text("a")])
            .post(ANN, vec![text("b"), Part::CacheMark])
            .post(ANN, vec![text("c")]);
        let passes: [&Pass; 2] = [&crate::passes::marks::PASS, &PASS];
        let (turns, losses) = sample.after(&passes, &HISTORY);
        assert_eq!(turns, ["user: a", "user: b*", "user: c"]);
        assert!(losses.is_empty());
    }
}
