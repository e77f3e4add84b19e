//! Holds counts of renderings that were pushed piece by piece against those of the same text and spans as a whole.

use chatmill_model::span::{Component, Level, Speaker};
use chatmill_model::{Sink, SinkBuffers};

use super::texts::Texts;
use crate::{ENCODINGS, TokenCounter};

const GLUE: [&str; 14] = [
    "{\"role\":\"user\"",
    ",\"content\":",
    "\"",
    "}",
    ",",
    ": ",
    "\n",
    " ",
    "x",
    "1",
    "'",
    "[system] ",
    "<|im_start|>",
    "日本",
];

const COMPONENTS: [Component; 3] = [Component::Framing, Component::Content, Component::Names];

/// Pushes something at random.
fn push<'a>(sink: &mut Sink<'a>, random: &mut Texts, texts: &'a [String]) {
    let component = COMPONENTS[random.below(COMPONENTS.len())];
    let level = [Level::Raw, Level::JsonString, Level::JsonInJsonString][random.below(3)];
    let text = &texts[random.below(texts.len())];
    match random.below(9) {
        0..4 => sink.glue(GLUE[random.below(GLUE.len())], component),
        4 => sink.speak([Speaker::Other, Speaker::Perspective][random.below(2)]),
        5 => sink.content(random.next(2), level, component),
        6 if random.below(8) == 0 => {
            sink.control("<|end|>");
            sink.content(text.as_str(), level, component);
        }
        7 => {
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let end = ends.get(random.below(ends.len().max(1))).copied();
            sink.content(text.split_at(end.unwrap_or_default()).0, level, component);
        }
        _ => sink.content(text.as_str(), level, component),
    }
}

fn check(conversations: usize) {
    let mut random = Texts::new();
    let mut counter = TokenCounter::new(ENCODINGS);
    let mut buffers = SinkBuffers::default();
    let mut tallies = Vec::new();
    for _ in 0..conversations {
        let texts: Vec<String> = (0..=random.below(12))
            .map(|_| {
                let parts = 1 + random.below(60);
                random.next(parts)
            })
            .collect();
        let mut sink = Sink::new(buffers, usize::MAX);
        for _ in 0..6 {
            sink.begin();
            for _ in 0..random.below(80) {
                push(&mut sink, &mut random, &texts);
            }
            counter.tally_sink(&sink, &mut tallies);
            assert_eq!(tallies.len(), ENCODINGS.len());
            for (encoding, each) in ENCODINGS.iter().zip(counter.tally_spans(&sink)) {
                let expected = encoding.counter().tally_spans(sink.text(), sink.spans());
                assert_eq!(each, expected, "{} on {:?}", encoding.name(), sink.text());
            }
            for (encoding, tally) in ENCODINGS.iter().zip(&tallies) {
                let expected = encoding.counter().tally(sink.text(), sink.spans());
                assert_eq!(*tally, expected, "{} on {:?}", encoding.name(), sink.text());
            }
        }
        buffers = sink.into_buffers();
    }
}

#[test]
fn renderings_count_piece_by_piece_as_they_do_whole() {
    check(250);
}

#[test]
#[ignore = "minutes; run it when the sink, a memory or a table changes"]
fn many_renderings_count_piece_by_piece_as_they_do_whole() {
    check(20_000);
}

#[test]
fn one_counter_counts_what_different_sinks_hold() {
    let mut counter = TokenCounter::new(ENCODINGS);
    let mut tallies = Vec::new();
    let text = String::from("the same words, 12 of them");
    for text in [text.as_str(), text.split_at(8).0, text.split_at(4).1] {
        let mut sink = Sink::default();
        sink.framing("{");
        sink.literal(text, Component::Content);
        counter.tally_sink(&sink, &mut tallies);
        for (encoding, tally) in ENCODINGS.iter().zip(&tallies) {
            assert_eq!(*tally, encoding.counter().tally(sink.text(), sink.spans()));
        }
    }
}
