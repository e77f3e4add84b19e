//! Sync points: places where every text may be cut without changing its tokens.
//!
//! The patterns of an encoding cover every character and never look back, so the text after a boundary of pieces is split regardless of the
//! text before it. A place is such a boundary **in every text** if no alternative of the pattern can contain the two characters around it
//! side by side. That depends only on the classes of the two, so a fragment can be cut before its surroundings are known, and the tokens of
//! a text are the sum of the tokens of its parts, each counted alone.
//!
//! | before | always a boundary before | not before, because |
//! |---|---|---|
//! | letter | number, white space, line break, signs but `'` | words go on; `'` may begin a contraction |
//! | number | anything but a number | groups of digits are counted from their start |
//! | mark | number, white space | marks are part of words and of runs of signs |
//! | sign | number, white space | one sign may begin a word; line breaks may end a run of signs |
//! | line break | letter, number, signs but `/` | blank lines run on; `/` may follow breaks after a sign |
//! | white space | nothing | a run of white space looks one character ahead |
//!
//! Encodings of the GPT-2 family have no alternative for line breaks, which are white space there. If every digit is a piece, there is also
//! a boundary between two numbers. Tests compare the tables with tiktoken-rs for every string of classes up to a length.
//!
//! Why: docs/decisions/2026-11-21-token-count-cache.md.

use crate::split::classes::{Classes, Kind, Set};
use crate::split::join_points::JoinPoints;
use crate::split::part;

/// The classes of characters that have a boundary between them, in a family of encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundaryClasses {
    letter: Set,
    number: Set,
    mark_or_sign: Set,
    line_break: Set,
}

/// Boundaries are collected for this many bytes at a time, a bit each.
const BLOCK_BYTES: usize = 64;

/// All white space except for line breaks.
const SPACES: Set = Set::of(&[Kind::Space, Kind::Blank]);

impl BoundaryClasses {
    /// Line breaks have a separate alternative, as in `cl100k_base` and `o200k_base`.
    pub(crate) const MODERN: Self = Self {
        letter: Set::NUMBERS
            .and(Set::WHITE)
            .and(Set::of(&[Kind::Slash, Kind::Sign])),
        number: Set::LETTERS.and(Set::WHITE).and(Set::SIGNS),
        mark_or_sign: Set::NUMBERS.and(SPACES),
        line_break: Set::LETTERS
            .and(Set::NUMBERS)
            .and(Set::of(&[Kind::Apostrophe, Kind::Sign])),
    };
    /// As [`MODERN`](Self::MODERN), and every digit is a piece.
    pub(crate) const QWEN: Self = Self {
        number: Self::MODERN.number.and(Set::NUMBERS),
        ..Self::MODERN
    };
    /// Line breaks are white space, as in `r50k_base` and `p50k_base`.
    pub(crate) const GPT2: Self = Self {
        line_break: Set::EMPTY,
        ..Self::MODERN
    };
    /// As [`GPT2`](Self::GPT2), and every digit is a piece.
    pub(crate) const GPT2_DIGITS: Self = Self {
        number: Self::QWEN.number,
        ..Self::GPT2
    };
    /// An unknown pattern, with no boundaries.
    pub(crate) const NONE: Self = Self {
        letter: Set::EMPTY,
        number: Set::EMPTY,
        mark_or_sign: Set::EMPTY,
        line_break: Set::EMPTY,
    };

    /// The boundaries that two families have in common.
    pub(crate) const fn both(self, other: Self) -> Self {
        Self {
            letter: self.letter.both(other.letter),
            number: self.number.both(other.number),
            mark_or_sign: self.mark_or_sign.both(other.mark_or_sign),
            line_break: self.line_break.both(other.line_break),
        }
    }

    /// The kinds with a boundary before them when they follow this one.
    const fn after(self, kind: Kind) -> Set {
        match kind {
            Kind::Upper | Kind::Lower | Kind::Letter => self.letter,
            Kind::Number => self.number,
            Kind::Mark | Kind::Apostrophe | Kind::Slash | Kind::Sign => self.mark_or_sign,
            Kind::Break => self.line_break,
            Kind::Space | Kind::Blank => Set::EMPTY,
        }
    }

    const fn step(self, kind: Kind) -> BoundaryStep {
        BoundaryStep {
            kind: Set::of(&[kind]).0,
            after: self.after(kind).0,
        }
    }
}

/// Finds the sync points of texts.
pub(crate) struct SyncPoints {
    classes: &'static Classes,
    boundaries: BoundaryClasses,
    join_points: JoinPoints,
    /// The neighbours in the tokens of a vocabulary that cuts no pieces; only they decide where its texts may be cut.
    neighbours: Option<JoinPoints>,
    ascii: [BoundaryStep; 128],
    steps: [BoundaryStep; Kind::ALL.len()],
}

/// The effect of a character on the search for boundaries.
#[derive(Clone, Copy, Default)]
struct BoundaryStep {
    /// The bit of its kind.
    kind: u16,
    /// The kinds with a boundary before them when they follow it.
    after: u16,
}

impl SyncPoints {
    /// The sync points of these boundaries, and join points if there are any boundaries.
    pub(crate) fn new(boundaries: BoundaryClasses, join_points: JoinPoints) -> Self {
        let classes = Classes::get();
        let mut points = Self {
            classes,
            boundaries,
            join_points: if boundaries == BoundaryClasses::NONE {
                JoinPoints::default()
            } else {
                join_points
            },
            neighbours: None,
            ascii: [BoundaryStep::default(); 128],
            steps: Kind::ALL.map(|kind| boundaries.step(kind)),
        };
        for (place, byte) in points.ascii.iter_mut().zip(0..) {
            *place = boundaries.step(classes.of_ascii(byte));
        }
        points
    }

    /// The sync points of a vocabulary that merges the characters of whole texts: all places that no token crosses.
    pub(crate) fn of_neighbours(neighbours: JoinPoints) -> Self {
        Self {
            neighbours: Some(neighbours),
            ..Self::new(BoundaryClasses::NONE, JoinPoints::default())
        }
    }

    /// Calls `chunk` with the end of each fragment between sync points, in order; the last one is the end of the text.
    pub(crate) fn each_end(&self, text: &str, mut chunk: impl FnMut(usize)) {
        if self.neighbours.is_some() {
            let characters = text.char_indices().zip(text.chars().skip(1));
            for ((at, before), after) in characters {
                if self.is_boundary(before, after) {
                    chunk(at + before.len_utf8());
                }
            }
            if !text.is_empty() {
                chunk(text.len());
            }
            return;
        }
        let bytes = text.as_bytes();
        let mut last = BoundaryStep::default();
        let mut before = '\0';
        let mut start = 0;
        // Boundaries are collected in a word first. Whether there is one is as good as random to the branch predictor, and a wrong
        // prediction costs more than the shifts and the second loop.
        while let Some(block) = bytes.get(start..).filter(|rest| !rest.is_empty()) {
            let block = part(block, 0..block.len().min(BLOCK_BYTES));
            let mut boundaries = 0_u64;
            let mut next = start + block.len();
            if block.is_ascii() {
                for byte in block {
                    let step = self.ascii_step(*byte);
                    boundaries = boundaries >> 1 | u64::from(last.after & step.kind != 0) << 63;
                    last = step;
                }
                boundaries >>= BLOCK_BYTES - block.len();
            } else {
                let mut at = start;
                while let Some(character) = character_at(text, at).filter(|_| at < next) {
                    let step = self.step(self.classes.of(character as u32));
                    let is_boundary = last.after & step.kind != 0
                        || last.kind & step.kind & CASELESS != 0
                            && !self.join_points.may_join(before, character);
                    boundaries |= u64::from(is_boundary) << (at - start);
                    (last, before) = (step, character);
                    at += character.len_utf8();
                }
                next = at;
            }
            while boundaries != 0 {
                chunk(start + boundaries.trailing_zeros() as usize);
                boundaries &= boundaries - 1;
            }
            start = next;
        }
        if !text.is_empty() {
            chunk(text.len());
        }
    }

    #[expect(clippy::indexing_slicing, reason = "there is a step for each kind")]
    fn step(&self, kind: Kind) -> BoundaryStep {
        self.steps[kind as usize]
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "there is a step for each byte of seven bits"
    )]
    fn ascii_step(&self, byte: u8) -> BoundaryStep {
        self.ascii[usize::from(byte & 0x7f)]
    }

    /// The first and the last sync point inside a text, which may be the same; `None` if there is none.
    pub(crate) fn interior(&self, text: &str) -> Option<(usize, usize)> {
        let mut before = None;
        let first = text.char_indices().find_map(|(at, character)| {
            let is_boundary = before.is_some_and(|before| self.is_boundary(before, character));
            before = Some(character);
            is_boundary.then_some(at)
        })?;
        let mut after: Option<(usize, char)> = None;
        let last = text.char_indices().rev().find_map(|(at, character)| {
            let boundary = after.filter(|(_, after)| self.is_boundary(character, *after));
            after = Some((at, character));
            boundary.map(|(at, _)| at)
        })?;
        Some((first, last))
    }

    fn is_boundary(&self, before: char, after: char) -> bool {
        if let Some(neighbours) = &self.neighbours {
            let [left, right] = [before, after].map(|it| if it == ' ' { BLANK } else { it });
            return !neighbours.may_hold(left, right);
        }
        let [left, right] = [before, after].map(|it| self.classes.of(it as u32));
        let of_words =
            left == Kind::Letter && right == Kind::Letter && !self.join_points.may_join(before, after);
        of_words || self.boundaries.after(left).has(right)
    }
}

/// The sign for a space in a vocabulary that merges characters.
pub(crate) const BLANK: char = '\u{2581}';

/// The letters without case: any two of them may be adjacent in a word.
const CASELESS: u16 = Set::of(&[Kind::Letter]).0;

/// The character that begins at a byte; `None` within one.
fn character_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(boundaries: BoundaryClasses) -> SyncPoints {
        SyncPoints::new(boundaries, JoinPoints::default())
    }

    fn chunks<'t>(points: &SyncPoints, text: &'t str) -> Vec<&'t str> {
        let (mut chunks, mut from) = (Vec::new(), 0);
        points.each_end(text, |end| {
            chunks.push(text.get(from..end).unwrap());
            from = end;
        });
        chunks
    }

    #[test]
    fn text_is_cut_between_words_numbers_and_lines() {
        let points = plain(BoundaryClasses::MODERN);
        assert_eq!(
            chunks(&points, "It's 12 o'clock.\nGo on: /a"),
            ["It's", " 12", " o'clock", ".\n", "Go", " on", ":", " /a"]
        );
        assert!(chunks(&points, "").is_empty());
    }

    #[test]
    fn text_is_cut_alike_wherever_a_block_of_bytes_ends() {
        let points = plain(BoundaryClasses::MODERN);
        let words = "це мішаний text із словами 12 and 34, 日本語 too.\n";
        for before in 0..130 {
            let text = format!("{}{}", "x".repeat(before), words.repeat(4));
            let mut expected = Vec::new();
            let kinds: Vec<_> = text.char_indices().collect();
            for pair in kinds.windows(2) {
                let [before, after] = [pair[0].1, pair[1].1].map(|it| Classes::get().of(it as u32));
                if BoundaryClasses::MODERN.after(before).has(after) {
                    expected.push(pair[1].0);
                }
            }
            expected.push(text.len());
            let mut ends = Vec::new();
            points.each_end(&text, |end| ends.push(end));
            assert_eq!(ends, expected);
        }
    }

    #[test]
    fn a_line_break_is_no_boundary_where_a_gpt2_encoding_counts_too() {
        let both = plain(BoundaryClasses::MODERN.both(BoundaryClasses::GPT2));
        assert_eq!(chunks(&both, "a\nb 1"), ["a", "\nb", " 1"]);
    }

    #[test]
    fn digits_part_where_each_is_a_piece() {
        assert_eq!(chunks(&plain(BoundaryClasses::QWEN), "a12"), ["a", "1", "2"]);
        assert_eq!(chunks(&plain(BoundaryClasses::MODERN), "a12"), ["a", "12"]);
    }

    #[test]
    fn an_unknown_pattern_has_no_boundary_at_all() {
        assert_eq!(chunks(&plain(BoundaryClasses::NONE), "a 1\nb."), ["a 1\nb."]);
    }

    #[test]
    fn letters_without_case_part_where_no_token_lies_across() {
        let mut join_points = JoinPoints::of_no_token();
        join_points.add("日本".as_bytes());
        let points = SyncPoints::new(BoundaryClasses::MODERN, join_points.clone());
        assert_eq!(
            chunks(&points, "日本日a日б本 本\u{301}本"),
            ["日本", "日a日б本", " 本\u{301}本"]
        );
        assert_eq!(points.interior("日本日本語"), Some((6, 12)));
        assert_eq!(
            chunks(&SyncPoints::new(BoundaryClasses::NONE, join_points), "本日"),
            ["本日"]
        );
    }

    #[test]
    fn the_interior_lies_between_the_first_and_the_last_sync_point() {
        let points = plain(BoundaryClasses::MODERN);
        for text in ["one two three", "привіт, світе 42!", "1a2b", "a b", "ab"] {
            let mut ends = Vec::new();
            points.each_end(text, |end| ends.push(end));
            ends.pop();
            let expected = ends.first().copied().zip(ends.last().copied());
            assert_eq!(points.interior(text), expected, "{text}");
        }
    }
}
