//! What losses take from a tale in gryag's prompts: a line in front of a turn holds ids, names and one reply; system text is
//! the first turn of a user, and what tools ask and say are objects.

use chatmill_dialect::{Loss, LossCode};
use chatmill_model::{MediaSource, Role};
use serde_json::{Value, json};

use super::tools::{each_call, missing_result_synthesised, orphan_result_inlined, role_mapped};
use super::words::{join_texts, media_placeholder, told_by_type, truncated};
use super::{Family, Forget, at, each};
use crate::tale::{Facts, Label, Piece, Tale, Turn, Words, compact};

/// The functions of the prompts.
pub const OWN: &[(LossCode, Forget)] = &[
    (LossCode::MessageIdDropped, ids_without_line),
    (LossCode::NameCleaned, name_cleaned),
    (LossCode::NameDropped, name_dropped),
    // A name that is cut is cut with its escapes, which are not known here; its beginning is left.
    (LossCode::Truncated, |tale, loss, family| {
        truncated(tale, loss, family);
        at(tale, loss).for_each(|turn| turn.name = Label::Any);
    }),
    (LossCode::MediaPlaceholder, |tale, loss, family| {
        media_last(tale, loss);
        media_placeholder(tale, loss, family);
    }),
    (LossCode::PartMoved, |tale, loss, _| media_last(tale, loss)),
    (LossCode::MediaDescriptionDropped, media_description_dropped),
    // What the roster tells the perspective to do, no tale tells.
    (LossCode::SystemAdded, |tale, _, _| {
        let turn = Turn::made_up(Role::User, Piece::text(Words::any()));
        tale.has_front = true;
        tale.turns.insert(0, turn);
    }),
    (LossCode::SystemInlined, system_inlined),
    (LossCode::RoleMapped, |tale, loss, family| {
        unlined(tale, loss, family, role_mapped);
    }),
    (LossCode::OrphanResultInlined, |tale, loss, family| {
        unlined(tale, loss, family, orphan_result_inlined);
    }),
    (LossCode::ArgsNotObject, args_not_object),
    (LossCode::ArgsMalformed, args_malformed),
    (LossCode::MissingResultSynthesised, missing_result),
    (LossCode::ResultWrapped, result_wrapped),
];

/// The line of a message stands in front of its words, also where results stand in front of these.
pub(super) fn facts_with_words(tale: &mut Tale) {
    for place in 0..tale.turns.len() {
        let position = tale.turns[place].at;
        let rest = tale.turns[place..].iter();
        let words = rest
            .take_while(|turn| turn.at == position)
            .position(|turn| !turn.is_answer());
        if let Some(words) = words.filter(|words| *words > 0) {
            tale.turns[place + words].facts = std::mem::take(&mut tale.turns[place].facts);
        }
    }
}

/// Turns of tools and system text have no line.
fn ids_without_line(tale: &mut Tale, _: &Loss, _: &Family) {
    each(tale, |turn| {
        let is_said = |piece: &Piece| matches!(piece, Piece::Text { .. } | Piece::Medium(_));
        let only_calls = turn.own && turn.calls() && !turn.pieces.iter().any(is_said);
        let has_line = turn.role != Role::System && !turn.is_answer() && !only_calls;
        if !has_line {
            turn.facts.ids.clear();
        }
    });
}

/// Names that a message gives beside the roster's, and the id of a bot without a name.
fn name_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    if loss.position.is_none() {
        each(tale, |turn| turn.facts.other_name = None);
    } else {
        at(tale, loss).for_each(|turn| turn.name = Label::Exact(None));
    }
}

/// A name has no square brackets, and a blank for a line break; quotation marks read back as they were.
fn name_cleaned(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        if let Label::Exact(Some(name)) = &turn.name {
            let name = name.replace('\n', " ").replace(['[', ']'], "");
            turn.name = Label::of_id(Some(name.trim()).filter(|name| !name.is_empty()));
        }
    }
}

/// A medium has no name, and one with an address no type: it is a file, or a film where the address leads to films.
fn media_description_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    for piece in at(tale, loss).flat_map(|turn| &mut turn.pieces) {
        if let Piece::Medium(media) = piece {
            media.name = None;
            if matches!(media.source, MediaSource::Url(_)) {
                media.media_type = None;
            }
            told_by_type(media);
        }
    }
}

/// Media stand behind the text, also those that are only named.
fn media_last(tale: &mut Tale, loss: &Loss) {
    for turn in at(tale, loss).filter(|turn| !turn.is_settled) {
        turn.is_settled = true;
        turn.pieces.sort_by_key(|piece| matches!(piece, Piece::Medium(_)));
    }
}

/// All system text is one turn in front of everything.
fn system_inlined(tale: &mut Tale, loss: &Loss, _: &Family) {
    let Some(place) = tale.turns.iter().position(|turn| turn.at == loss.position) else {
        return;
    };
    let mut turn = tale.turns.remove(place);
    join_texts(&mut turn, "\n\n");
    turn.role = Role::User;
    turn.name = Label::Exact(None);
    turn.facts = Facts::default();
    let has_front = std::mem::replace(&mut tale.has_front, true);
    match tale.turns.first_mut().filter(|_| has_front) {
        Some(first) => {
            first.pieces.append(&mut turn.pieces);
            join_texts(first, "\n\n");
        }
        None => tale.turns.insert(0, turn),
    }
}

/// A result that became a user's text has no line that says whose call it answers.
fn unlined(tale: &mut Tale, loss: &Loss, family: &Family, forget: Forget) {
    let is_result: Vec<bool> = at(tale, loss).map(|turn| turn.is_answer()).collect();
    forget(tale, loss, family);
    for (turn, was_result) in at(tale, loss).zip(is_result) {
        if was_result && !turn.is_answer() {
            turn.name = Label::Exact(None);
        }
    }
}

fn args_not_object(tale: &mut Tale, loss: &Loss, family: &Family) {
    each_call(tale, loss, |_, asked| {
        if asked.kind == "other" {
            asked.form = family.arguments;
            asked.kind = "object";
            asked.text = format!("{{\"data\":{}}}", compact(&asked.text));
        }
    });
}

fn args_malformed(tale: &mut Tale, loss: &Loss, family: &Family) {
    each_call(tale, loss, |_, asked| {
        if asked.kind == "object" && serde_json::from_str::<Value>(&asked.text).is_ok() {
            return;
        }
        asked.form = family.arguments;
        asked.kind = "object";
        asked.text = if asked.text.trim().is_empty() {
            "{}".to_owned()
        } else {
            json!({ "text": asked.text }).to_string()
        };
    });
}

/// That there is no result is a failure.
fn missing_result(tale: &mut Tale, loss: &Loss, family: &Family) {
    missing_result_synthesised(tale, loss, family);
    for piece in tale
        .turns
        .iter_mut()
        .filter(|turn| turn.at.is_none())
        .flat_map(|turn| &mut turn.pieces)
    {
        if let Piece::Answer { words, .. } = piece
            && let Some(text) = words.text().filter(|text| !text.starts_with('{'))
        {
            *words = Words::exact(json!({ "error": text }).to_string());
        }
    }
}

/// What a tool said is an object: under a key where it is none.
fn result_wrapped(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Answer { words, is_error, .. } = piece
                && let Some(text) = words.text()
            {
                let known: Option<Value> = serde_json::from_str(&text).ok();
                *words = Words::exact(match known {
                    Some(Value::Object(_)) => compact(&text),
                    _ if *is_error => json!({ "error": text }).to_string(),
                    Some(_) => format!("{{\"data\":{}}}", compact(&text)),
                    None => json!({ "text": text }).to_string(),
                });
            }
        }
    }
}
