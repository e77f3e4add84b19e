//! The classes of characters that the patterns of encodings distinguish: one table of all code points, shared by splitters and sync points.
//!
//! `regex-syntax` makes the table, with the same Unicode version as the reference's patterns.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// The class of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Capitals and title case.
    Upper,
    /// Small letters.
    Lower,
    /// Letters without case, and letters that modify others.
    Letter,
    Mark,
    Number,
    /// The ASCII space, which words take along.
    Space,
    /// Any other white space within a line.
    Blank,
    /// Line feed and carriage return.
    Break,
    Apostrophe,
    Slash,
    /// Anything else.
    Sign,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub(crate) const ALL: [Self; 11] = [
        Self::Upper,
        Self::Lower,
        Self::Letter,
        Self::Mark,
        Self::Number,
        Self::Space,
        Self::Blank,
        Self::Break,
        Self::Apostrophe,
        Self::Slash,
        Self::Sign,
    ];
}

/// A set of kinds, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Set(pub(crate) u16);

impl Set {
    pub(crate) const EMPTY: Self = Self(0);
    /// `\p{L}`
    pub(crate) const LETTERS: Self = Self::of(&[Kind::Upper, Kind::Lower, Kind::Letter]);
    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
    pub(crate) const CAPITALS: Self = Self::of(&[Kind::Upper, Kind::Letter, Kind::Mark]);
    /// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
    pub(crate) const SMALL: Self = Self::of(&[Kind::Lower, Kind::Letter, Kind::Mark]);
    /// `\p{N}`
    pub(crate) const NUMBERS: Self = Self::of(&[Kind::Number]);
    /// `\s`
    pub(crate) const WHITE: Self = Self::of(&[Kind::Space, Kind::Blank, Kind::Break]);
    /// `[\r\n]`
    pub(crate) const BREAKS: Self = Self::of(&[Kind::Break]);
    /// `[^\s\p{L}\p{N}]`
    pub(crate) const SIGNS: Self = Self::of(&[Kind::Mark, Kind::Apostrophe, Kind::Slash, Kind::Sign]);

    pub(crate) const fn of(kinds: &[Kind]) -> Self {
        let mut set = 0;
        let mut rest = kinds;
        while let [kind, others @ ..] = rest {
            set |= 1 << *kind as u16;
            rest = others;
        }
        Self(set)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn has(self, kind: Kind) -> bool {
        self.0 >> kind as u16 & 1 == 1
    }
}

/// The kinds of all characters, in two levels.
pub(crate) struct Classes {
    ascii: [Kind; 128],
    /// For each page of 256 characters, the index of its block; pages with equal kinds share a block.
    pages: Vec<u16>,
    blocks: Vec<[Kind; 256]>,
}

static CLASSES: LazyLock<Classes> = LazyLock::new(Classes::new);

impl Classes {
    /// The table, made once per process.
    pub(crate) fn get() -> &'static Self {
        &CLASSES
    }

    fn new() -> Self {
        let mut kinds = vec![Kind::Sign; 0x11_0000];
        // The order matters: no white space is in a class before it, and each of the last four is in a class that it overrides.
        for (class, kind) in [
            (r"\p{Lu}", Kind::Upper),
            (r"\p{Lt}", Kind::Upper),
            (r"\p{Ll}", Kind::Lower),
            (r"\p{Lm}", Kind::Letter),
            (r"\p{Lo}", Kind::Letter),
            (r"\p{M}", Kind::Mark),
            (r"\p{N}", Kind::Number),
            (r"\s", Kind::Blank),
            (" ", Kind::Space),
            (r"[\r\n]", Kind::Break),
            ("'", Kind::Apostrophe),
            ("/", Kind::Slash),
        ] {
            for (first, last) in ranges(class) {
                if let Some(range) = kinds.get_mut(first as usize..=last as usize) {
                    range.fill(kind);
                }
            }
        }
        let mut classes = Self {
            ascii: [Kind::Sign; 128],
            pages: Vec::with_capacity(kinds.len() / 256),
            blocks: Vec::new(),
        };
        for (to, from) in classes.ascii.iter_mut().zip(&kinds) {
            *to = *from;
        }
        for page in kinds.as_chunks::<256>().0 {
            let known = classes.blocks.iter().position(|block| block == page);
            let index = known.unwrap_or_else(|| {
                classes.blocks.push(*page);
                classes.blocks.len() - 1
            });
            classes.pages.push(index as u16);
        }
        classes
    }

    /// The kind of an ASCII character; only the lower seven bits of the byte are used.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is a kind for each byte of seven bits"
    )]
    pub(crate) fn of_ascii(&self, byte: u8) -> Kind {
        self.ascii[usize::from(byte & 0x7f)]
    }

    /// The kind of a character.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is a page for each code point, and its block"
    )]
    pub(crate) fn of(&self, code: u32) -> Kind {
        let page = self.pages[code as usize / 256];
        self.blocks[usize::from(page)][code as usize % 256]
    }

    /// The kind of the character that begins at a byte of a UTF-8 text, and the byte at which the next one begins; `None` at the end.
    #[inline]
    pub(crate) fn at(&self, text: &[u8], at: usize) -> Option<(Kind, usize)> {
        let first = *text.get(at)?;
        if first < 0x80 {
            return Some((self.of_ascii(first), at + 1));
        }
        let (code, bytes) = decoded(text, at, first);
        Some((self.of(code), at + bytes))
    }
}

/// The code point that begins at a byte, and its length; `first`, the byte there, is not ASCII.
#[expect(
    clippy::indexing_slicing,
    reason = "in UTF-8 the first byte determines how many follow"
)]
fn decoded(text: &[u8], at: usize, first: u8) -> (u32, usize) {
    let more = |offset: usize| u32::from(text[at + offset] & 0x3f);
    let first = u32::from(first);
    if first < 0xe0 {
        ((first & 0x1f) << 6 | more(1), 2)
    } else if first < 0xf0 {
        ((first & 0x0f) << 12 | more(1) << 6 | more(2), 3)
    } else {
        ((first & 0x07) << 18 | more(1) << 12 | more(2) << 6 | more(3), 4)
    }
}

/// The ranges of code points of a class.
fn ranges(class: &str) -> Vec<(u32, u32)> {
    let parsed = regex_syntax::parse(class).map(regex_syntax::hir::Hir::into_kind);
    match parsed {
        Ok(HirKind::Class(Class::Unicode(class))) => class
            .ranges()
            .iter()
            .map(|range| (range.start() as u32, range.end() as u32))
            .collect(),
        Ok(HirKind::Literal(literal)) => {
            let code = literal.0.first().map_or(0, |byte| u32::from(*byte));
            vec![(code, code)]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_decoded_as_the_standard_library_does() {
        let classes = Classes::get();
        let mut buffer = [0; 4];
        for character in '\0'..=char::MAX {
            let text = character.encode_utf8(&mut buffer).as_bytes();
            let (kind, next) = classes.at(text, 0).unwrap();
            assert_eq!(next, text.len(), "{character:?}");
            assert_eq!(kind, classes.of(character as u32), "{character:?}");
        }
        assert!(classes.at(b"a", 1).is_none());
    }

    #[test]
    fn every_kind_has_characters_and_stands_at_its_number() {
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
        let of = |character: char| Classes::get().of(character as u32);
        let examples = ['Ǆ', 'ſ', 'א', '\u{301}', '½', ' ', '\u{a0}', '\r', '\'', '/', '_'];
        for (kind, example) in Kind::ALL.into_iter().zip(examples) {
            assert_eq!(of(example), kind, "{example:?}");
        }
        assert_eq!([of('ǅ'), of('ʰ')], [Kind::Upper, Kind::Letter]);
    }
}
