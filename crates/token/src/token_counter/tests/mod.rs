//! Compares every counter with tiktoken-rs: not only the number of tokens, but the tokens themselves.

mod families;
mod sunk;
mod synced;
mod texts;
mod tokenizer_files;
mod unicode;
mod vocabularies;

use std::time::{Duration, Instant};

use chatmill_model::span::{Component, ComponentSpan, Speaker};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

use super::*;
use crate::encoding::reference::judge as reference;
use crate::{ENCODINGS, find};

impl TokenCounter {
    /// The most bytes that long texts use in any memory now.
    pub(crate) fn remembered(&self) -> usize {
        let bytes = |batch: &Batch| batch.insides.bytes().max(batch.counter.remembered());
        self.batches.iter().map(bytes).max().unwrap_or_default()
    }
}

/// One or two characters of every class that some pattern distinguishes.
const CLASSES: [char; 17] = [
    'e', 'S', 'א', 'ǅ', 'ʰ', '\u{301}', '1', '½', ' ', '\t', '\n', '\r', '\u{3000}', '.', '\'', '/', 'ſ',
];

fn reference_tokens(reference: &CoreBPE, text: &str) -> Vec<usize> {
    let tokens = reference.encode_ordinary(text);
    tokens
        .into_iter()
        .map(|token| reference.decode_bytes(&[token]).unwrap().len())
        .collect()
}

fn our_tokens(encoding: &str, text: &str) -> Vec<usize> {
    let mut tokens = Vec::new();
    find(encoding)
        .unwrap()
        .tables()
        .unwrap()
        .each_token(text, |bytes| tokens.push(bytes));
    tokens
}

fn assert_counted_alike(text: &str) {
    for encoding in ENCODINGS {
        let name = encoding.name();
        assert_eq!(
            our_tokens(name, text),
            reference_tokens(reference(name), text),
            "{name} on {text:?}"
        );
    }
}

fn each_string_of_classes(length: usize, check: &mut dyn FnMut(&str)) {
    each_string_of(&CLASSES, length, check);
}

fn each_string_of(classes: &[char], length: usize, check: &mut dyn FnMut(&str)) {
    fn grow(classes: &[char], text: &mut String, left: usize, check: &mut dyn FnMut(&str)) {
        if left == 0 {
            return check(text);
        }
        for class in classes {
            text.push(*class);
            grow(classes, text, left - 1, check);
            text.pop();
        }
    }
    grow(classes, &mut String::new(), length, check);
}

#[test]
fn every_short_string_of_every_class_is_cut_as_the_reference_cuts_it() {
    for length in 0..=3 {
        each_string_of_classes(length, &mut assert_counted_alike);
    }
}

#[test]
#[ignore = "a minute; run it when a pattern or a dependency changes"]
fn every_string_of_five_classes_is_cut_as_the_reference_cuts_it() {
    for length in 4..=5 {
        each_string_of_classes(length, &mut |text| {
            for name in ["o200k_base", "cl100k_base", "r50k_base"] {
                assert_eq!(
                    our_tokens(name, text),
                    reference_tokens(reference(name), text),
                    "{name} on {text:?}"
                );
            }
        });
    }
}

#[test]
fn text_that_looks_like_a_special_token_is_counted_as_text() {
    for text in [
        "<|endoftext|>",
        "a<|im_start|>user\n<|im_end|>b",
        "<|start|>assistant<|channel|>final<|message|>hi<|return|>",
        "<|fim_prefix|><|fim_middle|><|fim_suffix|><|endofprompt|>",
        "<|reserved_200013|>",
    ] {
        assert_counted_alike(text);
    }
    assert_eq!(find("cl100k_base").unwrap().counter().count("<|endoftext|>"), 7);
}

#[test]
fn everyday_texts_are_cut_as_the_reference_cuts_them() {
    for text in [
        "Don't we'LL HE'S i\u{2019}m 'tis rock'n'roll",
        "fn main() {\r\n\tprintln!(\"{:?}\", x);\r\n}\r\n\r\n\r\n// end  \n",
        "Привіт, як справи? Зустріч о 15:30 — не спізнюйся!",
        "会议推迟到下周三。请大家更新日程,谢谢!",
        "مرحبا بالعالم שלום עולם नमस्ते दुनिया สวัสดี",
        "👩‍👩‍👧‍👦🏳️‍🌈 ok 👍🏽 1️⃣",
        "camelCaseHTTPServer2 snake_case SCREAMING_CASE kebab-case",
        "https://example.org/a/b?c=d&e=f#g //// \n/ \n//",
        "3.14159 1234567890 ½ ² Ⅷ ٣٤٥",
        "{\"role\":\"user\",\"content\":\"line\\nbreak \\\"quoted\\\"\"}",
        "    \u{a0}\u{2003}\u{3000}x   \n\n   y\u{85}z\u{2028}",
        "e\u{301}a\u{300}\u{301} !\u{301}\n \u{301} 1\u{301}",
    ] {
        assert_counted_alike(text);
    }
}

#[test]
fn long_runs_are_cut_as_the_reference_cuts_them() {
    for unit in [
        "a", "A", "aB", " ", "\n", " \n", "\u{a0}", "中", "的话", "1", "!", "!/", "😀", "A\u{301}", "'s", "=",
    ] {
        for tail in ["", "x", " x", "\n", "\n x", "1", "."] {
            assert_counted_alike(&format!("{}{tail}", unit.repeat(3_000 / unit.len())));
        }
    }
}

/// Texts of this many bytes that are one long piece, or would be.
fn hostile(bytes: usize) -> Vec<String> {
    let letters = |seed: u64, first: u8| {
        let mut state = seed;
        let next = std::iter::repeat_with(move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(first + (state >> 33) as u8 % 26)
        });
        next.take(bytes).collect::<String>()
    };
    let mut texts = vec![letters(1, b'a'), letters(2, b'A')];
    for unit in [" ", "A", "中", "="] {
        texts.push(format!("{}x", unit.repeat(bytes / unit.len())));
    }
    texts
}

#[test]
fn hostile_texts_are_counted_as_the_reference_counts_them() {
    for text in hostile(8_000) {
        for encoding in ["o200k_base", "cl100k_base"] {
            let counter = find(encoding).unwrap().counter();
            let expected = reference(encoding).encode_ordinary(&text).len() as u64;
            assert_eq!(counter.count(&text), expected, "{encoding}");
        }
    }
}

#[test]
#[ignore = "by the clock, on a machine that does nothing else: `just in-time`"]
fn a_hostile_megabyte_is_counted_in_time() {
    for encoding in ["o200k_base", "cl100k_base"] {
        let counter = find(encoding).unwrap().counter();
        for text in &hostile(1_000_000) {
            let begin = Instant::now();
            assert!(counter.count(text) > 0);
            let took = begin.elapsed();
            let start: String = text.chars().take(8).collect();
            assert!(
                took < Duration::from_secs(2),
                "{encoding} took {took:?} for {start:?}…"
            );
        }
    }
}

/// The reference gives up on such runs, so their tokens are compared with ten shorter runs that meet at the end of a token.
#[test]
fn a_run_of_white_space_that_the_reference_cannot_take_has_the_tokens_of_its_tenths() {
    let spaces = |count: usize| " ".repeat(count);
    for encoding in ["o200k_base", "cl100k_base"] {
        let counter = find(encoding).unwrap().counter();
        let ten_runs = 10 * reference(encoding).encode_ordinary(&spaces(32_000)).len() as u64;
        let word = reference(encoding).encode_ordinary(" x").len() as u64;
        assert_eq!(counter.count(&spaces(320_000)), ten_runs, "{encoding}");
        let before_word = format!("{}x", spaces(320_001));
        assert_eq!(counter.count(&before_word), ten_runs + word, "{encoding}");
        let line = format!("{}\n", spaces(320_000));
        let both = format!("{line}{before_word}");
        assert_eq!(
            counter.count(&both),
            counter.count(&line) + ten_runs + word,
            "{encoding}"
        );
    }
}

fn text() -> impl Strategy<Value = String> {
    let classes = proptest::sample::select(CLASSES.to_vec());
    prop_oneof![
        any::<String>(),
        proptest::collection::vec(classes, 0..60).prop_map(String::from_iter),
        "[a-zA-Z '\\n]{0,120}",
        "([一-龥]|[а-яї]| |\\PC){0,60}",
        "(<\\|[a-z_]{1,12}\\|>| |\\n|[a-z]{1,5}){0,20}",
    ]
}

fn spans_over(bytes: usize) -> impl Strategy<Value = Vec<ComponentSpan>> {
    let component = proptest::sample::select(&Component::ALL);
    let speaker = proptest::sample::select(vec![Speaker::Other, Speaker::Perspective]);
    proptest::collection::vec((0..=bytes, component, speaker, 0..4_u32), 0..12).prop_map(|mut spans| {
        spans.sort_by_key(|(end, ..)| *end);
        let span = |(end, component, speaker, requests)| ComponentSpan {
            end,
            component,
            speaker,
            control: false,
            requests,
            written: false,
            answer: None,
        };
        spans.into_iter().map(span).collect()
    })
}

proptest! {
    #![proptest_config(chatmill_drawn::law(64))]

    #[test]
    fn any_text_is_cut_as_the_reference_cuts_it(text in text()) {
        assert_counted_alike(&text);
    }

    #[test]
    fn the_parts_of_token_counts_add_up_to_the_reference_count(
        (text, spans) in text().prop_flat_map(|text| { let bytes = text.len(); (Just(text), spans_over(bytes)) }),
    ) {
        for encoding in ENCODINGS {
            let counter = encoding.counter();
            let token_counts = counter.token_counts(&text, &spans);
            prop_assert_eq!(encoding.reference().tokens(&text, &spans), Some(token_counts.tokens));
            let lengths = reference_tokens(reference(encoding.name()), &text);
            prop_assert_eq!(token_counts.tokens, lengths.len() as u64);
            prop_assert_eq!(token_counts.tokens, counter.count(&text));
            prop_assert_eq!(token_counts.parts.total(), token_counts.tokens);

            let (mut assistant_content, mut sent) = (0, 0);
            let mut at = 0;
            for bytes in lengths {
                let span = spans.iter().find(|span| span.end > at);
                if span.is_some_and(|span| span.component == Component::Content && span.speaker == Speaker::Perspective) {
                    assistant_content += 1;
                }
                sent += span.map_or(0, |span| u64::from(span.requests));
                at += bytes;
            }
            prop_assert_eq!((token_counts.assistant_content, token_counts.sent), (assistant_content, sent));
            prop_assert!(token_counts.assistant_content <= token_counts.parts.content);
        }
    }

    #[test]
    fn control_tokens_are_one_each_and_cut_the_text(
        parts in proptest::collection::vec(text(), 1..6),
    ) {
        let (mut whole, mut spans) = (String::new(), Vec::new());
        for (index, fragment) in parts.iter().enumerate() {
            for (text, control) in [("<|im_start|>", true), (fragment.as_str(), false)] {
                if control && index == 0 || text.is_empty() {
                    continue;
                }
                whole.push_str(text);
                spans.push(ComponentSpan {
                    end: whole.len(),
                    component: Component::Framing,
                    speaker: Speaker::Other,
                    control,
                    requests: 0,
                    written: false,
                    answer: None,
                });
            }
        }
        for encoding in ENCODINGS {
            let counter = encoding.counter();
            let ordinary: u64 = parts.iter().map(|fragment| counter.count(fragment)).sum();
            let expected = ordinary + parts.len() as u64 - 1;
            let token_counts = counter.token_counts(&whole, &spans);
            prop_assert_eq!(token_counts.tokens, expected);
            prop_assert_eq!(token_counts.parts.total(), expected);
            prop_assert_eq!(encoding.reference().tokens(&whole, &spans), Some(expected));
        }
    }
}
