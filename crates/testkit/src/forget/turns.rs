//! Where turns stand, and which of them are one.

use chatmill_dialect::{Loss, LossCode};
use chatmill_model::Role;

use super::tools::{answered, result_moved};
use super::words::{is_blank, join_texts, odd_parameters};
use super::{Family, at, each};
use crate::tale::{Bit, Facts, Piece, Tale, Turn, Words};

/// Results stand behind their calls; in rounds, nobody speaks between a result and the answer.
pub(super) fn turn_moved(tale: &mut Tale, loss: &Loss, family: &Family) {
    result_moved(tale, loss, family);
    let is_spoken = |turn: &Turn| turn.at == loss.position && turn.role == Role::User;
    let Some(place) = tale.turns.iter().position(is_spoken).filter(|_| family.rounds) else {
        return;
    };
    let asks = |turn: &&Turn| turn.calls() || turn.is_answer();
    let behind = tale.turns[..place].iter().rev().take_while(asks).count();
    let turn = tale.turns.remove(place);
    tale.turns.insert(place - behind, turn);
}

/// Calls stand behind everything else that their turn says; in rounds, in front of it with their results, and in front of
/// what the assistant said before.
pub(super) fn part_moved(tale: &mut Tale, loss: &Loss, family: &Family) {
    for turn in at(tale, loss) {
        turn.pieces
            .sort_by_key(|piece| matches!(piece, Piece::Call { .. }));
    }
    let is_caller = |turn: &Turn| turn.at == loss.position && turn.calls();
    let Some(place) = tale.turns.iter().position(is_caller).filter(|_| family.rounds) else {
        return;
    };
    let answers = tale.turns[place + 1..]
        .iter()
        .take_while(|turn| turn.is_answer())
        .count();
    let mut moved: Vec<Turn> = tale.turns.drain(place..=place + answers).collect();
    let (called, said) = divided(&moved[0]);
    moved[0].pieces = called;
    if !said.is_empty() {
        let turn = Turn {
            pieces: said,
            ..moved[0].clone()
        };
        tale.turns.insert(place, turn);
    }
    let is_said = |turn: &&Turn| turn.role == Role::Assistant && !turn.calls();
    let behind = tale.turns[..place].iter().rev().take_while(is_said).count();
    tale.turns.splice(place - behind..place - behind, moved);
}

/// The calls of a turn, and everything else in it.
pub(super) fn divided(turn: &Turn) -> (Vec<Piece>, Vec<Piece>) {
    let pieces = turn.pieces.iter().cloned();
    pieces.partition(|piece| matches!(piece, Piece::Call { .. }))
}

/// A turn with words and calls becomes two; in rounds, every call has a turn of its own with its result behind it.
pub(super) fn turn_split(tale: &mut Tale, loss: &Loss, family: &Family) {
    let is_split = |turn: &Turn| turn.at == loss.position && turn.calls();
    let Some(place) = tale.turns.iter().position(is_split) else {
        return;
    };
    let turn = tale.turns.remove(place);
    let (called, said) = divided(&turn);
    if !family.rounds {
        let calls = Turn {
            pieces: called,
            facts: Facts::default(),
            ..turn.clone()
        };
        let said = Turn { pieces: said, ..turn };
        tale.turns.splice(place..place, [said, calls]);
        return;
    }
    let mut next = place;
    for piece in called {
        let Piece::Call { number, .. } = piece else {
            continue;
        };
        let pieces = vec![piece];
        tale.turns.insert(
            next,
            Turn {
                pieces,
                ..turn.clone()
            },
        );
        let answers = |turn: &Turn| turn.pieces.iter().any(|piece| answered(piece) == Some(number));
        if let Some(found) = tale.turns.iter().position(answers) {
            let answer = tale.turns.remove(found);
            tale.turns.insert(next + 1, answer);
            next += 1;
        }
        next += 1;
    }
}

/// System text stands in front of everything; several are one.
pub(super) fn system_hoisted(tale: &mut Tale, loss: &Loss, family: &Family) {
    let Some(place) = tale.turns.iter().position(|turn| turn.at == loss.position) else {
        return;
    };
    if place > 0 && tale.turns[place - 1].role == Role::System {
        let turn = tale.turns.remove(place);
        merge(&mut tale.turns[place - 1], turn, family);
    }
}

/// The turn and the one before it are one.
pub(super) fn turn_merged(tale: &mut Tale, loss: &Loss, family: &Family) {
    if family.caches {
        return;
    }
    let fits = |tale: &Tale, place: usize| {
        let (last, turn) = (&tale.turns[place - 1], &tale.turns[place]);
        turn.at == loss.position
            && !(turn.is_answer() || last.is_answer() || last.calls())
            && !(family.rounds && turn.calls())
            && last.role == turn.role
    };
    for _ in 0..loss.amount {
        let Some(place) = (1..tale.turns.len()).find(|place| fits(tale, *place)) else {
            return;
        };
        let turn = tale.turns.remove(place);
        merge(&mut tale.turns[place - 1], turn, family);
    }
}

pub(super) fn merge(turn: &mut Turn, mut next: Turn, family: &Family) {
    if family.tags {
        tag_thoughts(turn, &mut next);
    }
    turn.pieces.append(&mut next.pieces);
    if family.joins {
        join_texts(turn, "\n\n");
    }
}

/// Tags are read only in front of a turn: thoughts of a later message are text of the turn that it became a part of.
fn tag_thoughts(turn: &Turn, next: &mut Turn) {
    let is_thought = |piece: &Piece| matches!(piece, Piece::Thought(_));
    if let Some(Piece::Thought(thought)) = next.pieces.first().cloned() {
        let between = if next.pieces.len() > 1 { "\n" } else { "" };
        let thought = escaped(&thought);
        let mut words = Words::exact(format!("<think>\n{thought}\n</think>\n{between}"));
        next.pieces.remove(0);
        match next.pieces.first_mut() {
            Some(Piece::Text { words: said, .. }) => {
                words.0.append(&mut said.0);
                *said = words;
            }
            _ => next.pieces.insert(0, Piece::text(words)),
        }
    }
    // The line of the tag, and the blank line between two messages, are one line more than readers take off.
    if !turn.pieces.is_empty()
        && turn.pieces.iter().all(is_thought)
        && let Some(Piece::Text { words, .. }) = next.pieces.first_mut()
    {
        words.0.insert(0, Bit::Exact("\n".to_owned()));
    }
}

/// A thought as it stands between tags: those that it spells itself have a U+200B more behind their `<`.
fn escaped(thought: &str) -> String {
    let mut pieces = thought.split('<');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let bare = piece.trim_start_matches('\u{200b}');
        let is_tag = bare.starts_with("think>") || bare.starts_with("/think>");
        text.push_str(if is_tag { "<\u{200b}" } else { "<" });
        text.push_str(piece);
    }
    text
}

/// What stands before the newest user's turn is one text with a cache mark: a line for each turn that says something.
pub(super) fn cache_history(tale: &mut Tale, losses: &[Loss]) {
    let Some(newest) = tale.turns.iter().rposition(|turn| turn.role == Role::User) else {
        return;
    };
    let first = tale.turns.iter().position(|turn| turn.role != Role::System);
    let first = first.unwrap_or(newest);
    let is_block = |turn: &Turn| turn.role == Role::User && turn.pieces.contains(&Piece::Mark);
    let is_marked = |turn: &Turn| turn.pieces.contains(&Piece::Mark);
    let stays = |(place, turn): &(usize, &Turn)| {
        is_block(turn) || is_marked(turn) && !(first..newest).contains(place)
    };
    // Four marks, and those that are there come first.
    let mut left = 4_usize.saturating_sub(tale.turns.iter().enumerate().filter(stays).count());
    let behind = tale.turns.split_off(newest);
    let history = tale.turns.split_off(first);
    let mut blocks = 0;
    let mut ids = Vec::new();
    let mut block = Words(Vec::new());
    let mut close = |block: &mut Words, turns: &mut Vec<Turn>, left: &mut usize| {
        if !block.0.is_empty() {
            let words = std::mem::replace(block, Words(Vec::new()));
            let mut turn = Turn::made_up(Role::User, Piece::text(words));
            turn.pieces.push(Piece::Mark);
            turns.push(turn);
            *left = left.saturating_sub(1);
            blocks += 1;
        }
    };
    for turn in history {
        if is_block(&turn) || left == 0 && block.0.is_empty() {
            close(&mut block, &mut tale.turns, &mut left);
            tale.turns.push(turn);
            continue;
        }
        let mut said = Words(Vec::new());
        for piece in turn.pieces {
            if let Piece::Text { words, .. } | Piece::Answer { words, .. } = piece {
                let between = if said.0.is_empty() { "" } else { "\n" };
                said.join(between, words);
            }
        }
        trim(&mut said);
        if said.text().is_some_and(|text| text.is_empty()) {
            continue;
        }
        ids.extend(turn.facts.ids);
        let role = match turn.role {
            Role::Assistant => "Assistant: ",
            Role::Tool => "Tool: ",
            Role::User | Role::System => "User: ",
        };
        let between = if block.0.is_empty() { "" } else { "\n\n" };
        block.join(between, Words::exact(role));
        block.0.append(&mut said.0);
    }
    close(&mut block, &mut tale.turns, &mut left);
    // All or none: which ids are lost is clear, how many has to be said.
    let lost = losses
        .iter()
        .filter(|loss| loss.code == LossCode::MessageIdDropped);
    if blocks > 0
        && lost.map(|loss| loss.amount).sum::<u64>() != ids.len() as u64
        && let Some(turn) = tale.turns.get_mut(first)
    {
        turn.facts.ids = ids;
    }
    tale.turns.extend(behind);
}

/// Takes white space off both ends, as far as these are known.
fn trim(words: &mut Words) {
    while let Some(Bit::Exact(text)) = words.0.first_mut() {
        *text = text.trim_start_matches(is_blank).to_owned();
        if !text.is_empty() {
            break;
        }
        words.0.remove(0);
    }
    while let Some(Bit::Exact(text)) = words.0.last_mut() {
        *text = text.trim_end_matches(is_blank).to_owned();
        if !text.is_empty() {
            break;
        }
        words.0.pop();
    }
}

/// Something stands where a vendor wants something: a user's words before the assistant's, a result that is not empty,
/// parameters of a tool.
pub(super) fn empty_filled(tale: &mut Tale, loss: &Loss, family: &Family) {
    if loss.position.is_some() {
        for turn in at(tale, loss) {
            for piece in &mut turn.pieces {
                if let Piece::Answer { words, .. } = piece
                    && words.text().is_some_and(|text| text.trim().is_empty())
                {
                    *words = Words::any();
                }
            }
        }
        return;
    }
    let first = tale.turns.iter().position(|turn| turn.role != Role::System);
    if let Some(first) = first
        && tale.turns[first].role == Role::Assistant
        && family.user_first
    {
        tale.turns.insert(
            first,
            Turn::made_up(Role::User, Piece::text(Words::exact("[start]"))),
        );
    }
    odd_parameters(tale);
}

/// What a message says beside a result is one turn with the result, where both are a user's words and such turns are one.
pub(super) fn join_divided(tale: &mut Tale, family: &Family) {
    let mut place = 1;
    while family.merges && place < tale.turns.len() {
        let (last, turn) = (&tale.turns[place - 1], &tale.turns[place]);
        if last.at.is_some() && last.at == turn.at && last.role == Role::User && turn.role == Role::User {
            let turn = tale.turns.remove(place);
            merge(&mut tale.turns[place - 1], turn, family);
        } else {
            place += 1;
        }
    }
}

/// Puts what renderings add to a message into one text with the message's own, where a family joins texts.
pub(super) fn join_added(tale: &mut Tale, family: &Family) {
    if !family.joins {
        return;
    }
    each(tale, |turn| {
        let has_media = turn.pieces.iter().any(|piece| matches!(piece, Piece::Medium(_)));
        let is_added = |piece: &Piece| matches!(piece, Piece::Text { added: true, .. });
        if has_media || !turn.pieces.iter().any(is_added) {
            return;
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for piece in turn.pieces.drain(..) {
            match (pieces.last_mut(), piece) {
                (
                    Some(Piece::Text {
                        words: known,
                        added: is_known_added,
                    }),
                    Piece::Text { words, added },
                ) if added || *is_known_added => {
                    known.join("\n", words);
                    *is_known_added = added;
                }
                (_, piece) => pieces.push(piece),
            }
        }
        turn.pieces = pieces;
    });
}
