//! Sync points: places where every text may be cut without changing its tokens.
//!
//! The patterns of an encoding cover every character and never look back, so what follows a border of pieces is split without
//! regard to what precedes it. A place is such a border **in every text** when no alternative of the pattern can hold the two
//! characters around it side by side. That depends on their classes alone, so a fragment can be cut before it is known what
//! will stand around it, and the tokens of a text are the sum of those of its parts, each counted alone.
//!
//! | before | always a border before | not before, because |
//! |---|---|---|
//! | letter | number, white space, line break, signs but `'` | words go on; `'` may begin a contraction |
//! | number | anything but a number | groups of digits are counted from their start |
//! | mark | number, white space | marks stand inside words and inside runs of signs |
//! | sign | number, white space | one sign may begin a word; line breaks may end a run of signs |
//! | line break | letter, number, signs but `/` | blank lines run on; `/` may follow breaks after a sign |
//! | white space | nothing | a run of white space looks one character ahead |
//!
//! Encodings of the GPT-2 family have no alternative for line breaks: there, they are white space. Where every digit is a piece,
//! there is a border between numbers, too. Tests hold the tables against tiktoken-rs for every string of classes up to a length.
//!
//! Why: docs/decisions/2026-11-21-counted-once-between-sync-points.md.

use crate::split::classes::{Classes, Kind, Set};
use crate::split::join_points::JoinPoints;

/// Which classes of characters have a border between them, in a family of encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundaryClasses {
    letter: Set,
    number: Set,
    mark_or_sign: Set,
    line_break: Set,
}

/// Any white space but line breaks.
const SPACES: Set = Set::of(&[Kind::Space, Kind::Blank]);

impl BoundaryClasses {
    /// Line breaks have an alternative of their own, as in `cl100k_base` and `o200k_base`.
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
    /// The same, and every digit is a piece.
    pub(crate) const QWEN: Self = Self {
        number: Self::MODERN.number.and(Set::NUMBERS),
        ..Self::MODERN
    };
    /// Line breaks are white space, as in `r50k_base` and `p50k_base`.
    pub(crate) const GPT2: Self = Self {
        line_break: Set::EMPTY,
        ..Self::MODERN
    };
    /// A pattern of which nothing is known.
    pub(crate) const NONE: Self = Self {
        letter: Set::EMPTY,
        number: Set::EMPTY,
        mark_or_sign: Set::EMPTY,
        line_break: Set::EMPTY,
    };

    /// The borders that two families have in common.
    pub(crate) const fn both(self, other: Self) -> Self {
        Self {
            letter: self.letter.both(other.letter),
            number: self.number.both(other.number),
            mark_or_sign: self.mark_or_sign.both(other.mark_or_sign),
            line_break: self.line_break.both(other.line_break),
        }
    }

    /// The kinds before which there is a border after this one.
    const fn behind(self, kind: Kind) -> Set {
        match kind {
            Kind::Upper | Kind::Lower | Kind::Letter => self.letter,
            Kind::Number => self.number,
            Kind::Mark | Kind::Apostrophe | Kind::Slash | Kind::Sign => self.mark_or_sign,
            Kind::Break => self.line_break,
            Kind::Space | Kind::Blank => Set::EMPTY,
        }
    }

    const fn step(self, kind: Kind) -> BorderStep {
        BorderStep {
            kind: Set::of(&[kind]).0,
            behind: self.behind(kind).0,
        }
    }
}

/// Finds the sync points of texts.
pub(crate) struct SyncPoints {
    classes: &'static Classes,
    borders: BoundaryClasses,
    seams: JoinPoints,
    ascii: [BorderStep; 128],
    steps: [BorderStep; Kind::ALL.len()],
}

/// What a character does to the search for borders.
#[derive(Clone, Copy, Default)]
struct BorderStep {
    /// A bit for its kind.
    kind: u16,
    /// The kinds before which there is a border after it.
    behind: u16,
}

impl SyncPoints {
    /// The sync points of these borders, and of seams where there are borders at all.
    pub(crate) fn new(borders: BoundaryClasses, seams: JoinPoints) -> Self {
        let classes = Classes::get();
        let mut points = Self {
            classes,
            borders,
            seams: if borders == BoundaryClasses::NONE {
                JoinPoints::default()
            } else {
                seams
            },
            ascii: [BorderStep::default(); 128],
            steps: Kind::ALL.map(|kind| borders.step(kind)),
        };
        for (place, byte) in points.ascii.iter_mut().zip(0..) {
            *place = borders.step(classes.of_ascii(byte));
        }
        points
    }

    /// Calls `chunk` with the end of each stretch between sync points, in order; the last one is the end of the text.
    pub(crate) fn each_end(&self, text: &str, mut chunk: impl FnMut(usize)) {
        let mut behind = BorderStep::default();
        let mut before = '\0';
        let mut start = 0;
        // Borders are collected in a word first: whether there is one is as good as random, and a wrong guess costs more than this.
        for block in text.as_bytes().chunks(64) {
            let mut borders = 0_u64;
            if block.is_ascii() {
                for byte in block {
                    let step = self.ascii_step(*byte);
                    borders = borders >> 1 | u64::from(behind.behind & step.kind != 0) << 63;
                    behind = step;
                }
                borders >>= 64 - block.len();
            } else {
                for (at, byte) in block.iter().enumerate() {
                    if byte.is_ascii() {
                        let step = self.ascii_step(*byte);
                        borders |= u64::from(behind.behind & step.kind != 0) << at;
                        behind = step;
                    } else if let Some(character) = character_at(text, start + at) {
                        let step = self.step(self.classes.of(character as u32));
                        let is_border = behind.behind & step.kind != 0
                            || behind.kind & step.kind & CASELESS != 0
                                && !self.seams.may_join(before, character);
                        borders |= u64::from(is_border) << at;
                        (behind, before) = (step, character);
                    }
                }
            }
            while borders != 0 {
                chunk(start + borders.trailing_zeros() as usize);
                borders &= borders - 1;
            }
            start += block.len();
        }
        if !text.is_empty() {
            chunk(text.len());
        }
    }

    #[expect(clippy::indexing_slicing, reason = "there is a step for each kind")]
    fn step(&self, kind: Kind) -> BorderStep {
        self.steps[kind as usize]
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "there is a step for each byte of seven bits"
    )]
    fn ascii_step(&self, byte: u8) -> BorderStep {
        self.ascii[usize::from(byte & 0x7f)]
    }

    /// The first and the last sync point inside a text, which may be one; none where there is none.
    pub(crate) fn interior(&self, text: &str) -> Option<(usize, usize)> {
        let mut before = None;
        let first = text.char_indices().find_map(|(at, character)| {
            let is_border = before.is_some_and(|before| self.is_border(before, character));
            before = Some(character);
            is_border.then_some(at)
        })?;
        let mut after: Option<(usize, char)> = None;
        let last = text.char_indices().rev().find_map(|(at, character)| {
            let border = after.filter(|(_, after)| self.is_border(character, *after));
            after = Some((at, character));
            border.map(|(at, _)| at)
        })?;
        Some((first, last))
    }

    fn is_border(&self, before: char, after: char) -> bool {
        let [left, right] = [before, after].map(|it| self.classes.of(it as u32));
        let of_words = left == Kind::Letter && right == Kind::Letter && !self.seams.may_join(before, after);
        of_words || self.borders.behind(left).has(right)
    }
}

/// Letters that any two of one script may stand in a word.
const CASELESS: u16 = Set::of(&[Kind::Letter]).0;

/// The character that begins at a byte; nothing within one.
fn character_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(borders: BoundaryClasses) -> SyncPoints {
        SyncPoints::new(borders, JoinPoints::default())
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
                if BoundaryClasses::MODERN.behind(before).has(after) {
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
    fn a_line_break_is_no_border_where_a_gpt2_encoding_counts_too() {
        let both = plain(BoundaryClasses::MODERN.both(BoundaryClasses::GPT2));
        assert_eq!(chunks(&both, "a\nb 1"), ["a", "\nb", " 1"]);
    }

    #[test]
    fn digits_part_where_each_is_a_piece() {
        assert_eq!(chunks(&plain(BoundaryClasses::QWEN), "a12"), ["a", "1", "2"]);
        assert_eq!(chunks(&plain(BoundaryClasses::MODERN), "a12"), ["a", "12"]);
    }

    #[test]
    fn an_unknown_pattern_has_no_border_at_all() {
        assert_eq!(chunks(&plain(BoundaryClasses::NONE), "a 1\nb."), ["a 1\nb."]);
    }

    #[test]
    fn letters_without_case_part_where_no_token_lies_across() {
        let mut seams = JoinPoints::of_no_token();
        seams.add("日本".as_bytes());
        let points = SyncPoints::new(BoundaryClasses::MODERN, seams.clone());
        assert_eq!(
            chunks(&points, "日本日a日б本 本\u{301}本"),
            ["日本", "日a日б本", " 本\u{301}本"]
        );
        assert_eq!(points.interior("日本日本語"), Some((6, 12)));
        assert_eq!(
            chunks(&SyncPoints::new(BoundaryClasses::NONE, seams), "本日"),
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
