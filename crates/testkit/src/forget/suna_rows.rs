//! What losses take from a tale in Suna's rows: what a message says is a row, and each of its results is one behind it.

use chatmill_dialect::{Loss, LossCode};

use super::{Family, Forget, at, each};
use crate::tale::{Label, Tale, Turn};

/// The functions of the rows.
pub const OWN: &[(LossCode, Forget)] = &[
    (LossCode::MessageIdSynthesised, message_ids_synthesised),
    // Rows know people by their ids.
    (LossCode::NameDropped, |tale, _, _| {
        each(tale, |turn| turn.name = Label::of_id(turn.sender.as_deref()));
    }),
    // A result is a turn of the tool in every tale.
    (LossCode::RoleMapped, |_, _, _| ()),
    (LossCode::TurnSplit, turn_split),
];

/// Each result is a row of its own, behind what the message says itself; every row has the time.
fn turn_split(tale: &mut Tale, loss: &Loss, _: &Family) {
    let first = tale.turns.iter().position(|turn| turn.at == loss.position);
    let (mut rows, rest): (Vec<Turn>, Vec<Turn>) = tale.turns.drain(..).partition(|turn| turn.at == loss.position);
    tale.turns = rest;
    rows.sort_by_key(Turn::is_answer);
    let facts = rows.iter().map(|row| row.facts.clone()).find(|facts| *facts != Default::default());
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

/// Every row has an id: that of its message, else the message's place; a further row counts.
fn message_ids_synthesised(tale: &mut Tale, loss: &Loss, _: &Family) {
    let position = loss.position.unwrap_or_default();
    for turn in at(tale, loss) {
        if turn.facts.ids.is_empty() {
            turn.facts.ids = vec![format!("m{position}")];
        }
    }
}
