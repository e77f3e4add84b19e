//! What counting costs: a dozen dialects of the same conversations in two encodings, counted in three ways in one process.
//!
//! `just bench-counting` reads the JSON lines of group chats that `CHATMILL_CORPUS` names, else makes some. Memories are cold at the
//! start of each way. Read the ratios; the seconds are those of one machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs
)]

use std::time::Instant;

use chatmill_diag::Limits;
use chatmill_dialect::{History, Policy, View, auto_perspective};
use chatmill_intake::json;
use chatmill_model::{ComponentSpan, Linked};
use chatmill_source::FrameView;
use chatmill_testkit::chats::group_chat;
use chatmill_token::{Encoding, Tallier};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

const DIALECTS: [&str; 12] = [
    "group-chat",
    "gryag-gemini",
    "gryag-compact",
    "suna-llm",
    "suna-list",
    "suna-cached",
    "jaibber-context",
    "openai-chat",
    "anthropic-messages",
    "gemini-contents",
    "bedrock-converse",
    "hf-messages",
];

fn lines() -> Vec<String> {
    if let Ok(path) = std::env::var("CHATMILL_CORPUS") {
        let text = std::fs::read_to_string(path).expect("the corpus can be read");
        return text.lines().map(str::to_owned).collect();
    }
    let mut runner = TestRunner::deterministic();
    (0..400)
        .map(|_| group_chat().new_tree(&mut runner).unwrap().current().to_string())
        .collect()
}

fn read(line: &str) -> Linked {
    let limits = Limits::default();
    let document = json::scan(line.as_bytes(), limits.depth)
        .map_err(|fault| fault.message)
        .unwrap();
    let view = FrameView {
        document: &document,
        bytes: line.as_bytes(),
        start: 0,
        key: None,
    };
    let source = chatmill_source::find("group-chat").unwrap();
    chatmill_link::link(source.read(&view, &limits).conversation.unwrap(), &limits).0
}

/// Renders every conversation in every dialect, conversation by conversation as a run does.
fn each_rendering(conversations: &[Linked], visit: &mut dyn FnMut(&str, &[ComponentSpan])) {
    let policy = Policy::default();
    let (mut text, mut spans) = (String::new(), Vec::new());
    for linked in conversations {
        for id in DIALECTS {
            let (dialect, profile) = chatmill_dialect::find(id).unwrap();
            let view = View {
                linked,
                perspective: auto_perspective(linked),
                policy: &policy,
                profile,
                history: History::Document,
                stretch: None,
            };
            dialect.render(&view, &mut |rendering| {
                text.clear();
                spans.clear();
                rendering.rope.write(&mut text, &mut spans);
                visit(&text, &spans);
            });
        }
    }
}

fn main() {
    let lines = lines();
    let input: usize = lines.iter().map(String::len).sum();
    let conversations: Vec<Linked> = lines.iter().map(|line| read(line)).collect();
    let encodings: Vec<Encoding> = ["o200k_base", "cl100k_base"]
        .iter()
        .map(|name| chatmill_token::find(name).unwrap().clone())
        .collect();
    let counters: Vec<_> = encodings.iter().map(|encoding| encoding.counter()).collect();
    // Vocabularies are loaded before the clock starts.
    for (encoding, counter) in encodings.iter().zip(&counters) {
        assert_eq!(encoding.judge().count("warm"), Some(counter.count("warm")));
    }
    let mut rendered = 0;
    let mut time = |name: &str, visit: &mut dyn FnMut(&str, &[ComponentSpan]) -> u64| {
        let (begun, mut tokens) = (Instant::now(), 0);
        rendered = 0;
        each_rendering(&conversations, &mut |text, spans| {
            rendered += text.len();
            tokens += visit(text, spans);
        });
        let seconds = begun.elapsed().as_secs_f64();
        println!("{name:34} {seconds:8.3} s   {tokens:>12} tokens");
        (seconds, tokens)
    };
    if let Ok(path) = std::env::var("CHATMILL_DUMP") {
        use std::io::Write;
        let mut out = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
        each_rendering(&conversations, &mut |text, spans| {
            out.write_all(&(text.len() as u32).to_le_bytes()).unwrap();
            out.write_all(&(spans.len() as u32).to_le_bytes()).unwrap();
            out.write_all(text.as_bytes()).unwrap();
            for span in spans {
                out.write_all(&(span.end as u32).to_le_bytes()).unwrap();
                let bits = span.component as u8 | (span.voice as u8) << 3 | u8::from(span.control) << 4;
                out.write_all(&[bits]).unwrap();
            }
        });
    }
    let (bare, _) = time("render only", &mut |_, _| 0);
    let mut tallier = Tallier::new(&encodings);
    let (quick, tokens) = time("tallier", &mut |text, spans| {
        tallier.tally(text, spans).iter().map(|tally| tally.tokens).sum()
    });
    let (plain, counted) = time("own counter on every rendering", &mut |text, spans| {
        counters
            .iter()
            .map(|counter| counter.tally(text, spans).tokens)
            .sum()
    });
    let (reference, judged) = time("tiktoken-rs on every rendering", &mut |text, spans| {
        encodings
            .iter()
            .map(|encoding| encoding.judge().tokens(text, spans).unwrap())
            .sum()
    });
    assert!(
        tokens == counted && counted == judged,
        "every way counts the same"
    );
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    println!(
        "\n{:.1} MB of input, {:.1} MB rendered, {} conversations",
        megabytes(input),
        megabytes(rendered),
        conversations.len()
    );
    println!(
        "counting alone (less rendering): tiktoken-rs / tallier = {:.1}, own counter / tallier = {:.1}",
        (reference - bare) / (quick - bare),
        (plain - bare) / (quick - bare)
    );
    println!(
        "tallier: {:.0} MB of input a second, {:.0} MB rendered",
        megabytes(input) / (quick - bare),
        megabytes(rendered) / (quick - bare)
    );
}
