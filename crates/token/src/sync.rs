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
//! | line break | letter, number, signs but `/` | blank lines run on; `/` may follow breaks behind a sign |
//! | white space | nothing | a run of white space looks one character ahead |
//!
//! Encodings of the GPT-2 family have no alternative for line breaks: there, they are white space. Tests hold the table
//! against tiktoken-rs for every string of classes up to a length.

use regex_syntax::hir::{Class, HirKind};

/// What a pattern tells characters apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Letter,
    Mark,
    Number,
    Space,
    Break,
    Apostrophe,
    Slash,
    Sign,
}

use Kind::{Apostrophe, Break, Letter, Mark, Number, Sign, Slash, Space};

/// How a family of encodings cuts text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Line breaks have an alternative of their own, as in `cl100k_base` and `o200k_base`.
    Modern,
    /// They are white space, as in `r50k_base` and `p50k_base`.
    Gpt2,
}

/// The classes of all characters, and which pairs of them are borders.
pub(crate) struct SyncPoints {
    /// The class of each character below 128.
    ascii: [u8; 128],
    /// For each 256 characters, which block they share.
    pages: Vec<u16>,
    blocks: Vec<[u8; 256]>,
    /// By class of the character before: a bit for each class before which there is always a border.
    borders: [u8; 8],
}

impl SyncPoints {
    /// The sync points that all these families have in common.
    pub(crate) fn new(families: &[Family]) -> Self {
        let mut classes = vec![Sign as u8; 0x11_0000];
        // In this order: white space is not in the other classes, and line breaks, quotes and slashes are taken out last.
        for (class, kind) in [
            (r"\p{L}", Letter),
            (r"\p{M}", Mark),
            (r"\p{N}", Number),
            (r"\s", Space),
            (r"[\r\n]", Break),
            (r"'", Apostrophe),
            (r"/", Slash),
        ] {
            for (first, last) in ranges(class) {
                if let Some(range) = classes.get_mut(first as usize..=last as usize) {
                    range.fill(kind as u8);
                }
            }
        }
        let mut ascii = [0; 128];
        for (to, from) in ascii.iter_mut().zip(&classes) {
            *to = *from;
        }
        let mut points = Self {
            ascii,
            pages: Vec::with_capacity(classes.len() / 256),
            blocks: Vec::new(),
            borders: borders(families),
        };
        for page in classes.as_chunks::<256>().0 {
            let known = points.blocks.iter().position(|block| block == page);
            let index = known.unwrap_or_else(|| {
                points.blocks.push(*page);
                points.blocks.len() - 1
            });
            points.pages.push(u16::try_from(index).unwrap_or_default());
        }
        points
    }

    fn class(&self, character: char) -> u8 {
        let code = character as usize;
        if let Some(class) = self.ascii.get(code) {
            return *class;
        }
        self.pages
            .get(code / 256)
            .and_then(|page| self.blocks.get(*page as usize))
            .and_then(|block| block.get(code % 256))
            .copied()
            .unwrap_or(Sign as u8)
    }

    /// Calls `chunk` with the end of each stretch between sync points, in order; the last one is the end of the text.
    pub(crate) fn each_end(&self, text: &str, mut chunk: impl FnMut(usize)) {
        // No class has this bit set before it: the first character has no border before it.
        let mut allowed = 0_u8;
        for (at, character) in text.char_indices() {
            let class = self.class(character);
            if allowed >> class & 1 == 1 {
                chunk(at);
            }
            allowed = self.borders.get(class as usize).copied().unwrap_or_default();
        }
        if !text.is_empty() {
            chunk(text.len());
        }
    }

    /// The first and the last sync point inside a text, where there are two different ones.
    pub(crate) fn interior(&self, text: &str) -> Option<(usize, usize)> {
        let mut before: Option<u8> = None;
        let first = text.char_indices().find_map(|(at, character)| {
            let class = self.class(character);
            let is_border = before.is_some_and(|before| self.is_border(before, class));
            before = Some(class);
            is_border.then_some(at)
        })?;
        let mut after: Option<(usize, u8)> = None;
        let last = text.char_indices().rev().find_map(|(at, character)| {
            let class = self.class(character);
            let border = after.filter(|(_, after)| self.is_border(class, *after));
            after = Some((at, class));
            border.map(|(at, _)| at)
        })?;
        (first < last).then_some((first, last))
    }

    fn is_border(&self, before: u8, after: u8) -> bool {
        self.borders
            .get(before as usize)
            .is_some_and(|allowed| allowed >> after & 1 == 1)
    }
}

fn borders(families: &[Family]) -> [u8; 8] {
    let set = |kinds: &[Kind]| kinds.iter().fold(0, |set, kind| set | 1 << *kind as u8);
    let mut borders = [0; 8];
    let breaks = if families.contains(&Family::Gpt2) {
        0
    } else {
        set(&[Letter, Number, Apostrophe, Sign])
    };
    for (before, after) in [
        (Letter, set(&[Number, Space, Break, Slash, Sign])),
        (
            Number,
            set(&[Letter, Mark, Space, Break, Apostrophe, Slash, Sign]),
        ),
        (Mark, set(&[Number, Space])),
        (Apostrophe, set(&[Number, Space])),
        (Slash, set(&[Number, Space])),
        (Sign, set(&[Number, Space])),
        (Break, breaks),
        (Space, 0),
    ] {
        if let Some(place) = borders.get_mut(before as usize) {
            *place = after;
        }
    }
    borders
}

/// The ranges of code points of a class, from the tables that the splitter's patterns are compiled with.
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
        let points = SyncPoints::new(&[Family::Modern]);
        assert_eq!(
            chunks(&points, "It's 12 o'clock.\nGo on: /a"),
            ["It's", " 12", " o'clock", ".\n", "Go", " on", ":", " /a"]
        );
        assert!(chunks(&points, "").is_empty());
    }

    #[test]
    fn a_line_break_is_no_border_where_a_gpt2_encoding_counts_too() {
        let both = SyncPoints::new(&[Family::Modern, Family::Gpt2]);
        assert_eq!(chunks(&both, "a\nb 1"), ["a", "\nb", " 1"]);
    }

    #[test]
    fn the_interior_lies_between_the_first_and_the_last_sync_point() {
        let points = SyncPoints::new(&[Family::Modern]);
        for text in ["one two three", "привіт, світе 42!", "1a2b", "a b"] {
            let mut ends = Vec::new();
            points.each_end(text, |end| ends.push(end));
            ends.pop();
            let expected = match (ends.first(), ends.last()) {
                (Some(first), Some(last)) if first < last => Some((*first, *last)),
                _ => None,
            };
            assert_eq!(points.interior(text), expected, "{text}");
        }
    }

    #[test]
    fn every_class_of_the_patterns_is_found() {
        for class in [r"\p{L}", r"\p{M}", r"\p{N}", r"\s", r"[\r\n]", "'", "/"] {
            assert!(!ranges(class).is_empty(), "{class}");
        }
    }
}
