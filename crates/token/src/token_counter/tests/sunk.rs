//! Compares the counts of renderings that were pushed piece by piece with those of the same text and spans as a whole.

use chatmill_model::span::{Component, Level, Speaker};
use chatmill_model::{Sink, SinkBuffers};

use super::texts::Texts;
use super::tokenizer_files::FILES;
use crate::{ENCODINGS, Encoding, TokenCounter};

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

/// Pushes a random piece.
fn push<'a>(sink: &mut Sink<'a>, random: &mut Texts, texts: &'a [String]) {
    let component = COMPONENTS[random.below(COMPONENTS.len())];
    let level = [Level::Raw, Level::JsonString, Level::JsonInJsonString][random.below(3)];
    let text = &texts[random.below(texts.len())];
    match random.below(9) {
        0..4 => sink.glue(GLUE[random.below(GLUE.len())], component),
        4 => sink.set_speaker([Speaker::Other, Speaker::Perspective][random.below(2)]),
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

fn check(conversations: usize, encodings: &[Encoding]) {
    let mut random = Texts::new();
    let mut counter = TokenCounter::new(encodings);
    let mut buffers = SinkBuffers::default();
    let mut counts_by_encoding = Vec::new();
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
            counter.count_sink(&sink, &mut counts_by_encoding);
            assert_eq!(counts_by_encoding.len(), encodings.len());
            for (encoding, each) in encodings.iter().zip(counter.count_spans(&sink)) {
                let expected = encoding.counter().count_spans(sink.text(), sink.spans());
                assert_eq!(each, expected, "{} on {:?}", encoding.name(), sink.text());
            }
            for (encoding, token_counts) in encodings.iter().zip(&counts_by_encoding) {
                let expected = encoding.counter().token_counts(sink.text(), sink.spans());
                assert_eq!(
                    *token_counts,
                    expected,
                    "{} on {:?}",
                    encoding.name(),
                    sink.text()
                );
            }
        }
        buffers = sink.into_buffers();
    }
}

#[test]
fn renderings_count_piece_by_piece_as_they_do_whole() {
    check(250, ENCODINGS);
}

#[test]
fn renderings_count_piece_by_piece_by_tokenizer_files() {
    let all: Vec<Encoding> = FILES.iter().map(|(_, encoding)| encoding.clone()).collect();
    check(8, &all);
}

#[test]
#[ignore = "minutes; run it when the sink, a memory or a table changes"]
fn many_renderings_count_piece_by_piece_as_they_do_whole() {
    check(20_000, ENCODINGS);
}

#[test]
fn one_counter_counts_what_different_sinks_hold() {
    let mut counter = TokenCounter::new(ENCODINGS);
    let mut counts_by_encoding = Vec::new();
    let text = String::from("the same words, 12 of them");
    for text in [text.as_str(), text.split_at(8).0, text.split_at(4).1] {
        let mut sink = Sink::default();
        sink.framing("{");
        sink.literal(text, Component::Content);
        counter.count_sink(&sink, &mut counts_by_encoding);
        for (encoding, token_counts) in ENCODINGS.iter().zip(&counts_by_encoding) {
            assert_eq!(
                *token_counts,
                encoding.counter().token_counts(sink.text(), sink.spans())
            );
        }
    }
}
