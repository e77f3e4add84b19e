//! Compares every style with its pattern, on the regular expression engine here and on the reference's.

use proptest::prelude::*;

use super::Style;
use crate::split::splitter::{SplitCache, Splitter};

/// The published patterns, without the white-space alternatives that the splitter adds.
const PATTERNS: [(Style, &str); 5] = [
    (
        Style::O200K,
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+",
        ),
    ),
    (
        Style::CL100K,
        concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]",
        ),
    ),
    (
        Style::LLAMA3,
        concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+",
        ),
    ),
    (
        Style::QWEN,
        concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+",
        ),
    ),
    (
        Style::GPT2,
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+",
    ),
];

/// Characters of every class that some pattern distinguishes, and the letters of contractions.
const CLASSES: [char; 16] = [
    'S', 's', 'א', '\u{301}', '1', ' ', '\t', '\n', '.', '\'', '/', 'ſ', 'l', 'E', 'r', '\u{3000}',
];

struct Pair {
    by_hand: Splitter,
    by_pattern: Splitter,
    style: Style,
}

fn pairs() -> Vec<Pair> {
    let pair = |(style, pattern): (Style, &str)| Pair {
        by_hand: Splitter::scan(style),
        by_pattern: Splitter::regex(pattern),
        style,
    };
    PATTERNS.into_iter().map(pair).collect()
}

impl Pair {
    /// A function that fails if the two differ.
    fn check(&self) -> impl FnMut(&str) {
        let (mut none, mut cache) = (SplitCache::default(), SplitCache::default());
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        move |text| {
            found.clear();
            expected.clear();
            self.by_hand
                .each(&mut none, text, |piece| found.push(piece.len()));
            self.by_pattern
                .each(&mut cache, text, |piece| expected.push(piece.len()));
            assert_eq!(found, expected, "{:?} on {text:?}", self.style);
        }
    }
}

fn each_string(length: usize, check: &mut dyn FnMut(&str)) {
    fn grow(text: &mut String, left: usize, check: &mut dyn FnMut(&str)) {
        if left == 0 {
            return check(text);
        }
        for class in CLASSES {
            text.push(class);
            grow(text, left - 1, check);
            text.pop();
        }
    }
    grow(&mut String::new(), length, check);
}

#[test]
fn every_string_of_up_to_four_classes_is_split_by_hand_as_by_its_pattern() {
    for pair in pairs() {
        let mut check = pair.check();
        for length in 0..=4 {
            each_string(length, &mut check);
        }
    }
}

#[test]
#[ignore = "a minute; run it when a style or a dependency changes"]
fn every_string_of_five_classes_is_split_by_hand_as_by_its_pattern() {
    for pair in pairs() {
        each_string(5, &mut pair.check());
    }
}

/// The tokens that the token counter remembers for a piece hold wherever the piece is.
#[test]
fn a_piece_of_any_text_is_one_piece_when_it_stands_alone() {
    for (style, _) in PATTERNS {
        let splitter = Splitter::scan(style);
        let mut cache = SplitCache::default();
        let mut alone = |piece: &str| {
            let mut pieces = 0;
            splitter.each(&mut cache, piece, |_| pieces += 1);
            pieces
        };
        let mut cache = SplitCache::default();
        let mut check = |text: &str| {
            splitter.each(&mut cache, text, |piece| {
                let piece = std::str::from_utf8(piece).unwrap();
                assert_eq!(alone(piece), 1, "{style:?}: {piece:?} of {text:?}");
            });
        };
        for length in 1..=4 {
            each_string(length, &mut check);
        }
    }
}

/// Compares the tables with those of the pattern: every code point, alone and between others.
#[test]
fn every_character_is_split_by_hand_as_by_its_pattern() {
    for pair in pairs() {
        let mut check = pair.check();
        let mut text = String::new();
        for character in '\0'..=char::MAX {
            text.extend([
                'a', character, 'B', 'b', character, character, ' ', '1', character, '.', character, '\'',
            ]);
            if text.len() > 500 {
                check(&text);
                text.clear();
            }
        }
        check(&text);
    }
}

fn text() -> impl Strategy<Value = String> {
    let classes = proptest::sample::select(CLASSES.to_vec());
    prop_oneof![
        any::<String>(),
        proptest::collection::vec(classes, 0..80).prop_map(String::from_iter),
        "([A-Za-z']|\\PC|\\s){0,80}",
        "([A-Z][a-z]{0,3}|'[a-zA-Z]{1,2}|\\p{Lo}|\\p{M}|\\p{Lt}){0,40}",
    ]
}

proptest! {
    #![proptest_config(chatmill_drawn::law(50))]
    #[test]
    fn any_text_is_split_by_hand_as_by_its_pattern(text in text()) {
        for pair in pairs() {
            pair.check()(&text);
        }
    }
}
