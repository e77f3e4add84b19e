//! Compares sync points and the counter with tiktoken-rs: a text that is cut at any allowed place has the same tokens.

use std::collections::BTreeSet;

use chatmill_model::span::{Component, ComponentSpan, Speaker};
use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::texts::Texts;
use super::{each_string_of, spans_over, text};
use crate::split::join_points::JoinPoints;
use crate::split::sync::{BoundaryClasses, SyncPoints};
use crate::{ENCODINGS, Encoding, ReferenceTokenizer, TokenCounter, find};

const MODERN: [&str; 2] = ["o200k_base", "cl100k_base"];
const GPT2: [&str; 2] = ["r50k_base", "p50k_base"];

/// The common sync points of these encodings.
fn points(boundaries: BoundaryClasses, names: &[&str]) -> SyncPoints {
    let join_points = |name: &&str| &find(name).unwrap().tables().unwrap().vocabulary.join_points;
    let all = names.iter().map(join_points);
    SyncPoints::new(boundaries, all.fold(JoinPoints::of_no_token(), JoinPoints::and))
}

/// Sync points and the encodings that have them, with all answers of the reference so far, since short parts repeat.
struct Court {
    points: SyncPoints,
    references: Vec<(&'static str, ReferenceTokenizer, FxHashMap<String, u64>)>,
    cuts: u64,
}

impl Court {
    fn new(boundaries: BoundaryClasses, names: &[&'static str]) -> Self {
        let reference = |name: &&'static str| (*name, find(name).unwrap().reference(), FxHashMap::default());
        Self {
            points: points(boundaries, names),
            references: names.iter().map(reference).collect(),
            cuts: 0,
        }
    }

    /// Checks that a text that is cut at every sync point has the same tokens as the whole.
    fn assert_parts_add_up(&mut self, text: &str) {
        let mut ends = Vec::new();
        self.points.each_end(text, |end| ends.push(end));
        if ends.len() < 2 {
            return;
        }
        self.cuts += ends.len() as u64 - 1;
        for (name, reference, known) in &mut self.references {
            let whole = reference.count(text);
            let mut from = 0;
            let mut parts = 0;
            for end in &ends {
                let part = text.get(from..*end).unwrap();
                from = *end;
                parts += known.get(part).copied().unwrap_or_else(|| {
                    let count = reference.count(part).unwrap();
                    if part.len() < 24 && known.len() < 1_000_000 {
                        known.insert(part.to_owned(), count);
                    }
                    count
                });
            }
            assert_eq!(whole, Some(parts), "{name} on {text:?} cut at {ends:?}");
        }
    }
}

/// A character of every class that sync points distinguish, and three that patterns treat specially.
const CLASSES: [char; 13] = [
    'e', 'R', 'א', '\u{301}', '1', ' ', '\t', '\n', '.', '\'', '/', 's', 'ſ',
];

fn check_every_string(lengths: std::ops::RangeInclusive<usize>) {
    let mut modern = Court::new(BoundaryClasses::MODERN, &MODERN);
    let mut gpt2 = Court::new(BoundaryClasses::GPT2, &["r50k_base"]);
    for length in lengths {
        each_string_of(&CLASSES, length, &mut |text| {
            modern.assert_parts_add_up(text);
            gpt2.assert_parts_add_up(text);
        });
    }
}

#[test]
fn every_string_of_up_to_four_classes_may_be_cut_at_its_sync_points() {
    check_every_string(0..=4);
}

#[test]
#[ignore = "minutes; run it when a pattern, a table or a dependency changes"]
fn every_string_of_five_and_six_classes_may_be_cut_at_its_sync_points() {
    check_every_string(5..=6);
}

/// Cuts texts of all kinds at allowed places, until there have been `cuts` cuts.
fn check_random_cuts(cuts: u64) {
    let mut texts = Texts::new();
    let mut modern = Court::new(BoundaryClasses::MODERN, &MODERN);
    let mut all = Court::new(
        BoundaryClasses::MODERN.both(BoundaryClasses::GPT2),
        &[MODERN, GPT2].concat(),
    );
    while modern.cuts < cuts {
        let parts = 1 + texts.below(40);
        let text = texts.next(parts);
        modern.assert_parts_add_up(&text);
        if texts.below(4) == 0 {
            all.assert_parts_add_up(&text);
        }
    }
}

#[test]
fn texts_of_all_kinds_may_be_cut_at_their_sync_points() {
    check_random_cuts(u64::from(chatmill_drawn::cases(10_000)));
}

#[test]
#[ignore = "minutes; run it when a pattern, a table or a dependency changes"]
fn ten_million_cuts_change_no_count() {
    check_random_cuts(10_000_000);
}

/// Counts texts of all kinds with one counter until its memories fill and are discarded, and compares with the reference.
fn check_counts(texts: usize) {
    let mut random = Texts::new();
    let mut counter = TokenCounter::new(ENCODINGS);
    let mut last: Vec<String> = Vec::new();
    for _ in 0..texts {
        let parts = 1 + random.below(120);
        // Every second text is an earlier one in another envelope.
        let text = match random.below(2) {
            0 if !last.is_empty() => {
                let at = random.below(last.len());
                let (before, after) = (random.next(1), random.next(1));
                format!("{before}{}{after}", last[at])
            }
            _ => random.next(parts),
        };
        let mut spans: Vec<ComponentSpan> = Vec::new();
        let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for _ in 0..random.below(4) {
            if !boundaries.is_empty() {
                spans.push(ComponentSpan {
                    end: boundaries[random.below(boundaries.len())],
                    component: [Component::Framing, Component::Content][random.below(2)],
                    speaker: Speaker::Other,
                    control: false,
                    requests: 1,
                    written: false,
                    answer: None,
                });
            }
        }
        spans.sort_by_key(|span| span.end);
        for (encoding, token_counts) in ENCODINGS.iter().zip(counter.token_counts(&text, &spans)) {
            assert_eq!(
                Some(token_counts.tokens),
                encoding.reference().count(&text),
                "{} on {text:?}",
                encoding.name()
            );
            assert_eq!(
                token_counts,
                encoding.counter().token_counts(&text, &spans),
                "{} on {text:?}",
                encoding.name()
            );
        }
        if last.len() < 64 {
            last.push(text);
        } else {
            let at = random.below(64);
            last[at] = text;
        }
    }
}

#[test]
fn texts_of_all_kinds_are_counted_as_the_reference_counts_them() {
    check_counts(1_500);
}

#[test]
#[ignore = "minutes; run it when a pattern, a table or a dependency changes"]
fn many_texts_of_all_kinds_are_counted_as_the_reference_counts_them() {
    check_counts(50_000);
}

/// For every character of the planes in use, its class in the table is the one that the reference's pattern uses.
#[test]
fn every_character_is_of_the_class_that_the_reference_sees() {
    let mut court = Court::new(BoundaryClasses::MODERN, &["o200k_base"]);
    let mut batch = String::new();
    let planes = ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{e0fff}');
    // The most used scripts entirely, and a sample of the others.
    let others = chatmill_drawn::some_of(0x3000..0x11_0000, 20_000).collect::<BTreeSet<usize>>();
    let is_drawn = |character: &char| *character < '\u{3000}' || others.contains(&(*character as usize));
    for character in planes.filter(|character| !character.is_ascii_control() && is_drawn(character)) {
        // After a letter, different classes are separated by white space, marks and numbers; before a letter, by letters and signs.
        for neighbour in ['a', '1', '.', ' '] {
            batch.push(neighbour);
            batch.push(character);
        }
        if batch.len() > 2_000 {
            court.assert_parts_add_up(&batch);
            batch.clear();
        }
    }
    court.assert_parts_add_up(&batch);
}

fn assert_counted(encodings: &[Encoding], counter: &mut TokenCounter, text: &str, spans: &[ComponentSpan]) {
    let found = counter.token_counts(text, spans);
    assert_eq!(found.len(), encodings.len());
    for (encoding, token_counts) in encodings.iter().zip(found) {
        assert_eq!(
            token_counts,
            encoding.counter().token_counts(text, spans),
            "{} on {text:?}",
            encoding.name()
        );
    }
}

/// A long content in different envelopes, as dialects write it, with names and signs next to its ends.
fn envelopes(content: &str) -> Vec<(String, Vec<ComponentSpan>)> {
    let mut found = Vec::new();
    for (before, after) in [
        ("", ""),
        ("{\"role\":\"user\",\"content\":\"", "\"}"),
        ("Ann: ", "\n"),
        ("x", "x"),
        (" ", " "),
        ("\n", "\n"),
        ("'", "'"),
        ("1", "1"),
    ] {
        let text = format!("{before}{content}{after}");
        let span = |end, component| ComponentSpan {
            end,
            component,
            speaker: Speaker::Perspective,
            control: false,
            requests: 0,
            written: false,
            answer: None,
        };
        let spans = vec![
            span(before.len(), Component::Framing),
            span(before.len() + content.len(), Component::Content),
            span(text.len(), Component::Meta),
        ];
        found.push((text, spans));
    }
    found
}

proptest! {
    #![proptest_config(chatmill_drawn::law(64))]

    #[test]
    fn any_text_may_be_cut_at_its_sync_points(text in text()) {
        Court::new(BoundaryClasses::MODERN.both(BoundaryClasses::GPT2), &[MODERN, GPT2].concat()).assert_parts_add_up(&text);
        Court::new(BoundaryClasses::MODERN, &MODERN).assert_parts_add_up(&text);
    }

    #[test]
    fn token_counts_of_a_sink_are_those_of_the_counter(
        texts in proptest::collection::vec(
            text().prop_flat_map(|text| { let bytes = text.len(); (Just(text), spans_over(bytes)) }),
            1..6,
        ),
    ) {
        let modern: Vec<Encoding> = MODERN.iter().map(|name| find(name).unwrap().clone()).collect();
        for encodings in [ENCODINGS.to_vec(), modern] {
            let mut counter = TokenCounter::new(&encodings);
            // Twice, so that memories are used.
            for (text, spans) in texts.iter().chain(&texts) {
                assert_counted(&encodings, &mut counter, text, spans);
            }
        }
    }

    #[test]
    fn a_content_counts_alike_in_every_envelope(content in "([a-zA-Zа-яї' .,!/]|\\n|[0-9]|\\PC){20,200}") {
        let mut counter = TokenCounter::new(ENCODINGS);
        for (text, spans) in envelopes(&content) {
            assert_counted(ENCODINGS, &mut counter, &text, &spans);
        }
    }
}

#[test]
fn control_spans_are_one_token_and_a_boundary() {
    let long = "A long line of words that is remembered between its sync points. ".repeat(4);
    let text = format!("<|a|>{long}<|b|>{long}<|b|>");
    let mut end = 0;
    let mut span = |bytes: usize, control| {
        end += bytes;
        ComponentSpan {
            end,
            component: if control {
                Component::Framing
            } else {
                Component::Content
            },
            speaker: Speaker::Other,
            control,
            requests: 0,
            written: false,
            answer: None,
        }
    };
    let spans = [
        span(5, true),
        span(long.len(), false),
        span(5, true),
        span(long.len(), false),
        span(5, true),
    ];
    let mut counter = TokenCounter::new(ENCODINGS);
    assert_counted(ENCODINGS, &mut counter, &text, &spans);
    assert_counted(ENCODINGS, &mut counter, &text, &spans);
}

#[test]
fn memory_is_bounded_however_many_texts_come_by() {
    let encodings = [find("o200k_base").unwrap().clone()];
    let mut counter = TokenCounter::new(&encodings);
    for number in 0..200 {
        let text = format!("{number} {}", "some words and 12 numbers, ".repeat(4_000));
        assert_eq!(counter.count(&text), [encodings[0].counter().count(&text)]);
    }
    assert!(counter.remembered() <= 8 << 20);
}
