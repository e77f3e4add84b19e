//! The cached block: the history as one text with a cache mark, the newest user turn and what follows as they are.

use std::collections::BTreeSet;

use chatmill_model::{Component, Level, Role, Rope};

use super::{DATED, LIST, LLM, SPECIFICATION, STRINGS};
use crate::Dialect;
use crate::about::About;
use crate::definitions;
use crate::loss::{LossCode, Losses};
use crate::rendering::Rendering;
use crate::script::say::joined;
use crate::script::{Held, Manner, Script, SystemPlace, Turn};
use crate::text::paragraphs_like;
use crate::view::View;
use crate::words::{Words, trim_end, trim_start};

/// The dialect of lists with a cached block.
pub(crate) struct SunaCached;

static ABOUT: About = About {
    title: "Suna messages with a cached block",
    specification: SPECIFICATION,
    dated: DATED,
    carries: "text, results of tools, calls and ids of the newest turn, quoted replies; names in front of the text",
    loses: "calls and ids of older turns, times, notices, reasoning, media, facts about people and rooms",
    ..LLM
};

static MANNER: Manner = Manner {
    system: SystemPlace::Start,
    ..STRINGS
};

impl Dialect for SunaCached {
    fn id(&self) -> &'static str {
        "suna-cached"
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn render(&self, view: &View<'_>, emit: &mut dyn FnMut(Rendering<'_>)) {
        let mut script = Script::new(view, &MANNER);
        let turns = std::mem::take(&mut script.turns);
        let newest = turns.iter().rposition(|turn| turn.role == Role::User);
        let mut rope = Rope::for_messages(turns.len());
        let mut separator = "[";
        let mut block = Block::default();
        for (index, turn) in turns.into_iter().enumerate() {
            if newest.is_some_and(|newest| index < newest) && turn.role != Role::System {
                history(turn, &mut block, &mut script.losses);
                continue;
            }
            if turn.role != Role::System && !block.words.is_empty() {
                rope.framing(separator);
                separator = ",";
                write(&mut rope, std::mem::take(&mut block.words));
            }
            rope.framing(separator);
            separator = ",";
            LIST.turn(&mut rope, view, turn, &mut script);
        }
        rope.framing(if separator == "," { "]" } else { "[]" });
        block.declare(view, &mut script);
        definitions::lose(&view.conversation().tools, &mut script.losses);
        emit(script.finish(rope));
    }
}

/// The older turns, and what the block says of them.
#[derive(Default)]
struct Block<'a> {
    words: Vec<Words<'a>>,
    /// Messages that are in it.
    positions: BTreeSet<u32>,
    /// Their turns.
    turns: u64,
}

impl Block<'_> {
    /// Declares what being in the block costs every message.
    fn declare(&self, view: &View<'_>, script: &mut Script<'_>) {
        let has_id = |position: &&u32| {
            view.message(**position)
                .is_some_and(|message| message.id.is_some())
        };
        let lost = self.positions.difference(&script.identified).filter(has_id);
        script.losses.everywhere(
            LossCode::MessageIdDropped,
            lost.count() as u64,
            "the cached block has no ids",
        );
        script.losses.everywhere(
            LossCode::TurnMerged,
            self.turns,
            "older turns are one cached block",
        );
    }
}

fn write<'a>(rope: &mut Rope<'a>, block: Vec<Words<'a>>) {
    rope.framing("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"");
    for words in block {
        words.write(rope, Level::JsonString);
    }
    rope.framing("\",\"cache_control\":{\"type\":\"ephemeral\"}}]}");
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
        match item.held {
            Held::Call(_) => declare(LossCode::ToolCallDropped, "the cached block has no calls"),
            Held::Result(result) => {
                declare(LossCode::ToolIdDropped, "the cached block has no ids");
                words.push(Words::new(result.content(), Component::Tools));
            }
            Held::Text(_) | Held::Medium(_) => said.push(item),
        }
    }
    words.extend(joined(said));
    let trimmed = [trim_start(&mut words), trim_end(&mut words)];
    if trimmed.contains(&true) {
        declare(
            LossCode::WhitespaceTrimmed,
            "texts of the cached block have no white space at their ends",
        );
    }
    if words.iter().all(|words| words.text.is_empty()) {
        declare(
            LossCode::EmptyDropped,
            "a turn without text has no line in the cached block",
        );
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
            "a text spells the beginning of a turn, and the cached block has no escape",
        );
    }
    if !block.words.is_empty() {
        block.words.push(Words::new("\n\n", Component::Framing));
    }
    let role = match turn.role {
        Role::Assistant => "Assistant: ",
        Role::Tool => "Tool: ",
        Role::User | Role::System => "User: ",
    };
    block.words.push(Words::new(role, Component::Framing));
    block.words.append(&mut words);
}
