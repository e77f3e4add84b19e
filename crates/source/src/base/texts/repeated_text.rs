//! Search for pieces of a text that other fields repeat: blocks next to a text, details of a thought and copies of instructions, usually in the
//! order of the text.

use std::collections::HashMap;

use chatmill_diag::steps;

/// The most pieces that may be out of order, or absent, before the search stops: each of them costs a search of the whole text.
const MAX_MISSES: u32 = 64;

/// A text, with the state of the search for its pieces. The pieces usually come in the order of the text, so each search continues at the
/// piece before: all of them together are one pass. A piece out of order costs a search of the whole text, and a hostile record can have
/// thousands of these, so their number is bounded.
pub(crate) struct RepeatedText<'t> {
    whole: &'t str,
    /// The start of the last piece; the next one usually follows it.
    at: usize,
    misses: u32,
    /// The pieces so far, and whether the text contains them.
    known: HashMap<String, bool>,
}

impl<'t> RepeatedText<'t> {
    /// A text before the first search.
    pub(crate) fn of(whole: &'t str) -> Self {
        Self {
            whole,
            at: 0,
            misses: 0,
            known: HashMap::new(),
        }
    }

    /// Whether the text contains a piece. After [`MAX_MISSES`] the answer may be a false no, so that the time is in proportion to text and pieces.
    pub(crate) fn holds(&mut self, piece: &str) -> bool {
        if let Some(known) = self.known.get(piece) {
            return *known;
        }
        let is_found = self.misses < MAX_MISSES && self.seek(piece);
        self.known.insert(piece.to_owned(), is_found);
        is_found
    }

    fn seek(&mut self, piece: &str) -> bool {
        let rest = self.whole.get(self.at..).unwrap_or_default();
        let found = rest.find(piece);
        steps::taken(found.unwrap_or(rest.len()));
        if let Some(found) = found {
            self.at += found;
            return true;
        }
        self.misses += 1;
        self.whole.contains(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_MISSES, RepeatedText};

    #[test]
    fn pieces_are_found_in_any_order_and_again() {
        let mut text = RepeatedText::of("low water at noon, high water at six");
        for piece in ["low", "water", "high water", "noon", "six", "low", ""] {
            assert!(text.holds(piece), "{piece}");
        }
        assert!(!text.holds("seven"));
        assert_eq!(text.misses, 2, "known pieces are not looked for again");
    }

    #[test]
    fn pieces_that_stand_nowhere_are_sought_so_often_and_no_more() {
        let whole = "tide ".repeat(1_000);
        let mut text = RepeatedText::of(&whole);
        assert!((0..10_000).all(|number| !text.holds(&format!("{number}"))));
        assert_eq!(text.misses, MAX_MISSES);
    }
}
