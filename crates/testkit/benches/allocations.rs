//! Counts the allocations of a rendering in each dialect. As in a run, one transcript and one sink serve all dialects
//! of a conversation.
//!
//! Data that dialects share is built before they are measured, and reported separately. Run with `just bench-allocations`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    missing_docs
)]

use std::alloc::System;

use chatmill_dialect::{DIALECTS, Dialect, Policy, TextArena, Transcript, View, auto_perspective};
use chatmill_model::{Linked, Sink, SinkBuffers};
use chatmill_testkit::chats::group_chat;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The chats of the corpus in `CHATMILL_CORPUS`, or generated ones, which are always the same.
fn chats() -> Vec<Linked> {
    let lines: Vec<String> = if let Ok(path) = std::env::var("CHATMILL_CORPUS") {
        let text = std::fs::read_to_string(path).expect("the corpus can be read");
        text.lines().map(str::to_owned).collect()
    } else {
        let mut runner = TestRunner::deterministic();
        let mut invented = || group_chat().new_tree(&mut runner).unwrap().current().to_string();
        (0..400).map(|_| invented()).collect()
    };
    let read = |line: &String| chatmill_testkit::conversations::read("group-chat", line);
    lines.iter().map(read).collect()
}

/// The number of renderings, and their allocations.
#[derive(Clone, Copy, Default)]
struct Tally {
    renderings: usize,
    allocations: usize,
    bytes: usize,
}

impl Tally {
    fn add<'a>(&mut self, dialect: &Dialect, transcript: &Transcript<'a>, sink: &mut Sink<'a>) {
        let region = Region::new(COUNTED);
        let mut renderings = dialect.renderings(transcript);
        while renderings.next(sink).is_some() {
            self.renderings += 1;
        }
        let change = region.change();
        self.allocations += change.allocations + change.reallocations;
        self.bytes += change.bytes_allocated;
    }

    fn print(&self, name: &str) {
        let each = |amount: usize| amount as f64 / self.renderings.max(1) as f64;
        println!(
            "{name:<20} {:>10.1} {:>12.0}",
            each(self.allocations),
            each(self.bytes)
        );
    }
}

fn main() {
    let policy = Policy::default();
    let chats = chats();
    let mut buffers = SinkBuffers::default();
    let mut shared = Tally::default();
    let mut counts_by_encoding = vec![Tally::default(); DIALECTS.len()];
    let first = chatmill_dialect::find("hf-messages").unwrap();
    for linked in &chats {
        let made = TextArena::default();
        let mut sink = Sink::new(buffers, usize::MAX);
        let perspective = auto_perspective(linked);
        let [spoken, neutral] =
            [perspective, None].map(|seen| Transcript::new(View::whole(linked, seen, &policy), &made));
        shared.add(first, &spoken, &mut sink);
        for (dialect, token_counts) in DIALECTS.iter().zip(&mut counts_by_encoding) {
            let transcript = if dialect.is_neutral() { &neutral } else { &spoken };
            token_counts.add(*dialect, transcript, &mut sink);
        }
        buffers = sink.into_buffers();
    }
    println!("{:<20} {:>10} {:>12}", "a rendering in", "allocates", "bytes");
    for (dialect, token_counts) in DIALECTS.iter().zip(&counts_by_encoding) {
        token_counts.print(dialect.id());
    }
    shared.print("the first of all");
}
