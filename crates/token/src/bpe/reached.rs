//! The vocabulary of a model: only the merges that ever happen, in their order.
//!
//! The merges within a token happen in the same order in every text, so each token is produced in only one way. Of all pairs that a file
//! lists for a token, only one is ever merged: the last one when the token's text is merged alone. If that text does not merge to the
//! token, the token is never produced, and exists only where whole pieces are looked up.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bpe::model::Model;
use crate::bpe::pairs::NO_TOKEN;
use crate::bpe::symbols::Others;
use crate::bpe::vocabulary::{MOST_TOKENS, Vocabulary};
use crate::error::EncodingError;
use crate::split::sync::BLANK;
use crate::steps::byte_alphabet::CHARACTERS;

/// The symbols of a vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// Bytes; each character of a token's text is one byte.
    Bytes,
    /// Characters.
    Characters,
    /// Characters, with a sign instead of each space.
    Blanks,
}

/// A token that merges produce.
struct Reached<'m> {
    text: &'m str,
    id: u32,
    rank: u32,
    parts: (u32, u32),
}

/// The vocabulary, and its number of tokens.
pub(crate) fn vocabulary(model: &Model, alphabet: Alphabet) -> Result<(Vocabulary, u32), EncodingError> {
    let (reached, whole) = divide(model);
    let mut ids = model.symbols.ids();
    let merged: FxHashSet<u32> = reached.iter().map(|token| token.id).collect();
    ids.retain(|id| !merged.contains(id));
    ids.extend(reached.iter().map(|token| token.id));
    let tokens = ids.len() + whole.len();
    if tokens > MOST_TOKENS {
        let problem = format!("it has {tokens} tokens; at most {MOST_TOKENS} are supported");
        return Err(EncodingError::Vocabulary(problem));
    }
    let numbers: FxHashMap<u32, u32> = ids.into_iter().zip(0..).collect();
    let number = |id: u32| numbers.get(&id).copied().unwrap_or(NO_TOKEN);
    let mut vocabulary = Vocabulary::for_tokens(tokens);
    if alphabet == Alphabet::Bytes {
        let byte_of: FxHashMap<char, u8> = CHARACTERS.iter().copied().zip(0..=u8::MAX).collect();
        let bytes = |text: &str| -> Option<Vec<u8>> {
            let bytes = text.chars().map(|character| byte_of.get(&character).copied());
            bytes.collect()
        };
        for (character, byte) in CHARACTERS.iter().zip(0..=u8::MAX) {
            let id = model.symbols.characters.get(character);
            vocabulary.add(&[byte], id.map_or(NO_TOKEN, |id| number(*id)), None);
        }
        for token in &reached {
            if let Some(bytes) = bytes(token.text) {
                let (left, right) = token.parts;
                vocabulary.add(&bytes, number(token.id), Some((number(left), number(right))));
            }
        }
        for bytes in whole.into_iter().filter_map(bytes) {
            vocabulary.add_whole(&bytes);
        }
    } else {
        for token in &reached {
            let (left, right) = token.parts;
            vocabulary.add_characters(token.text, number(token.id), (number(left), number(right)));
        }
        let mut symbols = model.symbols.renumbered(number);
        if alphabet == Alphabet::Blanks {
            let blank = symbols.characters.get(&BLANK).copied();
            symbols.characters.extend(blank.map(|id| (' ', id)));
            vocabulary.has_neighbours = matches!(model.symbols.others, Others::Bytes(_));
        }
        vocabulary.set_symbols(symbols);
        for token in whole {
            vocabulary.add_whole(token.as_bytes());
        }
    }
    Ok((vocabulary, tokens as u32))
}

/// The tokens that merges produce, in the order of their merges, and the tokens that exist only as whole pieces.
fn divide(model: &Model) -> (Vec<Reached<'_>>, Vec<&str>) {
    let mut tokens: Vec<(&str, u32)> = model
        .tokens
        .iter()
        .map(|(text, id)| (text.as_str(), *id))
        .collect();
    tokens.sort_unstable_by_key(|(_, id)| *id);
    let (mut reached, mut whole) = (Vec::new(), Vec::new());
    for (text, id) in tokens {
        let merged = model.merge(text);
        let is_reached = matches!(merged.tokens.as_slice(), [(_, only)] if *only == id);
        match merged.last.filter(|_| is_reached) {
            Some((parts, rank)) => reached.push(Reached {
                text,
                id,
                rank,
                parts,
            }),
            None if !is_reached && model.ignore_merges => whole.push(text),
            // A symbol, or a token that is never produced.
            None => {}
        }
    }
    reached.sort_by_key(|token| token.rank);
    (reached, whole)
}
