//! What losses take from a tale in Group Chat Format: ids, people and times stay, and a message is one message, whatever it
//! holds.

use chatmill_dialect::{Loss, LossCode};
use chatmill_model::{MediaSource, Role};

use super::words::join_texts;
use super::{Family, Forget, at, each, message_id_synthesised};
use crate::tale::{Facts, Label, Piece, Tale, Turn, Words};

/// The functions of the format.
pub const OWN: &[(LossCode, Forget)] = &[
    (LossCode::MentionDropped, |tale, loss, _| {
        at(tale, loss).for_each(|turn| turn.facts.mentions.clear());
    }),
    (LossCode::ExtraDropped, extra_dropped),
    (LossCode::MessageIdSynthesised, message_id_synthesised),
    (LossCode::TitleSynthesised, |tale, _, _| {
        tale.metadata.push("title".to_owned());
    }),
    // Of those who are put into the roster nothing more is told than before.
    (LossCode::ParticipantSynthesised, |_, _, _| ()),
    (LossCode::SenderMissing, sender_missing),
    (LossCode::NameDropped, name_dropped),
    // A role that is neither a user's nor an assistant's is told by no tale.
    (LossCode::ParticipantDropped, |_, _, _| ()),
    (LossCode::ToolIdRewritten, tool_id_rewritten),
    (LossCode::MediaDropped, media_dropped),
    (LossCode::ToolResultDropped, further_results_dropped),
    (LossCode::RoleMapped, |tale, loss, _| {
        at(tale, loss).for_each(|turn| {
            turn.role = if turn.is_notice { Role::User } else { Role::Tool };
        });
    }),
    (LossCode::PartMoved, part_moved),
    (LossCode::PartFlattened, part_flattened),
];

/// Who has no name but a second one is known by his id.
fn name_dropped(tale: &mut Tale, _: &Loss, _: &Family) {
    each(tale, |turn| {
        if turn.sender.is_some() && !turn.account.is_display {
            turn.name = Label::of_id(turn.sender.as_deref());
        }
    });
}

/// Fields whose names mean something else here. The word that another system has for what a message is, is lost by the same
/// code, and no tale tells it.
fn extra_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    let has = |wanted: fn(&Piece) -> bool| {
        let mut pieces = tale
            .turns
            .iter()
            .filter(|turn| turn.at == loss.position)
            .flat_map(|turn| &turn.pieces);
        pieces.any(wanted)
    };
    let has_medium = has(|piece| matches!(piece, Piece::Medium(_)));
    for turn in at(tale, loss) {
        let role = turn.role;
        turn.facts.extra.retain(|key| match key.as_str() {
            "tool_calls" => role != Role::Assistant,
            "tool_call_id" | "name" => role != Role::Tool,
            "file_url" | "image_url" | "audio_url" | "video_url" | "link" => !has_medium,
            key => !key.starts_with('/'),
        });
    }
}

/// What nobody sent, `system` did.
fn sender_missing(tale: &mut Tale, loss: &Loss, _: &Family) {
    at(tale, loss).for_each(|turn| turn.sender = Some("system".to_owned()));
}

/// Ids of calls differ, and those by which a result names none.
fn tool_id_rewritten(tale: &mut Tale, loss: &Loss, _: &Family) {
    for piece in at(tale, loss).flat_map(|turn| &mut turn.pieces) {
        match piece {
            Piece::Call { id, .. } | Piece::Answer { id, call: None, .. } => *id = Label::Any,
            _ => {}
        }
    }
}

/// A message has one medium, and that without its bytes; an event has none, nor has system text.
fn media_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    let mut has_one = false;
    for turn in at(tale, loss) {
        has_one |= turn.is_notice || turn.role == Role::System;
        turn.pieces.retain_mut(|piece| {
            let Piece::Medium(media) = piece else { return true };
            if matches!(media.source, MediaSource::Inline(_)) {
                media.source = MediaSource::Upload;
            }
            !std::mem::replace(&mut has_one, true)
        });
    }
}

/// A message has one result, and an event none.
fn further_results_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    let mut has_one = false;
    tale.turns.retain(|turn| {
        let is_answer = turn.at == loss.position && turn.is_answer();
        !(is_answer && (turn.is_notice || std::mem::replace(&mut has_one, true)))
    });
}

/// Text stands before media, and media before calls.
fn part_moved(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        turn.pieces.sort_by_key(|piece| match piece {
            Piece::Medium(_) => 1,
            Piece::Call { .. } => 2,
            _ => 0,
        });
    }
}

/// The texts of a message are one text; a result beside them takes it in.
fn part_flattened(tale: &mut Tale, loss: &Loss, _: &Family) {
    let answers = at(tale, loss).filter(|turn| turn.is_answer()).count();
    if answers == 0 {
        at(tale, loss).for_each(|turn| join_texts(turn, "\n"));
        return;
    }
    let (turns, rest): (Vec<Turn>, Vec<Turn>) =
        tale.turns.drain(..).partition(|turn| turn.at == loss.position);
    let first = rest
        .iter()
        .position(|turn| turn.at > loss.position)
        .unwrap_or(rest.len());
    tale.turns = rest;
    let mut said: Option<Words> = None;
    let mut whole: Option<Turn> = None;
    let mut facts = Facts::default();
    for turn in turns {
        if turn.facts != Facts::default() {
            facts = turn.facts.clone();
        }
        for piece in &turn.pieces {
            let (Piece::Text { words, .. } | Piece::Answer { words, .. }) = piece else {
                continue;
            };
            match &mut said {
                Some(said) => said.join("\n", words.clone()),
                None => said = Some(words.clone()),
            }
        }
        let is_answer = turn.is_answer();
        match &mut whole {
            Some(whole) if is_answer => {
                whole.role = Role::Tool;
                whole.pieces = turn.pieces;
            }
            Some(_) => {}
            None => whole = Some(turn),
        }
    }
    if let (Some(mut whole), Some(said)) = (whole, said) {
        whole.facts = facts;
        if let Some(Piece::Answer { words, .. }) = whole.pieces.first_mut() {
            *words = said;
        }
        tale.turns.insert(first, whole);
    }
}
