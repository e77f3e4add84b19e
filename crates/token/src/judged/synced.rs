//! Holds sync points and the tallier against tiktoken-rs: cut anywhere that is allowed, the tokens are the same.

use chatmill_model::rope::{Component, ComponentSpan, Voice};
use proptest::prelude::*;

use super::{each_string_of_classes, spans_over, text};
use crate::sync::{Family, SyncPoints};
use crate::{ENCODINGS, Encoding, Tallier, find};

const MODERN: [&str; 2] = ["o200k_base", "cl100k_base"];
const GPT2: [&str; 2] = ["r50k_base", "p50k_base"];

/// Cut at every sync point, a text has the tokens that it has whole.
fn assert_parts_add_up(points: &SyncPoints, names: &[&str], text: &str) {
    let mut ends = Vec::new();
    points.each_end(text, |end| ends.push(end));
    if ends.len() < 2 {
        return;
    }
    for name in names {
        let judge = find(name).unwrap().judge();
        let whole = judge.count(text);
        let mut from = 0;
        let mut parts = 0;
        for end in &ends {
            parts += judge.count(text.get(from..*end).unwrap()).unwrap();
            from = *end;
        }
        assert_eq!(whole, Some(parts), "{name} on {text:?} cut at {ends:?}");
    }
}

fn check_every_string(lengths: std::ops::RangeInclusive<usize>) {
    let modern = SyncPoints::new(&[Family::Modern]);
    let gpt2 = SyncPoints::new(&[Family::Gpt2]);
    for length in lengths {
        each_string_of_classes(length, &mut |text| {
            assert_parts_add_up(&modern, &MODERN, text);
            assert_parts_add_up(&gpt2, &GPT2, text);
        });
    }
}

#[test]
fn every_string_of_up_to_four_classes_may_be_cut_at_its_sync_points() {
    check_every_string(0..=4);
}

#[test]
#[ignore = "minutes; run it when a pattern, a table or a dependency changes"]
fn every_string_of_five_classes_may_be_cut_at_its_sync_points() {
    check_every_string(5..=5);
}

/// Every character of the planes that have any: its class in our table is the one that the reference's pattern uses.
#[test]
fn every_character_is_of_the_class_that_the_reference_sees() {
    let points = SyncPoints::new(&[Family::Modern]);
    let mut batch = String::new();
    let planes = ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{e0fff}');
    for character in planes.filter(|character| !character.is_ascii_control()) {
        // Behind a letter, white space, marks and numbers part differently; in front of one, letters and signs do.
        for neighbour in ['a', '1', '.', ' '] {
            batch.push(neighbour);
            batch.push(character);
        }
        if batch.len() > 2_000 {
            assert_parts_add_up(&points, &["o200k_base"], &batch);
            batch.clear();
        }
    }
    assert_parts_add_up(&points, &["o200k_base"], &batch);
}

fn assert_tallied(
    encodings: &[Encoding],
    tallier: &mut Tallier,
    text: &str,
    spans: &[ComponentSpan],
) {
    let found = tallier.tally(text, spans);
    assert_eq!(found.len(), encodings.len());
    for (encoding, tally) in encodings.iter().zip(found) {
        assert_eq!(
            tally,
            encoding.counter().tally(text, spans),
            "{} on {text:?}",
            encoding.name()
        );
    }
}

/// A long content in different envelopes, as dialects write it, with names and signs that meet it at its ends.
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
            voice: Voice::Perspective,
            control: false,
            requests: 0,
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
    #[test]
    fn any_text_may_be_cut_at_its_sync_points(text in text()) {
        let all = SyncPoints::new(&[Family::Modern, Family::Gpt2]);
        assert_parts_add_up(&all, &MODERN, &text);
        assert_parts_add_up(&all, &GPT2, &text);
        assert_parts_add_up(&SyncPoints::new(&[Family::Modern]), &MODERN, &text);
    }

    #[test]
    fn the_tallier_counts_as_the_counter_does(
        texts in proptest::collection::vec(
            text().prop_flat_map(|text| { let bytes = text.len(); (Just(text), spans_over(bytes)) }),
            1..6,
        ),
    ) {
        let modern: Vec<Encoding> = MODERN.iter().map(|name| find(name).unwrap().clone()).collect();
        for encodings in [ENCODINGS.to_vec(), modern] {
            let mut tallier = Tallier::new(&encodings);
            // Twice, so that what is remembered is used.
            for (text, spans) in texts.iter().chain(&texts) {
                assert_tallied(&encodings, &mut tallier, text, spans);
            }
        }
    }

    #[test]
    fn a_content_counts_alike_in_every_envelope(content in "([a-zA-Zа-яї' .,!/]|\\n|[0-9]|\\PC){20,200}") {
        let mut tallier = Tallier::new(ENCODINGS);
        for (text, spans) in envelopes(&content) {
            assert_tallied(ENCODINGS, &mut tallier, &text, &spans);
        }
    }
}

#[test]
fn control_spans_are_one_token_and_a_border() {
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
            voice: Voice::Other,
            control,
            requests: 0,
        }
    };
    let spans = [
        span(5, true),
        span(long.len(), false),
        span(5, true),
        span(long.len(), false),
        span(5, true),
    ];
    let mut tallier = Tallier::new(ENCODINGS);
    assert_tallied(ENCODINGS, &mut tallier, &text, &spans);
    assert_tallied(ENCODINGS, &mut tallier, &text, &spans);
}

#[test]
fn memory_is_bounded_however_many_texts_come_by() {
    let encodings = [find("o200k_base").unwrap().clone()];
    let mut tallier = Tallier::new(&encodings);
    for number in 0..200 {
        let text = format!("{number} {}", "some words and 12 numbers, ".repeat(4_000));
        assert_eq!(tallier.count(&text), [encodings[0].counter().count(&text)]);
    }
    assert!(tallier.remembered() <= 8 << 20);
}
