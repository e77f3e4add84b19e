//! Compares tokenizer files of each family with the counts of Python, and every way to count them with the others.
//!
//! The files are samples with small vocabularies that `.ci/vocabularies/families.py` trained.
#![allow(clippy::disallowed_methods, reason = "tests read their fixtures")]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::vocabularies::{differences, names_before};
use super::{each_string_of, spans_over, text};
use crate::encoding::custom_encoding::tests::from_tokenizer;
use crate::split::join_points::JoinPoints;
use crate::split::patterns::{DEEPSEEK, TEKKEN};
use crate::split::sync::{BoundaryClasses, SyncPoints};
use crate::{Counting, Encoding, TokenCounter};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/tokenizers")
}

/// The samples by name.
pub(super) static FILES: LazyLock<Vec<(String, Encoding)>> = LazyLock::new(|| {
    let read = |name: String| {
        let file = std::fs::read(samples().join(format!("{name}.tokenizer.json")))
            .or_else(|_| std::fs::read(samples().join(format!("{name}.model"))));
        let encoding = Encoding::from_tokenizer(&name, file.unwrap()).unwrap();
        (name, encoding)
    };
    names_before(&samples(), ".counts")
        .into_iter()
        .map(read)
        .collect()
});

#[test]
fn samples_of_families_count_as_python_counted_them() {
    let texts = std::fs::read_to_string(samples().join("texts.jsonl")).unwrap();
    let texts: Vec<String> = texts
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(FILES.len(), 21);
    for (name, _) in FILES.iter() {
        assert_eq!(differences(&samples(), name, &texts), 0, "{name}");
    }
}

#[test]
fn only_families_that_change_or_divide_texts_are_counted_whole() {
    let whole: Vec<&str> = FILES
        .iter()
        .filter(|(_, encoding)| encoding.about().counting == Counting::Whole)
        .map(|(name, _)| name.as_str())
        .collect();
    let expected = [
        "falcon",
        "internlm",
        "lowercase",
        "metaspace_cut",
        "pieces_unknown",
        "whole_blanks",
    ];
    assert_eq!(whole, expected);
}

/// Whether no character of a text is younger than the tables with which the `tokenizers` crate normalises; younger ones are mostly in these
/// blocks.
fn is_old(text: &str) -> bool {
    let is_old =
        |character| matches!(character, '\0'..='\u{85f}' | '\u{900}'..='\u{9fff}' | '\u{ac00}'..='\u{ffff}');
    text.chars().all(is_old)
}

/// A text that every normalizer changes.
fn changing() -> impl Strategy<Value = String> {
    prop_oneof![
        text(),
        "([a-e ]|e\u{301}|q\u{307}\u{323}|\u{fb01}|\u{1112}\u{1161}\u{11ab}|\u{2581}|\u{212b}|é|中|[0-9]|\n){0,40}",
    ]
}

proptest! {
    #![proptest_config(chatmill_drawn::law(64))]

    #[test]
    fn every_way_to_count_a_tokenizer_file_gives_the_same(
        texts in proptest::collection::vec(
            changing().prop_flat_map(|text| { let bytes = text.len(); (Just(text), spans_over(bytes), 0..4_usize) }),
            1..4,
        ),
    ) {
        let all: Vec<Encoding> = FILES.iter().map(|(_, encoding)| encoding.clone()).collect();
        let mut counter = TokenCounter::new(&all);
        for (text, spans, control) in texts.iter().chain(&texts) {
            let mut spans = spans.clone();
            spans.retain(|span| text.is_char_boundary(span.end));
            if let Some(span) = spans.get_mut(*control) {
                span.control = true;
            }
            for (encoding, token_counts) in all.iter().zip(counter.token_counts(text, &spans)) {
                let whole = encoding.counter().token_counts(text, &spans);
                prop_assert_eq!(token_counts, whole, "{} on {:?}", encoding.name(), text);
                prop_assert_eq!(token_counts.parts.total(), token_counts.tokens);
                let judged = encoding.reference().tokens(text, &spans);
                if !cfg!(feature = "tokenizers") || is_old(text) {
                    prop_assert_eq!(judged, Some(token_counts.tokens), "{} on {:?}", encoding.name(), text);
                }
                let judged = encoding.reference_counter().token_counts(text, &spans);
                prop_assert_eq!(judged, whole, "{} on {:?}", encoding.name(), text);
            }
        }
    }
}

/// A text that is cut at all places that no token crosses has the same tokens as the whole.
#[test]
fn texts_without_pieces_may_be_cut_between_what_no_token_holds() {
    let (_, gemma) = FILES.iter().find(|(name, _)| name == "gemma").unwrap();
    let points = SyncPoints::of_neighbours(gemma.tables().unwrap().vocabulary.join_points.clone());
    let (reference, mut cuts) = (gemma.reference(), 0);
    let signs = [
        ' ', '\u{2581}', 'e', 't', 'h', 'n', '\n', '1', '\u{301}', '中', '😀', 'ж',
    ];
    for length in 1..=4 {
        each_string_of(&signs, length, &mut |text| {
            let (mut from, mut parts) = (0, 0);
            points.each_end(text, |end| {
                parts += reference.count(text.get(from..end).unwrap()).unwrap();
                cuts += usize::from(end < text.len());
                from = end;
            });
            assert_eq!(reference.count(text), Some(parts), "{text:?}");
        });
    }
    assert!(cuts > 10_000, "{cuts} cuts");
}

/// For families that cut step by step, pieces are the same where every text may be cut; [`families`](super::families) tests the others.
#[test]
fn texts_may_be_cut_where_the_families_of_tokenizer_files_say() {
    assert_families_cut(1..=3);
}

#[test]
#[ignore = "seconds; run it when a step, a table or a dependency changes"]
fn longer_texts_may_be_cut_where_the_families_of_tokenizer_files_say() {
    assert_families_cut(4..=4);
}

fn assert_families_cut(lengths: std::ops::RangeInclusive<usize>) {
    let bytes = |split: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": split});
    let cut = |pattern: &str| json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
    let steps = |steps: Vec<Value>| json!({"type": "Sequence", "pretokenizers": steps});
    let digits = json!({"type": "Digits", "individual_digits": true});
    let deepseek = DEEPSEEK.map(cut).into_iter().chain([bytes(false)]);
    let signs = [
        'e', 'S', 'א', 'ʰ', '\u{301}', '1', '½', ' ', '\t', '\n', '\u{3000}', '.', '\'', '/', '€', '\u{1}',
        '中', 'あ',
    ];
    for (family, boundaries) in [
        (steps(vec![cut(TEKKEN), bytes(false)]), BoundaryClasses::QWEN),
        (steps(deepseek.collect()), BoundaryClasses::MODERN),
        (steps(vec![digits, bytes(true)]), BoundaryClasses::GPT2_DIGITS),
    ] {
        let encoding = from_tokenizer(&family);
        let tables = encoding.tables().unwrap();
        assert_eq!(tables.boundaries, boundaries, "{family}");
        let points = SyncPoints::new(boundaries, JoinPoints::default());
        for length in lengths.clone() {
            each_string_of(&signs, length, &mut |text| {
                super::families::assert_parts_have_the_pieces_of_the_whole(&encoding, &points, text);
            });
        }
    }
}

#[test]
fn storms_of_one_sign_are_counted_by_tokenizer_files() {
    assert_storms_counted(50_000);
}

#[test]
#[ignore = "seconds; run it when a step, a table or a dependency changes"]
fn storms_of_a_megabyte_are_counted_by_tokenizer_files() {
    assert_storms_counted(1_000_000);
}

fn assert_storms_counted(bytes: usize) {
    for (name, encoding) in FILES.iter() {
        for unit in [" ", "\n", "a", "1", "e\u{301}", "\u{301}", "中", "\u{10fffd}"] {
            let short = unit.repeat(300);
            let expected = encoding.reference().count(&short);
            assert_eq!(
                Some(encoding.counter().count(&short)),
                expected,
                "{name} {unit:?}"
            );
            let storm = unit.repeat(bytes / unit.len());
            let tokens = encoding.counter().count(&storm);
            let mut counter = TokenCounter::new(std::slice::from_ref(encoding));
            assert_eq!(counter.count(&storm), [tokens], "{name} {unit:?}");
        }
    }
}

/// As in Python: a space is added before every text, or before the first one only.
#[test]
fn a_text_behind_a_control_token_is_a_text_of_its_own() {
    let tokens = |name: &str, text: &str, control: std::ops::Range<usize>| {
        let (_, encoding) = FILES.iter().find(|(other, _)| other == name).unwrap();
        let span = |end, control| chatmill_model::ComponentSpan {
            end,
            control,
            ..crate::counter::AFTER_LAST_SPAN
        };
        let spans = [
            span(control.start, false),
            span(control.end, true),
            span(text.len(), false),
        ];
        let token_counts = encoding.counter().token_counts(text, &spans);
        assert_eq!(
            encoding.reference().tokens(text, &spans),
            Some(token_counts.tokens)
        );
        token_counts.tokens
    };
    // The sign alone is a token before a character that has none.
    for (name, both) in [
        ("llama_2", 4 + 1 + 4),
        ("mistral", 4 + 1 + 3),
        ("gemma", 3 + 1 + 3),
    ] {
        assert_eq!(tokens(name, "ꙮ<s>ꙮ", 3..6), both, "{name}");
    }
}
