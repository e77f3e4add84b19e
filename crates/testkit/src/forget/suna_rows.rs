//! What losses take from a tale in Suna's rows: what a message says is a row, and each of its results is one behind it.

use chatmill_dialect::{Loss, LossCode};
use chatmill_model::Role;

use super::words::join_thoughts;
use super::{Family, Forget, at, each, leave_out, made_up_id};
use crate::tale::{Facts, Label, Piece, Tale, Turn};

/// The functions of the rows.
pub const OWN: &[(LossCode, Forget)] = &[
    (LossCode::MessageIdSynthesised, message_ids_synthesised),
    // A made id of a thread is not compared.
    (LossCode::ConversationIdSynthesised, |_, _, _| ()),
    (LossCode::NameDropped, names_dropped),
    (LossCode::ExtraDropped, extra_dropped),
    (LossCode::MediaDropped, media_dropped),
    // A result is a turn of the tool in every tale.
    (LossCode::RoleMapped, |_, _, _| ()),
    (LossCode::TurnSplit, turn_split),
    (LossCode::PartFlattened, |tale, loss, _| {
        at(tale, loss).for_each(join_thoughts);
    }),
    (LossCode::PartMoved, part_moved),
];

/// Rows know people by their ids, and by a name where a further column of one of their rows has it.
fn names_dropped(tale: &mut Tale, _: &Loss, _: &Family) {
    let is_name = |key: &String| key == "agents" || key == "users";
    let named = tale
        .turns
        .iter()
        .filter(|turn| turn.facts.extra.iter().any(is_name));
    let named: Vec<Option<String>> = named.map(|turn| turn.sender.clone()).collect();
    each(tale, |turn| {
        if !named.contains(&turn.sender) {
            turn.name = Label::of_id(turn.sender.as_deref());
        }
    });
}

/// Further fields of the content of Suna's own rows, or all of another system's; at a message, a thought in the metadata.
fn extra_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    if loss.position.is_some() {
        at(tale, loss).for_each(|turn| turn.facts.extra.retain(|key| key != "metadata.reasoning_content"));
        return;
    }
    let is_content = |key: &String| {
        key.strip_prefix("content")
            .is_some_and(|path| path.is_empty() || path.starts_with(['.', '[']))
    };
    let keys = tale.turns.iter().flat_map(|turn| &turn.facts.extra);
    let is_own = keys.filter(|key| is_content(key)).count() as u64 == loss.amount;
    each(tale, |turn| {
        turn.facts.extra.retain(|key| is_own && !is_content(key));
    });
}

/// A row of a result is text.
fn media_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    let has_answer = at(tale, loss).any(|turn| turn.is_answer());
    for turn in at(tale, loss) {
        turn.pieces.retain(|piece| !matches!(piece, Piece::Medium(_)));
    }
    if has_answer {
        leave_out(tale, |turn| {
            turn.at == loss.position && turn.role == Role::Tool && turn.pieces.is_empty()
        });
    }
}

/// Each result is a row of its own, behind what the message says itself; every row has the time.
fn turn_split(tale: &mut Tale, loss: &Loss, _: &Family) {
    let first = tale.turns.iter().position(|turn| turn.at == loss.position);
    let (mut rows, rest): (Vec<Turn>, Vec<Turn>) =
        tale.turns.drain(..).partition(|turn| turn.at == loss.position);
    tale.turns = rest;
    rows.sort_by_key(Turn::is_answer);
    let facts = rows
        .iter()
        .map(|row| row.facts.clone())
        .find(|facts| *facts != Facts::default());
    let facts = facts.unwrap_or_default();
    for (number, row) in rows.iter_mut().enumerate() {
        row.facts.times.clone_from(&facts.times);
        if number == 0 {
            row.facts = facts.clone();
        } else if let Some(id) = facts.ids.first() {
            row.facts.ids = vec![format!("{id}/{number}")];
        }
    }
    let first = first.unwrap_or(0);
    tale.turns.splice(first..first, rows);
}

/// Reasoning stands in front, and calls behind.
fn part_moved(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        turn.pieces.sort_by_key(|piece| match piece {
            Piece::Thought(_) => 0,
            Piece::Call { .. } => 2,
            _ => 1,
        });
    }
}

/// Every row has an id: that of its message, else the message's place; a further row counts.
fn message_ids_synthesised(tale: &mut Tale, loss: &Loss, _: &Family) {
    let id = made_up_id(tale, loss.position.unwrap_or_default());
    let has_one = at(tale, loss).any(|turn| !turn.facts.ids.is_empty());
    if let Some(turn) = at(tale, loss).next().filter(|_| !has_one) {
        turn.facts.ids = vec![id];
    }
}
