//! Cuts a text into the pieces that are merged one by one: the pre-tokenizer of every encoding, in linear time.
//!
//! Published patterns are scanned by hand; any other pattern runs as a regular expression. Published patterns contain a look-ahead,
//! `\s+(?!\S)`, which would need a backtracking engine. Here that alternative is a separate pattern, plain `\s+`: when it matches and text
//! follows, the run gives its last character back. Everything else is as published, except for possessive quantifiers, which change the
//! effort and not the match.

use regex_automata::meta::{Cache, Regex};
use regex_automata::{Anchored, Input};

use super::part;
use crate::split::classes::Classes;
use crate::split::finder::{Finder, given_back};
use crate::split::scan::Style;

/// A splitter for one family of encodings.
pub(crate) enum Splitter {
    /// A scanner written by hand.
    Scan(Style, &'static Classes),
    /// A regular expression.
    Regex(Box<Regex>),
    /// Several finders, each of which cuts the pieces of the one before; the text between matches is a piece, too.
    Steps(Vec<Finder>),
    /// No cut.
    Whole,
}

/// The cache of a running splitter; no two threads share one.
#[derive(Default)]
pub(crate) struct SplitCache(Option<Cache>);

impl Splitter {
    /// The splitter of a published pattern.
    pub(crate) fn scan(style: Style) -> Self {
        Self::Scan(style, Classes::get())
    }

    /// Calls `piece` with each piece of `text` in order; together they are the text.
    pub(crate) fn each<'t>(&self, cache: &mut SplitCache, text: &'t str, mut piece: impl FnMut(&'t [u8])) {
        if let Self::Steps(finders) = self {
            return each_of_steps(finders, text, &mut piece);
        }
        let mut at = 0;
        while at < text.len() {
            let end = match self {
                Self::Scan(style, classes) => style.end_of_piece(classes, text, at),
                Self::Regex(regex) => {
                    let cache = cache.0.get_or_insert_with(|| regex.create_cache());
                    end_of_match(regex, cache, text, at)
                }
                Self::Steps(_) | Self::Whole => text.len(),
            };
            piece(part(text.as_bytes(), at..end));
            at = end;
        }
    }
}

fn each_of_steps<'t>(finders: &[Finder], text: &'t str, piece: &mut dyn FnMut(&'t [u8])) {
    match finders {
        [] => piece(text.as_bytes()),
        [first, others @ ..] => first.each(text, &mut |range, _| {
            each_of_steps(others, part(text, range), piece);
        }),
    }
}

fn end_of_match(regex: &Regex, cache: &mut Cache, text: &str, at: usize) -> usize {
    let input = Input::new(text).range(at..).anchored(Anchored::Yes);
    // Published patterns cover every character. If another pattern leaves one out, it is a piece.
    let found = regex.search_half_with(cache, &input);
    let Some(found) = found.filter(|found| found.offset() > at) else {
        let first = part(text, at..text.len()).chars().next();
        return at + first.map_or(1, char::len_utf8);
    };
    given_back(text, at..found.offset(), found.pattern())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Splitter {
        /// A pattern that is given without its trailing white-space alternatives.
        pub(crate) fn regex(pattern: &str) -> Self {
            Self::Regex(Box::new(Regex::new_many(&[pattern, r"\s+"]).unwrap()))
        }
    }

    fn pieces(splitter: &Splitter, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        splitter.each(&mut SplitCache::default(), text, |piece| {
            found.push(String::from_utf8(piece.to_vec()).unwrap());
        });
        found
    }

    #[test]
    fn a_run_of_white_space_gives_its_last_character_to_the_word_that_follows() {
        let by_pattern = Splitter::regex(r" ?\w+");
        let by_hand = Splitter::scan(Style::GPT2);
        for splitter in [by_pattern, by_hand] {
            assert_eq!(
                pieces(&splitter, "a   b \u{3000}c  "),
                ["a", "  ", " b", " ", "\u{3000}", "c", "  "]
            );
        }
    }

    #[test]
    fn an_empty_text_has_no_pieces() {
        assert!(pieces(&Splitter::regex(r"\w+"), "").is_empty());
        assert!(pieces(&Splitter::scan(Style::O200K), "").is_empty());
    }

    #[test]
    fn a_character_that_no_alternative_wants_is_a_piece() {
        let splitter = Splitter::regex(r"[a-z]*");
        assert_eq!(pieces(&splitter, "ab1é 2"), ["ab", "1", "é", " ", "2"]);
    }
}
