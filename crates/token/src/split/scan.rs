//! The published patterns, written by hand. A regular expression tries alternatives; these functions decide by the kind of the first
//! character.
//!
//! Each piece ends at the end of the first alternative that matches, in the order of the pattern, and each alternative is as greedy as
//! written. Tests compare every style with its pattern on every string of classes up to a length.
//!
//! Why: docs/decisions/2026-11-21-own-token-splitter.md.

use crate::split::classes::{Classes, Kind, Set};

/// A published pattern as a set of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    words: WordRule,
    /// The kinds that may precede a word and belong to it.
    before_words: Set,
    /// The largest number of digits in one piece.
    digits: usize,
    /// The kinds that a run of signs takes along at its end.
    behind_signs: Set,
    /// Whether line breaks, with the white space before them, are a piece.
    breaks: bool,
    /// Whether white space at the end of the text is one piece, with or without line breaks.
    closing: bool,
}

/// The treatment of words in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordRule {
    /// Words end between small letters and capitals, contain marks, and include their contraction.
    Cased,
    /// Words are letters; a contraction in any case is a piece.
    Plain,
    /// As `Plain`, with contractions in small letters only; numbers take the space before them, too.
    Spaced,
}

/// Anything but letters, numbers and line breaks.
const BEFORE_WORDS: Set = Set::SIGNS.and(Set::of(&[Kind::Space, Kind::Blank]));

impl Style {
    /// `o200k_base` and `o200k_harmony`.
    pub(crate) const O200K: Self = Self {
        words: WordRule::Cased,
        before_words: BEFORE_WORDS,
        digits: 3,
        behind_signs: Set::of(&[Kind::Break, Kind::Slash]),
        breaks: true,
        closing: false,
    };
    /// `cl100k_base`.
    pub(crate) const CL100K: Self = Self {
        words: WordRule::Plain,
        behind_signs: Set::BREAKS,
        closing: true,
        ..Self::O200K
    };
    /// Llama 3: `cl100k_base` except for white space at the end.
    pub(crate) const LLAMA3: Self = Self {
        closing: false,
        ..Self::CL100K
    };
    /// Qwen 2 and 3: Llama 3 with every digit a separate piece.
    pub(crate) const QWEN: Self = Self {
        digits: 1,
        ..Self::LLAMA3
    };
    /// `r50k_base`, `p50k_base` and GPT-2.
    pub(crate) const GPT2: Self = Self {
        words: WordRule::Spaced,
        before_words: Set::of(&[Kind::Space]),
        digits: usize::MAX,
        behind_signs: Set::EMPTY,
        breaks: false,
        closing: false,
    };

    /// The end of the piece that begins at the byte `at` of a text; `at` is less than the length of the text.
    pub(crate) fn end_of_piece(self, classes: &'static Classes, text: &str, at: usize) -> usize {
        let cursor = Cursor {
            classes,
            text: text.as_bytes(),
        };
        let Some((kind, next)) = cursor.at(at) else {
            return text.len();
        };
        self.word(cursor, at, kind, next)
            .or_else(|| self.number(cursor, at, kind, next))
            .or_else(|| self.signs(cursor, at, kind, next))
            .unwrap_or_else(|| self.white_space(cursor, at))
    }

    fn word(self, cursor: Cursor<'_>, at: usize, kind: Kind, next: usize) -> Option<usize> {
        if self.words == WordRule::Cased {
            return cursor.cased_word(at, kind, next);
        }
        if kind == Kind::Apostrophe
            && let Some(end) = cursor.contraction(at, self.words == WordRule::Plain)
        {
            return Some(end);
        }
        if Set::LETTERS.has(kind) {
            return Some(cursor.run(next, Set::LETTERS));
        }
        let end = cursor.run(next, Set::LETTERS);
        (self.before_words.has(kind) && end > next).then_some(end)
    }

    fn number(self, cursor: Cursor<'_>, at: usize, kind: Kind, next: usize) -> Option<usize> {
        if kind == Kind::Number {
            return Some(cursor.some(at, Set::NUMBERS, self.digits));
        }
        let end = cursor.run(next, Set::NUMBERS);
        (self.words == WordRule::Spaced && kind == Kind::Space && end > next).then_some(end)
    }

    fn signs(self, cursor: Cursor<'_>, at: usize, kind: Kind, next: usize) -> Option<usize> {
        let start = if kind == Kind::Space { next } else { at };
        let end = cursor.run(start, Set::SIGNS);
        (end > start).then(|| cursor.run(end, self.behind_signs))
    }

    /// The end of white space that no word, number or sign took. Before text, a run gives its last character back unless it is the only
    /// one.
    fn white_space(self, cursor: Cursor<'_>, at: usize) -> usize {
        let (mut end, mut last, mut behind_breaks) = (at, at, at);
        while let Some((kind, next)) = cursor.at(end).filter(|(kind, _)| Set::WHITE.has(*kind)) {
            (last, end) = (end, next);
            if kind == Kind::Break {
                behind_breaks = next;
            }
        }
        let closes = end == cursor.text.len();
        if self.breaks && behind_breaks > at && !(closes && self.closing) {
            behind_breaks
        } else if closes || last == at {
            end
        } else {
            last
        }
    }
}

/// A text and the classes of its characters.
#[derive(Clone, Copy)]
struct Cursor<'t> {
    classes: &'static Classes,
    text: &'t [u8],
}

impl Cursor<'_> {
    #[inline]
    fn at(self, at: usize) -> Option<(Kind, usize)> {
        self.classes.at(self.text, at)
    }

    /// The end of a run of characters of these kinds.
    fn run(self, at: usize, set: Set) -> usize {
        self.some(at, set, usize::MAX)
    }

    /// The end of a run of at most `most` characters of these kinds.
    fn some(self, mut at: usize, set: Set, most: usize) -> usize {
        for _ in 0..most {
            match self.at(at) {
                Some((kind, next)) if set.has(kind) => at = next,
                _ => break,
            }
        }
        at
    }

    /// The end of a word in which case counts, with its contraction.
    fn cased_word(self, at: usize, kind: Kind, next: usize) -> Option<usize> {
        let letters = if Set::LETTERS.has(kind) {
            self.cased_letters(at)
        } else if BEFORE_WORDS.has(kind) {
            let after = self.cased_letters(next);
            match after {
                // A mark can be the sign before a word, but not before capitals alone: then it is part of the word.
                None | Some((_, false)) if kind == Kind::Mark => self.cased_letters(at),
                _ => after,
            }
        } else {
            None
        };
        letters.map(|(end, _)| self.contraction(end, true).unwrap_or(end))
    }

    /// The end of a run of letters: capitals, then small ones. The flag is true if there is a small letter, which is the pattern's first
    /// choice; letters without case and marks count as both.
    fn cased_letters(self, at: usize) -> Option<(usize, bool)> {
        let (mut end, mut behind_small) = (at, at);
        while let Some((kind, next)) = self.at(end) {
            if kind == Kind::Lower {
                return Some((self.run(next, Set::SMALL), true));
            }
            if !Set::CAPITALS.has(kind) {
                break;
            }
            end = next;
            if kind != Kind::Upper {
                behind_small = next;
            }
        }
        if behind_small > at {
            Some((behind_small, true))
        } else {
            (end > at).then_some((end, false))
        }
    }

    /// The end of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d`.
    fn contraction(self, at: usize, any_case: bool) -> Option<usize> {
        let rest = self.text.get(at..)?.strip_prefix(b"'")?;
        let fold = |byte: &u8| {
            if any_case {
                byte.to_ascii_lowercase()
            } else {
                *byte
            }
        };
        let after = at + 1;
        match rest.first().map(fold)? {
            b's' | b't' | b'm' | b'd' => Some(after + 1),
            first @ (b'r' | b'v' | b'l') => {
                let second = if first == b'l' { b'l' } else { b'e' };
                (rest.get(1).map(fold) == Some(second)).then_some(after + 2)
            }
            // The long s is an s in another case.
            0xc5 if any_case && rest.get(1) == Some(&0xbf) => Some(after + 2),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
