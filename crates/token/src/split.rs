//! Cuts a text into the pieces that are merged one by one: the pre-tokeniser of every encoding, in linear time.
//!
//! The published patterns need a look-ahead, `\s+(?!\S)`, and with it a backtracking engine. Here that alternative is a
//! pattern of its own, plain `\s+`: when it matches and text follows, the run gives its last character back. Everything
//! else is as published, less the possessive marks, which change the effort and not the match.

use regex_automata::meta::{Cache, Regex};
use regex_automata::{Anchored, Input, PatternID};

/// The white space that no other alternative wanted.
const WHITE_SPACE: &str = r"\s+";

/// A splitter for one family of encodings.
pub(crate) struct Splitter {
    regex: Regex,
}

impl Splitter {
    /// Compiles a pattern that is given without its trailing white-space alternatives.
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants and tests compile each of them"
    )]
    pub(crate) fn new(pattern: &str) -> Self {
        Self {
            regex: Regex::new_many(&[pattern, WHITE_SPACE]).expect("the pattern of an encoding compiles"),
        }
    }

    /// Scratch space for searches; no two threads share one.
    pub(crate) fn cache(&self) -> Cache {
        self.regex.create_cache()
    }

    /// Calls `piece` with each piece of `text` in order; together they are the text.
    pub(crate) fn each<'t>(&self, cache: &mut Cache, text: &'t str, mut piece: impl FnMut(&'t [u8])) {
        let mut at = 0;
        while at < text.len() {
            let end = self.end_of_piece(cache, text, at);
            piece(text.as_bytes().get(at..end).unwrap_or_default());
            at = end;
        }
    }

    fn end_of_piece(&self, cache: &mut Cache, text: &str, at: usize) -> usize {
        let input = Input::new(text).range(at..).anchored(Anchored::Yes);
        // Every character is in some alternative, so a match is always found; without one the rest would be one piece.
        let Some(found) = self.regex.search_half_with(cache, &input) else {
            return text.len();
        };
        let end = found.offset();
        if found.pattern() == PatternID::ZERO || end == text.len() {
            return end;
        }
        let last = text.get(at..end).and_then(|run| run.chars().next_back());
        let shorter = end - last.map_or(0, char::len_utf8);
        if shorter > at { shorter } else { end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(pattern: &str, text: &str) -> Vec<String> {
        let splitter = Splitter::new(pattern);
        let mut found = Vec::new();
        splitter.each(&mut splitter.cache(), text, |piece| {
            found.push(String::from_utf8(piece.to_vec()).unwrap());
        });
        found
    }

    #[test]
    fn a_run_of_white_space_gives_its_last_character_to_the_word_that_follows() {
        assert_eq!(
            pieces(r" ?\w+", "a   b \u{3000}c  "),
            ["a", "  ", " b", " ", "\u{3000}", "c", "  "]
        );
    }

    #[test]
    fn an_empty_text_has_no_pieces() {
        assert!(pieces(r"\w+", "").is_empty());
    }
}
