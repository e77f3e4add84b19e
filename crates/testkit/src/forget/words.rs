//! What is said: texts, media, marks, names, replies.

use chatmill_dialect::policy::{LeakedMetadata, MediaPolicy};
use chatmill_dialect::{Loss, LossCode};
use chatmill_model::{Media, MediaKind, MediaSource, Role};

use super::{Family, at, each, leave_out};
use crate::tale::{Bit, Label, Piece, Quoted, Tale, Turn, Words, placeholder};

/// Further fields of messages and of definitions, and whatever a schema takes beside an object.
pub(super) fn extra_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    each(tale, |turn| {
        if loss.position.is_none() || turn.at == loss.position {
            turn.facts.extra.clear();
        }
    });
    odd_parameters(tale);
}

/// Parameters that are not plainly those of an object are written in another way.
pub(super) fn odd_parameters(tale: &mut Tale) {
    for tool in tale.tools.iter_mut().flatten() {
        let kind = tool
            .parameters
            .as_ref()
            .and_then(|parameters| parameters.get("type"));
        tool.is_reshaped |= kind.is_none_or(|kind| kind != "object");
    }
}

pub(super) fn notice_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    tale.turns
        .retain(|turn| turn.at != loss.position || !turn.is_notice);
}

pub(super) fn reasoning_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        turn.pieces.retain(|piece| !matches!(piece, Piece::Thought(_)));
    }
}

pub(super) fn marks_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    let mut left = loss.amount;
    for turn in at(tale, loss) {
        turn.pieces.retain(|piece| {
            let goes = *piece == Piece::Mark && left > 0;
            left -= u64::from(goes);
            !goes
        });
    }
}

/// Blocks of `[meta]` with what they say are not words of an agent's.
pub(super) fn leaked_metadata_removed(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        turn.pieces.retain_mut(|piece| {
            let Piece::Text { words, .. } = piece else {
                return true;
            };
            let Some(text) = words.text() else { return true };
            *words = Words::exact(without_metadata(&text));
            *words != Words::exact("")
        });
    }
}

/// A text without `[meta]` where `key=value` follows it, and without ids that stand alone.
pub fn without_metadata(text: &str) -> String {
    without_ids(&without_lines(text))
}

/// A text without ids that have a number, in one of two spellings, and without the blanks behind them.
fn without_ids(text: &str) -> String {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let length = |text: &str| {
        let key = text
            .split_once(|sign: char| !is_word(sign))
            .map_or(text, |(key, _)| key);
        let is_key = chatmill_model::technical::KEYS.contains(&key);
        let value = text
            .get(key.len()..)?
            .trim_start_matches(' ')
            .strip_prefix([':', '='])?;
        let value = value.trim_start_matches(' ');
        let value = value.strip_prefix('-').unwrap_or(value);
        let rest = value.trim_start_matches(|sign: char| sign.is_ascii_digit());
        (is_key && rest.len() < value.len() && !rest.starts_with(is_word)).then_some(text.len() - rest.len())
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let begins = !out.ends_with(is_word);
        let Some(id) = length(rest).filter(|_| begins) else {
            out.push(next);
            rest = rest.split_at(next.len_utf8()).1;
            continue;
        };
        rest = rest.split_at(id).1.trim_start_matches([' ', '\t']);
        if rest.is_empty() || rest.starts_with(['\n', '\r']) {
            out.truncate(out.trim_end_matches([' ', '\t']).len());
        }
    }
    out
}

/// A text without `[meta]` where `key=value` follows it, and without the white space behind that.
fn without_lines(text: &str) -> String {
    let Some((before, rest)) = text.split_once("[meta]") else {
        return text.to_owned();
    };
    let mut tail = rest;
    while let Some(next) = behind_pair(tail) {
        tail = next;
    }
    let (mark, tail) = if tail.len() == rest.len() {
        ("[meta]", rest)
    } else {
        ("", tail.trim_start())
    };
    format!("{before}{mark}{}", without_lines(tail))
}

/// What follows a `key=value` or `key="value"` behind blanks, where one stands there.
fn behind_pair(text: &str) -> Option<&str> {
    let pair = text.trim_start_matches([' ', '\t']);
    let (key, value) = pair.split_once('=')?;
    let is_key = |sign: u8| sign.is_ascii_lowercase() || sign == b'_';
    if pair.len() == text.len() || key.is_empty() || !key.bytes().all(is_key) {
        return None;
    }
    let Some(quoted) = value.strip_prefix('"') else {
        return Some(value.trim_start_matches(|sign: char| !sign.is_whitespace()));
    };
    let mut is_escaped = false;
    let end = quoted.find(|sign| {
        let ends = sign == '"' && !is_escaped;
        is_escaped = sign == '\\' && !is_escaped;
        ends
    });
    quoted.get(end? + 1..)
}

/// The message is what the model saw of it, which is not known here.
pub(super) fn truncated(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        let mut texts = turn.pieces.iter_mut().filter_map(|piece| match piece {
            Piece::Text { words, .. } | Piece::Answer { words, .. } => Some(words),
            _ => None,
        });
        if let Some(words) = texts.next() {
            *words = Words::any();
        }
    }
}

pub(super) fn is_blank(sign: char) -> bool {
    sign.is_whitespace() || sign == '\u{feff}'
}

/// Text of white space only is not text.
pub(super) fn whitespace_trimmed(tale: &mut Tale, loss: &Loss, family: &Family) {
    // Elsewhere only quotes lose white space.
    for turn in at(tale, loss).filter(|_| family.blank_is_empty) {
        turn.pieces.retain(|piece| match piece {
            Piece::Text { words, .. } => words.text().is_none_or(|text| !text.chars().all(is_blank)),
            _ => true,
        });
    }
}

/// The last turn, where it is the assistant's, does not end in white space.
pub(super) fn end_trimmed(tale: &mut Tale, losses: &[Loss]) {
    let Some(turn) = tale.turns.last_mut().filter(|turn| turn.role == Role::Assistant) else {
        return;
    };
    let is_declared = |loss: &Loss| loss.code == LossCode::WhitespaceTrimmed && loss.position >= turn.at;
    if losses.iter().any(is_declared)
        && let Some(Piece::Text { words, .. }) = turn.pieces.last_mut()
        && let Some(text) = words.text()
    {
        *words = Words::exact(text.trim_end_matches(is_blank));
    }
}

/// So many media are named: first those that the family carries nowhere.
pub(super) fn media_placeholder(tale: &mut Tale, loss: &Loss, family: &Family) {
    let mut left = loss.amount;
    for is_carried in [false, true] {
        for piece in at(tale, loss).flat_map(|turn| &mut turn.pieces) {
            if let Piece::Medium(media) = piece
                && left > 0
                && (family.carries)(media) == is_carried
            {
                left -= 1;
                *piece = Piece::text(Words::exact(placeholder(media)));
            }
        }
    }
}

/// Media go where policy drops them. Elsewhere only what a quote quotes loses its media, and quotes are words that are not
/// known here.
pub(super) fn media_dropped(tale: &mut Tale, loss: &Loss, family: &Family) {
    if family.policy.media == MediaPolicy::Drop {
        for turn in at(tale, loss) {
            turn.pieces.retain(|piece| !matches!(piece, Piece::Medium(_)));
        }
    }
}

/// A text of the assistant that itself begins with a thought between tags is a thought for everybody who reads tags.
pub(super) fn spelled_thoughts(tale: &mut Tale) {
    for turn in tale.turns.iter_mut().filter(|turn| turn.role == Role::Assistant) {
        let Some(Piece::Text { words, .. }) = turn.pieces.first() else {
            continue;
        };
        let text = words.text().unwrap_or_default();
        let Some((thought, said)) = text
            .trim_start()
            .strip_prefix("<think>")
            .and_then(|rest| rest.split_once("</think>"))
        else {
            continue;
        };
        let said = said.strip_prefix('\n').unwrap_or(said);
        let said = said.strip_prefix('\n').unwrap_or(said);
        let thought = thought.strip_prefix('\n').unwrap_or(thought);
        let thought = thought.strip_suffix('\n').unwrap_or(thought);
        let pieces = [
            Piece::Thought(thought.to_owned()),
            Piece::text(Words::exact(said)),
        ];
        let spoken = 1 + usize::from(!said.is_empty());
        turn.pieces.splice(0..1, pieces.into_iter().take(spoken));
    }
}

pub(super) fn system_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    tale.turns
        .retain(|turn| turn.at != loss.position || turn.role != Role::System);
}

/// What the roster tells the perspective to do stands in front.
pub(super) fn system_added(tale: &mut Tale, _: &Loss, _: &Family) {
    let turn = Turn::made_up(Role::System, Piece::text(Words::any()));
    tale.turns.insert(0, turn);
}

/// Names of media are lost, and types of those that are known by their web address.
pub(super) fn media_description_dropped(tale: &mut Tale, loss: &Loss, family: &Family) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Medium(media) = piece {
                media.name = None;
                if family.wraps {
                    told_by_type(media);
                } else if matches!(&media.source, MediaSource::Url(url) if url.starts_with("http")) {
                    media.media_type = None;
                }
            }
        }
    }
}

/// What a medium is, is what its type says; without one it is a file, or a film where the address leads to films.
pub(super) fn told_by_type(media: &mut Media) {
    media.media_type = media.media_type.take().filter(|word| word.contains('/'));
    let is_film = matches!(&media.source, MediaSource::Url(url) if url.contains("youtu"));
    media.kind = match media.media_type.as_deref().and_then(|word| word.split_once('/')) {
        Some(("image", _)) => MediaKind::Image,
        Some(("audio", _)) => MediaKind::Audio,
        Some(("video", _)) => MediaKind::Video,
        None if is_film => MediaKind::Video,
        _ => MediaKind::File,
    };
}

pub(super) fn references_lost(tale: &mut Tale, loss: &Loss) {
    let mut left = loss.amount as usize;
    for turn in at(tale, loss) {
        let gone = left.min(turn.facts.references);
        turn.facts.references -= gone;
        left -= gone;
    }
}

/// The quote stands behind what the message says itself.
pub(super) fn reference_inlined(tale: &mut Tale, loss: &Loss, family: &Family) {
    references_lost(tale, loss);
    let cleans = family.policy.leaked_metadata == LeakedMetadata::Clean;
    let quotes: Vec<Quoted> = at(tale, loss)
        .flat_map(|turn| std::mem::take(&mut turn.quotes))
        // A quote without words is not written.
        .filter(|quote| !(quote.is_nothing() || cleans && quote.is_leak))
        .collect();
    let position = loss.position;
    let turns = tale.turns.iter_mut().rev();
    let mut spoken = turns.filter(|turn| turn.at == position && !turn.is_answer());
    if let Some(turn) = spoken.next() {
        assert_eq!(
            quotes.len() as u64,
            loss.amount,
            "every reply that is there is quoted"
        );
        for quote in quotes {
            let words = quote_words(&quote);
            turn.pieces.push(Piece::Text { words, added: true });
        }
    }
}

/// Words that say who is quoted, which are not known here, and the quoted text.
pub(super) fn quote_words(quote: &Quoted) -> Words {
    // What leaked into a bot's words may be cleaned away, which no loss of this message says.
    let text = if quote.text.contains("[meta]") {
        "\"".to_owned()
    } else {
        format!("{}\"", quote.text)
    };
    Words(vec![Bit::Any, Bit::Exact(text)])
}

pub(super) fn system_inlined(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        turn.role = Role::User;
        turn.name = Label::Exact(None);
        if let Some(Piece::Text { words, .. }) = turn.pieces.first_mut() {
            words.0.insert(0, Bit::Exact("[system] ".to_owned()));
        }
    }
}

pub(super) fn empty_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    leave_out(tale, |turn| turn.at == loss.position && turn.pieces.is_empty());
}

/// The message's own texts become one text, a line each.
pub(super) fn part_flattened(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        join_texts(turn, "\n");
        join_thoughts(turn);
    }
}

/// The thoughts of a turn are one, a blank line apart.
pub(super) fn join_thoughts(turn: &mut Turn) {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in turn.pieces.drain(..) {
        let first = pieces.iter_mut().find_map(|known| match known {
            Piece::Thought(thought) => Some(thought),
            _ => None,
        });
        match (piece, first) {
            (Piece::Thought(thought), Some(first)) => *first = format!("{first}\n\n{thought}"),
            (piece, _) => pieces.push(piece),
        }
    }
    turn.pieces = pieces;
}

pub(super) fn join_texts(turn: &mut Turn, between: &str) {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in turn.pieces.drain(..) {
        let first = pieces.iter_mut().find_map(|known| match known {
            Piece::Text { words, .. } => Some(words),
            _ => None,
        });
        match (piece, first) {
            (Piece::Text { words, .. }, Some(first)) => first.join(between, words),
            (piece, _) => pieces.push(piece),
        }
    }
    turn.pieces = pieces;
}

/// The name of the speaker stands in front of the first words.
pub(super) fn name_inlined(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss).filter(|turn| !turn.own && !turn.is_answer()) {
        let Label::Exact(Some(name)) = std::mem::replace(&mut turn.name, Label::Exact(None)) else {
            // Somebody of whom the role is all that is known.
            prefix(turn, &[Bit::Any, Bit::Exact(": ".to_owned())]);
            continue;
        };
        prefix(turn, &[Bit::Exact(format!("{name}: "))]);
    }
}

pub(super) fn prefix(turn: &mut Turn, bits: &[Bit]) {
    match turn.pieces.first_mut() {
        Some(Piece::Text { words, .. }) => {
            words.0.splice(0..0, bits.iter().cloned());
        }
        _ => turn.pieces.insert(0, Piece::text(Words(bits.to_vec()))),
    }
}

/// Names that have no place, and those that a message gives beside the roster's.
pub(super) fn name_dropped(tale: &mut Tale, loss: &Loss, family: &Family) {
    each(tale, |turn| {
        if loss.position.is_some() && turn.at != loss.position {
            return;
        }
        turn.facts.other_name = None;
        if turn.own || !family.names || loss.position.is_some() {
            turn.name = Label::Exact(None);
        }
    });
}

/// Names in another spelling.
pub(super) fn name_aliased(tale: &mut Tale, _: &Loss, _: &Family) {
    each(tale, |turn| {
        if turn.name != Label::Exact(None) {
            turn.name = Label::Any;
        }
    });
}
