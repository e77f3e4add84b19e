//! The cached block: the history as one text with a cache mark, the newest user turn and what follows as they are.
//!
//! A message that is a cached block already stays what it is; what stands between two of them is a block of its own. A list
//! has four marks at most: what follows the last of them stands as it is.

use std::collections::BTreeSet;

use chatmill_model::{Component, Level, Role, Sink};

use super::{DATED, LIST, LLM, SPECIFICATION, STRINGS, as_one_agent};
use crate::about::DialectAbout;
use crate::definitions;
use crate::list::{ContentAs, List};
use crate::loss::{LossCode, Losses, reasons};
use crate::rendering::Rendering;
use crate::text::paragraphs_like;
use crate::text_run::{TextRun, trim_end, trim_start};
use crate::turn_plan::say::joined;
use crate::turn_plan::{BlockContent, DialectProfile, SystemPlace, Texts, Turn, TurnPlan};
use crate::view::View;
use crate::{Dialect, Emit};

/// The dialect of lists with a cached block.
pub(crate) struct SunaCached;

static ABOUT: DialectAbout = DialectAbout {
    title: "Suna messages with a cached block",
    specification: SPECIFICATION,
    dated: DATED,
    carries: "text, results of tools, calls and ids of the newest turn, cached blocks as they come, quoted replies",
    loses: "calls and ids of older turns, times, notices, reasoning, media, names, facts about people and rooms",
    profiles: &[&SunaCached],
    ..LLM
};

static MANNER: DialectProfile = DialectProfile {
    system: SystemPlace::Start,
    texts: Texts::JoinedWithoutMarks,
    cache_marks: Some((MAX_CACHE_MARKS, reasons::FOUR_CACHE_MARKS)),
    ..STRINGS
};

/// Cache marks that a list holds at most.
const MAX_CACHE_MARKS: usize = 4;

impl Dialect for SunaCached {
    fn id(&self) -> &'static str {
        "suna-cached"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let rendering = as_one_agent(view, sink, &|view, sink| render(view, sink));
        emit(sink, rendering);
    }
}

fn render<'a>(view: &View<'a>, sink: &mut Sink<'a>) -> Rendering {
    let mut script = TurnPlan::new(view, &MANNER);
    let turns = std::mem::take(&mut script.turns);
    let newest = turns.iter().rposition(|turn| turn.role == Role::User);
    // Marks of older turns that are not blocks themselves go with their turns.
    let stays = |(index, turn): &(usize, &Turn<'_>)| {
        let is_older = newest.is_some_and(|newest| *index < newest);
        is_marked(turn) && (!is_older || matches!(turn.role, Role::User | Role::System))
    };
    let marked = turns.iter().enumerate().filter(stays).count();
    let mut out = Out {
        sink: &mut *sink,
        separator: "[",
        block: Block::default(),
        left: MAX_CACHE_MARKS.saturating_sub(marked),
    };
    for (index, mut turn) in turns.into_iter().enumerate() {
        let is_history = newest.is_some_and(|newest| index < newest) && turn.role != Role::System;
        // What comes in as a block goes out as one; after the last that may be marked, turns stand as they are.
        let is_block = turn.role == Role::User && is_marked(&turn);
        if is_history && !is_block && (out.left > 0 || !out.block.words.is_empty()) {
            history(turn, &mut out.block, &mut script.losses);
            continue;
        }
        if is_history && !is_block {
            cap(&mut turn, &mut script.losses);
        }
        if turn.role != Role::System {
            out.close_block();
        }
        out.separate();
        LIST_WITH_BLOCKS.turn(out.sink, view, turn, &mut script);
    }
    out.sink.framing(if out.separator == "," { "]" } else { "[]" });
    out.block.declare(view, &mut script);
    definitions::lose(&view.conversation().tools, &mut script.losses);
    script.finish()
}

const LIST_WITH_BLOCKS: List = List {
    content: ContentAs::StringUnlessMarked,
    ..LIST
};

/// The list so far.
struct Out<'s, 'a> {
    sink: &'s mut Sink<'a>,
    separator: &'static str,
    /// The older turns since the last block.
    block: Block<'a>,
    /// Blocks that may still be made.
    left: usize,
}

impl Out<'_, '_> {
    fn separate(&mut self) {
        self.sink.framing(self.separator);
        self.separator = ",";
    }

    /// Writes the older turns as one cached block.
    fn close_block(&mut self) {
        let words = std::mem::take(&mut self.block.words);
        if !words.is_empty() {
            self.separate();
            write(self.sink, words);
            self.left = self.left.saturating_sub(1);
        }
    }
}

/// Whether a cache mark stands in a turn.
fn is_marked(turn: &Turn<'_>) -> bool {
    turn.blocks.iter().any(|block| block.is_cached)
}

/// Takes the marks from an older turn that is not a block: all that there may be are others'.
fn cap(turn: &mut Turn<'_>, losses: &mut Losses) {
    let marks = turn
        .blocks
        .iter_mut()
        .map(|block| u64::from(std::mem::take(&mut block.is_cached)));
    let marks: u64 = marks.sum();
    if let Some(position) = turn.said.first().and_then(|(position, _)| *position) {
        losses.several(
            LossCode::CacheMarkCapped,
            position,
            marks,
            reasons::REQUEST_HAS_FOUR_MARKS,
        );
    }
}

/// The older turns, and what the block says of them.
#[derive(Default)]
struct Block<'a> {
    words: Vec<TextRun<'a>>,
    /// Messages that are in it.
    positions: BTreeSet<u32>,
    /// Their turns.
    turns: u64,
}

impl Block<'_> {
    /// Declares what being in the block costs every message.
    fn declare(&self, view: &View<'_>, script: &mut TurnPlan<'_>) {
        let has_id = |position: &&u32| {
            view.message(**position)
                .is_some_and(|message| message.id.is_some())
        };
        let lost = self.positions.difference(&script.identified).filter(has_id);
        script.losses.whole_rendering(
            LossCode::MessageIdDropped,
            lost.count() as u64,
            reasons::BLOCK_HAS_NO_IDS,
        );
        script.losses.whole_rendering(
            LossCode::TurnMerged,
            self.turns,
            reasons::OLDER_TURNS_ARE_ONE_BLOCK,
        );
    }
}

fn write<'a>(sink: &mut Sink<'a>, block: Vec<TextRun<'a>>) {
    sink.framing("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"");
    for words in block {
        words.write(sink, Level::JsonString);
    }
    sink.framing("\",\"cache_control\":{\"type\":\"ephemeral\"}}]}");
}

/// Adds a turn to the block: `ROLE: TEXT`, a blank line apart; what has no text has no line.
fn history<'a>(turn: Turn<'a>, block: &mut Block<'a>, losses: &mut Losses) {
    let position = turn.said.first().and_then(|(position, _)| *position);
    let mut declare = |code, reason| {
        if let Some(position) = position {
            losses.at(code, position, reason);
        }
    };
    let mut said = Vec::new();
    let mut words = Vec::new();
    for item in turn.blocks {
        if item.is_cached {
            declare(LossCode::CacheMarkDropped, reasons::BLOCK_HAS_ONE_MARK);
        }
        match item.held {
            BlockContent::Call(_) => declare(LossCode::ToolCallDropped, reasons::BLOCK_HAS_NO_CALLS),
            BlockContent::Result(result) => {
                declare(LossCode::ToolIdDropped, reasons::BLOCK_HAS_NO_IDS);
                words.push(TextRun::new(result.content(), Component::Tools));
            }
            BlockContent::Text(_) | BlockContent::Media(_) => said.push(item),
        }
    }
    words.extend(joined(said));
    let trimmed = [trim_start(&mut words), trim_end(&mut words)];
    if trimmed.contains(&true) {
        declare(LossCode::WhitespaceTrimmed, reasons::BLOCK_TRIMS_TEXTS);
    }
    if words.iter().all(|words| words.text.is_empty()) {
        declare(LossCode::EmptyDropped, reasons::NO_TEXT_NO_LINE);
        return;
    }
    if let Some(position) = position {
        block.positions.insert(position);
        block.turns += 1;
        let spelled = words
            .iter()
            .map(|words| paragraphs_like(&words.text, &["User: ", "Assistant: ", "Tool: "]));
        losses.several(
            LossCode::SpecialTokenInText,
            position,
            spelled.sum(),
            reasons::BLOCK_HAS_NO_ESCAPE,
        );
    }
    if !block.words.is_empty() {
        block.words.push(TextRun::new("\n\n", Component::Framing));
    }
    let role = match turn.role {
        Role::Assistant => "Assistant: ",
        Role::Tool => "Tool: ",
        Role::User | Role::System => "User: ",
    };
    block.words.push(TextRun::new(role, Component::Framing));
    block.words.append(&mut words);
}
