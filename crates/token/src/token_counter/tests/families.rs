//! Compares the families of patterns, and other patterns, with tiktoken-rs: with a small vocabulary in which tokens cross every boundary,
//! and with a large one.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::{each_string_of_classes, reference_tokens, spans_over, text};
use crate::encoding::custom_encoding::tests::small;
use crate::files::ranks::tests::{lines, rank_file};
use crate::split::join_points::JoinPoints;
use crate::split::patterns::FAMILIES;
use crate::split::splitter::SplitCache;
use crate::split::sync::{BoundaryClasses, SyncPoints};
use crate::{ENCODINGS, Encoding, TokenCounter};

/// A pattern of no family, with the usual tail; digits come in twos, and contractions are not pieces.
const OWN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

/// A pattern without that tail.
const PLAIN: &str = r"\w+|\s+|[^\w\s]";

fn our_tokens(encoding: &Encoding, text: &str) -> Vec<usize> {
    let mut tokens = Vec::new();
    let tables = encoding.tables().unwrap();
    tables.each_token(text, |bytes| tokens.push(bytes));
    tokens
}

fn assert_counted_alike(encoding: &Encoding, text: &str) {
    let reference = encoding.reference();
    let differential = reference_tokens(reference.core_bpe().unwrap(), text);
    assert_eq!(
        our_tokens(encoding, text),
        differential,
        "{} on {text:?}",
        encoding.about().source
    );
}

/// The small vocabulary cut by every family and by two other patterns.
static SMALL: LazyLock<Vec<Encoding>> = LazyLock::new(|| {
    let families = FAMILIES.iter().map(|family| family.name);
    families.chain([OWN, PLAIN]).map(small).collect()
});

/// Checks that a text that is cut at the places of its family has the same pieces as the whole, and so the same tokens in any vocabulary.
pub(super) fn assert_parts_have_the_pieces_of_the_whole(
    encoding: &Encoding,
    points: &SyncPoints,
    text: &str,
) {
    let splitter = &encoding.tables().unwrap().splitter;
    let mut cache = SplitCache::default();
    let mut pieces = |text: &str| {
        let mut pieces = Vec::new();
        splitter.each(&mut cache, text, |piece| pieces.push(piece.len()));
        pieces
    };
    let (mut parts, mut from) = (Vec::new(), 0);
    points.each_end(text, |end| {
        parts.extend(pieces(text.get(from..end).unwrap()));
        from = end;
    });
    assert_eq!(parts, pieces(text), "{} on {text:?}", encoding.about().source);
}

fn check_cuts(lengths: std::ops::RangeInclusive<usize>) {
    for family in FAMILIES {
        let encoding = small(family.name);
        let tables = encoding.tables().unwrap();
        let points = SyncPoints::new(tables.boundaries, JoinPoints::default());
        for length in lengths.clone() {
            each_string_of_classes(length, &mut |text| {
                assert_parts_have_the_pieces_of_the_whole(&encoding, &points, text);
            });
        }
    }
}

#[test]
fn every_short_string_of_classes_is_cut_as_the_reference_cuts_it() {
    for encoding in SMALL.iter() {
        for length in 0..=3 {
            each_string_of_classes(length, &mut |text| assert_counted_alike(encoding, text));
        }
    }
}

#[test]
fn every_string_of_up_to_four_classes_may_be_cut_where_its_family_says() {
    check_cuts(0..=4);
}

#[test]
#[ignore = "a minute; run it when a pattern or a table changes"]
fn every_string_of_five_classes_may_be_cut_where_its_family_says() {
    check_cuts(5..=5);
}

#[test]
fn between_two_digits_only_qwen_has_a_boundary() {
    for family in FAMILIES {
        let encoding = small(family.name);
        let tables = encoding.tables().unwrap();
        let points = SyncPoints::new(tables.boundaries, JoinPoints::default());
        let mut ends = Vec::new();
        points.each_end("a12", |end| ends.push(end));
        let expected: &[usize] = if family.name == "qwen" {
            &[1, 2, 3]
        } else {
            &[1, 3]
        };
        assert_eq!(ends, expected, "{}", family.name);
    }
}

#[test]
fn storms_of_one_sign_are_counted_in_time_and_as_the_reference_counts_shorter_ones() {
    for encoding in SMALL.iter() {
        for unit in [" ", "\n", " \n", "a", "'", "1", "é "] {
            assert_counted_alike(encoding, &unit.repeat(3_000));
            let storm = format!("{}x", unit.repeat(300_000));
            assert!(encoding.counter().count(&storm) > 0);
        }
    }
}

#[test]
fn the_vocabulary_of_cl100k_may_be_cut_by_any_family() {
    let reference = tiktoken_rs::cl100k_base_singleton();
    let bytes_of = |rank| reference.decode_bytes(&[rank]).unwrap();
    let ranks = lines((0..100_256).map(|rank| (rank, bytes_of(rank))));
    for family in FAMILIES {
        let encoding = Encoding::from_ranks("large", &ranks, family.name).unwrap();
        for text in [
            "It's 12345 o'clock.\n\n  Привіт, світе! <|endoftext|>",
            "don't WE'LL  \n \n x  \r\n\t1234567 ½½½ \u{301}e\u{301}",
            "会议推迟到下周三。 1️⃣ 👩‍👩‍👧‍👦   ",
        ] {
            assert_counted_alike(&encoding, text);
        }
    }
}

/// No merges lead to this token: it exists as a whole piece, but not next to other letters.
#[test]
fn a_token_that_only_whole_pieces_are_is_none_within_a_word() {
    let token = "中文";
    let ranks = rank_file(&[token.as_bytes(), "本".as_bytes()]);
    let encoding = Encoding::from_ranks("whole", &ranks, "llama3").unwrap();
    let mut counter = TokenCounter::new(std::slice::from_ref(&encoding));
    for text in ["中文", "本中文", "中文本", "本中文本", "本 中文本", "中文1"] {
        assert_counted_alike(&encoding, text);
        assert_eq!(
            Some(counter.count(text)[0]),
            encoding.reference().count(text),
            "{text}"
        );
    }
}

proptest! {
    #![proptest_config(chatmill_drawn::law(64))]

    #[test]
    fn any_text_is_cut_as_the_reference_cuts_it(text in text()) {
        for encoding in SMALL.iter() {
            assert_counted_alike(encoding, &text);
        }
    }

    #[test]
    fn a_token_counter_counts_registered_and_own_encodings_side_by_side(
        texts in proptest::collection::vec(
            text().prop_flat_map(|text| { let bytes = text.len(); (Just(text), spans_over(bytes)) }),
            1..4,
        ),
    ) {
        let mut all = SMALL.clone();
        all.insert(1, ENCODINGS[0].clone());
        all.push(ENCODINGS[2].clone());
        let mut counter = TokenCounter::new(&all);
        for (text, spans) in texts.iter().chain(&texts) {
            let counts_by_encoding = counter.token_counts(text, spans);
            prop_assert_eq!(counts_by_encoding.len(), all.len());
            for (encoding, token_counts) in all.iter().zip(counts_by_encoding) {
                prop_assert_eq!(token_counts, encoding.counter().token_counts(text, spans), "{}", encoding.about().source);
            }
        }
    }
}

#[test]
fn a_pattern_of_ones_own_has_no_boundaries() {
    for pattern in [OWN, PLAIN] {
        assert!(small(pattern).tables().unwrap().boundaries == BoundaryClasses::NONE);
    }
}
