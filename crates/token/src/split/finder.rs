//! Searches texts for the parts that a step changes or cuts.

use std::ops::Range;

use regex_automata::meta::Regex;
use regex_automata::{Input, PatternID};

use crate::split::classes::Classes;
use crate::split::part;
use crate::split::scan::Style;

/// A thing to search for.
pub(crate) enum Finder {
    /// This text.
    Text(String),
    /// A regular expression. If there are two patterns, the second is the white space that gives its last character back.
    Regex(Box<Regex>),
    /// The pieces of a known family.
    Family(Style),
    /// Single characters for which this is true.
    Character(fn(char) -> bool),
}

/// The end of a match. White space, the second of two patterns, gives its last character back if text follows.
pub(crate) fn given_back(text: &str, found: Range<usize>, pattern: PatternID) -> usize {
    let end = found.end;
    if pattern == PatternID::ZERO || end == text.len() {
        return end;
    }
    let last = part(text, found.clone()).chars().next_back();
    let shorter = end - last.map_or(0, char::len_utf8);
    if shorter > found.start { shorter } else { end }
}

impl Finder {
    /// Calls `found` with each match and with the text between matches, in order; together they are the text.
    pub(crate) fn each(&self, text: &str, found: &mut dyn FnMut(Range<usize>, bool)) {
        let mut at = 0;
        let mut matched = |range: Range<usize>| {
            if range.start > at {
                found(at..range.start, false);
            }
            at = range.end;
            found(range, true);
        };
        match self {
            Self::Text(words) => {
                for (start, words) in text.match_indices(words.as_str()) {
                    matched(start..start + words.len());
                }
            }
            Self::Regex(regex) => {
                let mut from = 0;
                while let Some(found) = regex.search(&Input::new(text).range(from..)) {
                    from = given_back(text, found.range(), found.pattern());
                    matched(found.start()..from);
                }
            }
            Self::Family(style) => {
                let mut start = 0;
                while start < text.len() {
                    let end = style.end_of_piece(Classes::get(), text, start);
                    matched(start..end);
                    start = end;
                }
            }
            Self::Character(is_one) => {
                for (start, character) in text.char_indices() {
                    if is_one(character) {
                        matched(start..start + character.len_utf8());
                    }
                }
            }
        }
        if at < text.len() {
            found(at..text.len(), false);
        }
    }
}
