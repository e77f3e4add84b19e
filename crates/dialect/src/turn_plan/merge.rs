//! The last touches to turns: runs of one speaker become one, a user comes first, marks are counted, ends are trimmed.

use chatmill_model::{Component, Role};

use super::{Block, BlockContent, DialectProfile, Results, Turn};
use crate::loss::{LossCode, Losses, reasons};
use crate::text_run::{TextRun, trim_end};
use crate::violation::Violation;

/// What stands in a first user turn that the source has not.
pub(crate) const START: &str = "[start]";

/// Brings turns into the order and number that a manner wants; `system` is the text that stands outside them.
pub(super) fn tidy<'a>(
    system: &mut [Block<'a>],
    turns: Vec<Turn<'a>>,
    manner: &DialectProfile,
    losses: &mut Losses,
) -> Vec<Turn<'a>> {
    let mut turns = merge(turns, manner, losses);
    user_first(&mut turns, manner, losses);
    cap_marks(system, &mut turns, manner, losses);
    trim_last(&mut turns, manner, losses);
    turns
}

fn merge<'a>(turns: Vec<Turn<'a>>, manner: &DialectProfile, losses: &mut Losses) -> Vec<Turn<'a>> {
    let Some(rule) = manner.merging else {
        return turns;
    };
    let mut merged: Vec<Turn<'a>> = Vec::with_capacity(turns.len());
    // Whether the last of them calls: to ask it of a turn that grows would take as long as it is, for each that joins it.
    let mut has_calls = false;
    for mut turn in turns {
        let calls = turn.calls();
        match merged.last_mut() {
            Some(last) if is_one(last, has_calls, &turn, manner) => {
                has_calls |= calls;
                let before = last.said.last().and_then(|(position, _)| *position);
                if let Some((Some(position), _)) = turn.said.first()
                    && before != Some(*position)
                {
                    let reason = reasons::TURNS_ARE_ONE.by(rule);
                    losses.at(LossCode::TurnMerged, *position, reason);
                }
                if turn.role == Role::User {
                    last.role = Role::User;
                }
                last.blocks.append(&mut turn.blocks);
                last.thoughts.append(&mut turn.thoughts);
                last.said.append(&mut turn.said);
            }
            _ => {
                has_calls = calls;
                merged.push(turn);
            }
        }
    }
    merged
}

/// A turn in a place that a manner forbids, which only rejected calls and results leave: two of one role in a row, calls
/// after the assistant's own turn, a result before everything.
pub(super) fn misplaced(turns: &[Turn<'_>], manner: &DialectProfile) -> Option<Violation> {
    let is_assistant = |turn: &Turn<'_>| turn.role == Role::Assistant;
    let is_alike = |(one, next): &(&Turn<'_>, &Turn<'_>)| is_assistant(one) == is_assistant(next);
    let mut pairs = turns.iter().zip(turns.iter().skip(1));
    let (rule, turn, fault) = match manner.results {
        Results::UserTurn => {
            let (_, turn) = pairs.find(is_alike)?;
            (manner.merging, turn, "two turns in a row are of one role")
        }
        Results::OneTurn => {
            let (_, turn) = pairs.find(|pair| is_alike(pair) && pair.1.calls())?;
            (manner.merging, turn, "calls stand behind the assistant's turn")
        }
        Results::OwnTurns => {
            let turn = turns.iter().find(|turn| turn.role != Role::System)?;
            let is_result = turn.role == Role::Tool;
            (
                manner.user_first.filter(|_| is_result),
                turn,
                "a result stands first",
            )
        }
    };
    let position = turn.said.first().and_then(|(position, _)| *position);
    Some(Violation::of(rule?, position, fault))
}

fn is_one(last: &Turn<'_>, has_calls: bool, next: &Turn<'_>, manner: &DialectProfile) -> bool {
    match (last.role, next.role) {
        (Role::User, Role::User) => true,
        (Role::Assistant, Role::Assistant) => !has_calls,
        (Role::Tool, Role::Tool) => manner.results != Results::OwnTurns,
        (Role::Tool, Role::User) => manner.results == Results::UserTurn,
        _ => false,
    }
}

fn user_first(turns: &mut Vec<Turn<'_>>, manner: &DialectProfile, losses: &mut Losses) {
    let Some(rule) = manner.user_first else {
        return;
    };
    let first = turns.iter().position(|turn| turn.role != Role::System);
    if let Some(first) = first
        && turns.get(first).is_some_and(|turn| turn.role == Role::Assistant)
    {
        let reason = reasons::USER_TURN_COMES_FIRST.by(rule);
        losses.whole_rendering(LossCode::EmptyFilled, 1, reason);
        let block = Block {
            held: BlockContent::Text(vec![TextRun::new(START, Component::Framing)]),
            opens: true,
            is_cached: false,
            position: None,
        };
        turns.insert(first, Turn::new(Role::User, None, vec![block]));
    }
}

/// Keeps the newest marks: a mark covers everything before it.
fn cap_marks<'a>(
    system: &mut [Block<'a>],
    turns: &mut [Turn<'a>],
    manner: &DialectProfile,
    losses: &mut Losses,
) {
    let Some((most, rule)) = manner.cache_marks else {
        return;
    };
    let mut left = most;
    let blocks = turns
        .iter_mut()
        .rev()
        .flat_map(|turn| turn.blocks.iter_mut().rev())
        .chain(system.iter_mut().rev());
    for block in blocks.filter(|block| block.is_cached) {
        if left > 0 {
            left -= 1;
        } else {
            block.is_cached = false;
            if let Some(position) = block.position {
                losses.at(LossCode::CacheMarkCapped, position, rule);
            }
        }
    }
}

fn trim_last(turns: &mut [Turn<'_>], manner: &DialectProfile, losses: &mut Losses) {
    let (Some(rule), Some(last)) = (manner.trims_end, turns.last_mut()) else {
        return;
    };
    if last.role == Role::Assistant
        && let Some(block) = last.blocks.last_mut()
        && let BlockContent::Text(words) = &mut block.held
        && trim_end(words)
        && let Some(position) = block.position
    {
        let reason = reasons::END_IS_TRIMMED.by(rule);
        losses.at(LossCode::WhitespaceTrimmed, position, reason);
    }
}
