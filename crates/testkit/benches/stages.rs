//! Throughput of each stage, in bytes of input: frame, scan, read, link and check, render, count, write.
//!
//! The figures are ratios within one run. Run with `just bench`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use chatmill_diag::Limits;
use chatmill_dialect::{Policy, View, auto_perspective};
use chatmill_engine::{RunOptions, Silent};
use chatmill_intake::discover::discover;
use chatmill_intake::json;
use chatmill_intake::{Event, Reader};
use chatmill_model::Linked;
use chatmill_testkit::chats::group_chat;
use chatmill_workshop::TestDir;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// About two megabytes of generated group chats, one per line; always the same.
fn corpus() -> String {
    let mut runner = TestRunner::deterministic();
    let mut lines = String::new();
    let mut number = 0;
    while lines.len() < 2_000_000 {
        let mut chat = group_chat().new_tree(&mut runner).unwrap().current();
        chat["conversation_meta"]["conversation_id"] = format!("room-{number}").into();
        writeln!(lines, "{chat}").unwrap();
        number += 1;
    }
    lines
}

fn read(line: &str) -> Linked {
    chatmill_testkit::conversations::read("group-chat", line)
}

fn stages(criterion: &mut Criterion) {
    let limits = Limits::default();
    let text = corpus();
    let lines: Vec<&str> = text.lines().collect();
    let test_dir = TestDir::new();
    let path = test_dir.write("in/corpus.jsonl", &text);
    let mut group = criterion.benchmark_group("stages");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.sample_size(10);

    group.bench_function("frame", |bencher| {
        let input = discover(&path.to_string_lossy(), Path::new("."))
            .unwrap()
            .remove(0);
        let mut buffer = Vec::new();
        bencher.iter(|| {
            let mut reader = Reader::open(&input, &limits);
            let mut frames = 0;
            while let Some(event) = reader.next(&mut buffer) {
                frames += u32::from(matches!(event, Event::Frame(_)));
                buffer.clear();
            }
            frames
        });
    });
    group.bench_function("scan", |bencher| {
        bencher.iter(|| {
            lines
                .iter()
                .filter(|line| json::scan(line.as_bytes(), limits.depth).is_ok())
                .count()
        });
    });
    group.bench_function("scan, read and link", |bencher| {
        bencher.iter(|| lines.iter().map(|line| read(line).links.len()).sum::<usize>());
    });
    let linked: Vec<Linked> = lines.iter().map(|line| read(line)).collect();
    group.bench_function("check", |bencher| {
        bencher.iter(|| {
            let mut findings = Vec::new();
            for conversation in &linked {
                chatmill_rule::check(conversation, &limits, &mut findings);
            }
            findings.len()
        });
    });
    let policy = Policy::default();
    for dialect in chatmill_dialect::DIALECTS {
        group.bench_function(format!("render {}", dialect.id()), |bencher| {
            bencher.iter(|| {
                let mut bytes = 0;
                for conversation in &linked {
                    let view = View::whole(conversation, auto_perspective(conversation), &policy);
                    dialect.render_each(&view, &mut |sink, _| bytes += sink.text().len());
                }
                bytes
            });
        });
    }
    for encoding in chatmill_token::ENCODINGS {
        let counter = encoding.counter();
        group.bench_function(format!("count {}", encoding.name()), |bencher| {
            bencher.iter(|| lines.iter().map(|line| counter.count(line)).sum::<u64>());
        });
    }
    // The number is counted over all benches, because a run would find its dataset finished if it had the folder of another one.
    let mut number = 0;
    for (name, more) in [
        ("whole run, counting nothing", "[count]\nencodings = []\n"),
        (
            "whole run, two encodings",
            "[count]\nencodings = [\"o200k_base\", \"cl100k_base\"]\n",
        ),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || {
                    number += 1;
                    test_dir.plan(&format!("out/{name}/{number}"), more)
                },
                |plan| {
                    let options = RunOptions {
                        threads: 1,
                        ..RunOptions::default()
                    };
                    let summary =
                        chatmill_engine::run(plan, options, &Silent, &AtomicBool::new(false)).unwrap();
                    assert!(summary.elapsed.is_some(), "the run must really run");
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// The number of bytes of samples for each source.
const SAMPLES: usize = 2_000_000;

/// Reading and linking of each source, per byte: samples that are single records, repeated.
fn sources(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sources");
    group.sample_size(10);
    for source in chatmill_source::SOURCES {
        let id = source.id();
        let records: Vec<String> = chatmill_testkit::samples::sample_files(&format!("sources/{id}"))
            .into_iter()
            .filter(|path| {
                let name = path.file_name().unwrap().to_string_lossy();
                !name.contains(".expected.") && !name.starts_with("rejected") && name != "vectors.json"
            })
            .map(|path| {
                let text = std::fs::read_to_string(&path).unwrap();
                // The text in the form that the buffer has after framing.
                let is_text = path.extension().is_some_and(|extension| extension == "txt");
                if is_text {
                    serde_json::json!({ "text": text }).to_string()
                } else {
                    text
                }
            })
            .filter(|text| chatmill_testkit::conversations::try_read(id, text).is_some())
            .collect();
        let bytes: usize = records.iter().map(String::len).sum();
        if bytes == 0 {
            continue;
        }
        let rounds = SAMPLES.div_ceil(bytes);
        group.throughput(Throughput::Bytes((rounds * bytes) as u64));
        group.bench_function(format!("read and link {id}"), |bencher| {
            bencher.iter(|| {
                let all = (0..rounds).flat_map(|_| &records);
                let read = all.filter_map(|text| chatmill_testkit::conversations::try_read(id, text));
                read.map(|linked| linked.links.len()).sum::<usize>()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, stages, sources);
criterion_main!(benches);
