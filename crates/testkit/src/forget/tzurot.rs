//! What losses take from a tale in Tzurot's requests: one message is one text, with what it quotes behind it, and media by
//! their addresses.

use chatmill_dialect::policy::MediaPolicy;
use chatmill_dialect::{Loss, LossCode};
use chatmill_model::Role;

use super::words::{quote_words, references_lost, truncated};
use super::{Family, Forget, at, each, leave_out};
use crate::tale::placeholder;
use crate::tale::{Label, Piece, Tale, Turn, Words, is_heard_or_seen, without_controls};

/// The functions of the requests.
pub const OWN: &[(LossCode, Forget)] = &[
    (LossCode::ControlCharacterRemoved, control_characters_removed),
    (LossCode::NameDropped, |tale, _, _| {
        each(tale, |turn| {
            turn.name = Label::Exact(None);
            turn.facts.other_name = None;
        });
    }),
    (LossCode::RoleMapped, |tale, loss, _| {
        at(tale, loss).for_each(|turn| turn.role = Role::User);
    }),
    // What the conversation holds beside the message is not a part of a request's tale.
    (LossCode::Truncated, |tale, loss, family| {
        if loss.position.is_some() {
            truncated(tale, loss, family);
        }
    }),
    (LossCode::SystemDropped, |_, _, _| ()),
    (LossCode::ToolCallDropped, |tale, loss, _| {
        for turn in tale.turns.iter_mut().filter(|turn| turn.at == loss.position) {
            turn.pieces.retain(|piece| !matches!(piece, Piece::Call { .. }));
        }
    }),
    (LossCode::ToolResultDropped, |tale, loss, _| {
        leave_out(tale, |turn| {
            loss.position.is_some() && turn.at == loss.position && turn.is_answer()
        });
    }),
    (LossCode::PartFlattened, |tale, loss, _| {
        at(tale, loss).for_each(own_texts_joined);
    }),
    // Text and media are told apart in any case.
    (LossCode::PartMoved, |_, _, _| ()),
    (LossCode::MediaPlaceholder, media_placeholder),
    (LossCode::ReferenceInlined, reference_inlined),
    (LossCode::SpecialTokenInText, |tale, loss, _| {
        at(tale, loss).for_each(worded_as_quote);
    }),
];

/// The message's own texts are one, a blank apart.
fn own_texts_joined(turn: &mut Turn) {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in std::mem::take(&mut turn.pieces) {
        let own = pieces.iter_mut().find_map(|known| match known {
            Piece::Text { words, added: false } => Some(words),
            _ => None,
        });
        match (own, piece) {
            (Some(own), Piece::Text { words, added: false }) => own.join(" ", words),
            (_, piece) => pieces.push(piece),
        }
    }
    turn.pieces = pieces;
}

/// The message's own texts have no control characters; quotes have none in any case.
fn control_characters_removed(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        turn.pieces.retain_mut(|piece| {
            if let Piece::Text { words, .. } = piece
                && let Some(text) = words.text()
            {
                *words = Words::exact(without_controls(&text));
            }
            !matches!(piece, Piece::Text { words, .. } if *words == Words::exact(""))
        });
    }
}

/// Media of the message are named where they are not a picture or sound with a web address, or where policy says so; of what is
/// quoted the others always are, also where policy drops media.
fn media_placeholder(tale: &mut Tale, loss: &Loss, family: &Family) {
    let is_named = family.policy.media == MediaPolicy::Placeholder;
    if family.policy.media == MediaPolicy::Drop {
        return;
    }
    for piece in at(tale, loss).flat_map(|turn| &mut turn.pieces) {
        if let Piece::Medium(media) = piece
            && (is_named || !is_heard_or_seen(media))
        {
            *piece = Piece::text(Words::exact(placeholder(media)));
        }
    }
}

/// What is quoted stands behind what the message says itself; a medium of it goes with it.
fn reference_inlined(tale: &mut Tale, loss: &Loss, _: &Family) {
    references_lost(tale, loss);
    for turn in at(tale, loss) {
        for quote in std::mem::take(&mut turn.quotes) {
            let words = quote_words(&quote);
            turn.pieces.push(Piece::Text { words, added: true });
            turn.pieces.extend(quote.medium.map(Piece::Medium));
        }
    }
}

/// Where the message's own words are worded as a quote, nobody can tell them from one: what is quoted is told as it stands.
fn worded_as_quote(turn: &mut Turn) {
    turn.pieces.retain(|piece| !matches!(piece, Piece::Text { .. }));
    turn.pieces.insert(0, Piece::text(Words::any()));
}
