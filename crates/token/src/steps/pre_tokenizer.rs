//! Pre-tokenizers: steps that cut a text into the pieces that are merged, and may change them.

use std::ops::Range;

use crate::split::finder::Finder;
use crate::split::part;
use crate::split::patterns::GPT2;
use crate::split::prefix::Prefix;
use crate::steps::aligned::Aligned;
use crate::steps::byte_alphabet::CHARACTERS;

/// One step of cutting, applied to every piece of the step before.
pub(crate) enum PreTokenizer {
    Split {
        finder: Finder,
        behavior: Behavior,
        /// Exchanges the matches with the text between them.
        invert: bool,
    },
    /// Replaces spaces by a sign, which may also be put before a piece; the sign begins a piece.
    Metaspace { sign: char, prefix: Prefix, split: bool },
    /// Replaces bytes by characters.
    ByteLevel {
        prefix_space: bool,
        /// Whether to cut as GPT-2 does.
        split: bool,
    },
}

/// What a split does with its matches.
#[derive(Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub(crate) enum Behavior {
    Removed,
    Isolated,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
}

impl PreTokenizer {
    /// Cuts the pieces of a text that begins at the byte `begins` of a rendering.
    pub(crate) fn apply(&self, mut from: Aligned, begins: usize) -> Aligned {
        match self {
            Self::Split {
                finder,
                behavior,
                invert,
            } => {
                from.pieces = cut(&from, finder, *behavior, *invert);
                from
            }
            Self::Metaspace { sign, prefix, split } => {
                let signs = sign.to_string();
                let mut to = Aligned::of_pieces(&from, |to, piece| {
                    let text = part(from.text.as_str(), piece.clone());
                    let origin = from.origin(piece.start);
                    if prefix.is_put(text.starts_with([' ', *sign]), begins + origin as usize) {
                        to.push(&signs, origin);
                    }
                    for (at, character) in text.char_indices() {
                        let at = piece.start + at;
                        if character == ' ' {
                            to.push(&signs, from.origin(at));
                        } else {
                            to.copy(&from, at..at + character.len_utf8());
                        }
                    }
                });
                if *split {
                    to.pieces = cut(&to, &Finder::Text(signs), Behavior::MergedWithNext, false);
                }
                to
            }
            Self::ByteLevel { prefix_space, split } => {
                let mut spaced = Aligned::of_pieces(&from, |to, piece| {
                    if *prefix_space && !part(from.text.as_str(), piece.clone()).starts_with(' ') {
                        to.push(" ", from.origin(piece.start));
                    }
                    to.copy(&from, piece);
                });
                if *split {
                    let gpt2 = Finder::Family(GPT2.style);
                    spaced.pieces = cut(&spaced, &gpt2, Behavior::Isolated, false);
                }
                let characters = &*CHARACTERS;
                Aligned::of_pieces(&spaced, |to, piece| {
                    let bytes = part(spaced.text.as_bytes(), piece.clone());
                    for (at, byte) in piece.zip(bytes) {
                        if let Some(character) = characters.get(usize::from(*byte)) {
                            to.push(character.encode_utf8(&mut [0; 4]), spaced.origin(at));
                        }
                    }
                })
            }
        }
    }
}

/// Cuts each piece of a text, and returns all resulting pieces.
fn cut(text: &Aligned, finder: &Finder, behavior: Behavior, invert: bool) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    for piece in &text.pieces {
        let mut found: Vec<(Range<usize>, bool)> = Vec::new();
        finder.each(part(text.text.as_str(), piece.clone()), &mut |range, is_match| {
            found.push((
                piece.start + range.start..piece.start + range.end,
                is_match != invert,
            ));
        });
        join(&mut found, behavior);
        pieces.extend(found.into_iter().map(|(range, _)| range));
    }
    pieces
}

/// Joins matches with their neighbours, or removes them.
fn join(found: &mut Vec<(Range<usize>, bool)>, behavior: Behavior) {
    type Found = (Range<usize>, bool);
    // Whether a part joins the one before it, given what that one was.
    let goes_back: fn(bool, bool) -> bool = match behavior {
        Behavior::Isolated => return,
        Behavior::Removed => return found.retain(|(_, is_match)| !is_match),
        Behavior::Contiguous => |before, is_match| before == is_match,
        Behavior::MergedWithPrevious => |before, is_match| is_match && !before,
        Behavior::MergedWithNext => {
            found.reverse();
            |before, is_match| is_match && !before
        }
    };
    let mut joined: Vec<Found> = Vec::new();
    for (range, is_match) in found.drain(..) {
        match joined.last_mut() {
            Some((last, before)) if goes_back(*before, is_match) => {
                *last = last.start.min(range.start)..last.end.max(range.end);
                *before = is_match;
            }
            _ => joined.push((range, is_match)),
        }
    }
    if behavior == Behavior::MergedWithNext {
        joined.reverse();
    }
    *found = joined;
}
