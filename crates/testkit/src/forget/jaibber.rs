//! What losses take from a tale in Jaibber's payloads: a message is one text with files behind it, said by an account under a
//! name, and nobody has tools.

use chatmill_dialect::{Loss, LossCode};
use chatmill_model::{Media, MediaKind, MediaSource, Role};

use super::words::join_texts;
use super::{Family, Forget, at, each, leave_out, message_id_synthesised};
use crate::tale::{Label, Piece, Tale, Turn};

/// The functions of the payloads.
pub const OWN: &[(LossCode, Forget)] = &[
    (LossCode::MessageIdSynthesised, message_id_synthesised),
    // A made id of a project is not compared.
    (LossCode::ConversationIdSynthesised, |_, _, _| ()),
    (LossCode::SenderMissing, sender_missing),
    (LossCode::NameSynthesised, name_synthesised),
    (LossCode::NameDropped, names_dropped),
    (LossCode::ExtraDropped, extra_dropped),
    (LossCode::ReasoningDropped, |tale, loss, _| {
        without(tale, loss, |piece| matches!(piece, Piece::Thought(_)));
    }),
    (LossCode::CacheMarkDropped, |tale, loss, _| {
        without(tale, loss, |piece| *piece == Piece::Mark);
    }),
    (LossCode::ToolCallDropped, |tale, loss, _| {
        without(tale, loss, |piece| matches!(piece, Piece::Call { .. }));
    }),
    (LossCode::ToolResultDropped, results_dropped),
    (LossCode::MediaDropped, media_dropped),
    (LossCode::MediaDescriptionDropped, |tale, loss, _| {
        each_medium(tale, loss, |media| media.kind = kind(media.media_type.as_deref()));
    }),
    (LossCode::PartMoved, |tale, loss, _| {
        at(tale, loss).for_each(|turn| turn.pieces.sort_by_key(|piece| matches!(piece, Piece::Medium(_))));
    }),
    (LossCode::PartFlattened, |tale, loss, _| {
        at(tale, loss).for_each(|turn| join_texts(turn, "\n"));
    }),
];

/// Pieces go, and a message of which nothing is left with them.
fn without(tale: &mut Tale, loss: &Loss, goes: impl Fn(&Piece) -> bool) {
    let mut emptied = false;
    for turn in at(tale, loss) {
        let before = turn.pieces.len();
        turn.pieces.retain(|piece| !goes(piece));
        emptied |= turn.pieces.is_empty() && before > 0;
    }
    if emptied {
        leave_out(tale, |turn| turn.at == loss.position && turn.pieces.is_empty());
    }
}

/// Results go, and whatever else a tool says beside them.
fn results_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    let is_tools = |turn: &Turn| turn.role == Role::Tool || turn.is_answer();
    leave_out(tale, |turn| turn.at == loss.position && is_tools(turn));
}

/// A payload holds addresses of files, not their bytes; what a tool shows goes with the tool.
fn media_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        let is_tools = turn.role == Role::Tool;
        turn.pieces.retain(|piece| match piece {
            Piece::Medium(media) => !is_tools && !matches!(media.source, MediaSource::Inline(_)),
            _ => true,
        });
    }
    leave_out(tale, |turn| {
        turn.at == loss.position && turn.role == Role::Tool && turn.pieces.is_empty()
    });
}

fn each_medium(tale: &mut Tale, loss: &Loss, change: impl Fn(&mut Media)) {
    for piece in at(tale, loss).flat_map(|turn| &mut turn.pieces) {
        if let Piece::Medium(media) = piece {
            change(media);
        }
    }
}

/// What a MIME type says that a file is.
fn kind(media_type: Option<&str>) -> MediaKind {
    match media_type.and_then(|word| word.split_once('/')) {
        Some(("image", _)) => MediaKind::Image,
        Some(("audio", _)) => MediaKind::Audio,
        Some(("video", _)) => MediaKind::Video,
        _ => MediaKind::File,
    }
}

/// The name of who has no account is his account; who has no name either is called by what he is, counted where that is
/// somebody's account.
fn sender_missing(tale: &mut Tale, loss: &Loss, _: &Family) {
    let known: Vec<String> = tale.turns.iter().filter_map(|turn| turn.sender.clone()).collect();
    for turn in at(tale, loss) {
        let word = called(turn);
        let counted = (2..).map(|count| format!("{word}~{count}"));
        let mut made = std::iter::once(word.to_owned()).chain(counted);
        let account = &mut turn.account;
        account.id = match &account.shown {
            Some(name) => Some(name.clone()),
            None => made.find(|id| !known.contains(id)),
        };
        account.shown.get_or_insert_with(|| word.to_owned());
    }
}

/// An agent without a name is called by what he is, a person by his account.
fn name_synthesised(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        let word = called(turn).to_owned();
        let is_agent = turn.role == Role::Assistant;
        let account = &mut turn.account;
        account.shown = if is_agent { Some(word) } else { account.id.clone() };
    }
}

fn called(turn: &Turn) -> &'static str {
    if turn.role == Role::Assistant {
        "Agent"
    } else {
        "User"
    }
}

/// The roster's name of a person is what the first of the messages shows; an agent's stands beside it.
fn names_dropped(tale: &mut Tale, _: &Loss, _: &Family) {
    each(tale, |turn| {
        if turn.role == Role::User {
            turn.name = Label::Any;
        }
    });
}

/// Fields of other captures of the same system and one of a wrong form, or all fields of another system's. At a message: the word for what it is, or
/// the preview of what it answers, which no tale tells.
fn extra_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    if loss.position.is_some() {
        return;
    }
    let is_captured = |key: &String| {
        let word = key.as_str();
        key.starts_with("envelope.") || matches!(word, "sender" | "status" | "partialText" | "attachments")
    };
    let keys = tale.turns.iter().flat_map(|turn| &turn.facts.extra);
    let is_own = keys.filter(|key| is_captured(key)).count() as u64 == loss.amount;
    each(tale, |turn| {
        turn.facts.extra.retain(|key| is_own && !is_captured(key));
    });
}
