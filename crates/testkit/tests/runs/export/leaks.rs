//! Words that the parts of a split share, compared with a simple counter of sequences of thirteen words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chatmill_dataset::Dataset;
use chatmill_drawn::Random;
use chatmill_export::{ExportRequest, ExportSummary, LeakRule, Split, SplitBy, export};
use chatmill_workshop::TestDir;
use serde_json::{Value, json};

use super::{assert_balanced, json_lines, lines, plain};

const RUN: &str = "[render]\ndialects = [\"hf-messages\"]\n[count]\nencodings = []\n";
const WORDS: usize = 13;

/// A conversation of one to three questions with the same system text in all; some texts contain a passage that others
/// contain as well.
fn drawn(random: &mut Random, number: usize) -> Value {
    let mut messages = vec![json!({"role": "system", "content": passage(999, 20)})];
    for turn in 0..=random.below(3) {
        for role in ["user", "assistant"] {
            let own: Vec<String> = (0..8)
                .map(|word| format!("c{number}t{turn}{role}{word}"))
                .collect();
            let mut text = own.join(" ");
            if random.below(6) == 0 {
                // Twelve words in a row are no leak.
                let length = if random.below(3) == 0 {
                    WORDS - 1
                } else {
                    WORDS + 2
                };
                text = format!("{text}. {}! {text}", passage(random.below(40), length));
            }
            messages.push(json!({"role": role, "content": text}));
        }
    }
    json!({"id": format!("c{number}"), "messages": messages})
}

fn passage(number: usize, length: usize) -> String {
    let words: Vec<String> = (0..length).map(|word| format!("P{number}w{word}")).collect();
    words.join(", ")
}

/// The word sequences in the text of people and agents in a record.
fn runs(line: &str) -> BTreeSet<String> {
    let record: Value = serde_json::from_str(line).unwrap();
    let list = record
        .as_array()
        .or_else(|| record["messages"].as_array())
        .unwrap();
    let mut found = BTreeSet::new();
    for message in list.iter().filter(|message| message["role"] != "system") {
        let text = message["content"].as_str().unwrap().to_lowercase();
        let words: Vec<&str> = text
            .split(|sign: char| !sign.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        found.extend(words.windows(WORDS).map(|run| run.join(" ")));
    }
    found
}

/// The number of rows of each later part that share a sequence with an earlier part.
fn sharing(folder: &Path, parts: &[&str]) -> Vec<u64> {
    let rows: Vec<Vec<BTreeSet<String>>> = parts
        .iter()
        .map(|part| {
            lines(folder, &format!("{part}.jsonl"))
                .iter()
                .map(|line| runs(line))
                .collect()
        })
        .collect();
    let mut before: BTreeSet<&String> = BTreeSet::new();
    let mut counts = Vec::new();
    for part in &rows {
        counts.push(
            part.iter()
                .filter(|row| row.iter().any(|run| before.contains(run)))
                .count() as u64,
        );
        before.extend(part.iter().flatten());
    }
    counts.split_off(1)
}

fn divide(test_dir: &TestDir, out: &str, split: Split) -> ExportSummary {
    let dataset = Dataset::open(&test_dir.path("out")).unwrap();
    let request = ExportRequest {
        split: Some(split),
        lists_left_out: true,
        ..plain("hf-messages")
    };
    let summary = export(&dataset, &request, &test_dir.path(out)).unwrap();
    assert_balanced(&summary);
    summary
}

fn told(summary: &ExportSummary) -> Vec<u64> {
    let leaks = summary.split.as_ref().unwrap().leaks.as_ref().unwrap();
    leaks.iter().map(|leak| leak.rows).collect()
}

fn places(test_dir: &TestDir, out: &str, parts: &[&str]) -> BTreeMap<String, String> {
    let found = parts.iter().flat_map(|part| {
        let rows = lines(&test_dir.path(out), &format!("{part}.jsonl"));
        rows.into_iter().map(|row| {
            // The first word of the first question identifies the conversation.
            let at = row.find(" c").or_else(|| row.find("\"c")).unwrap() + 1;
            let id = row[at..]
                .split('t')
                .next()
                .unwrap()
                .trim_start_matches('"')
                .to_owned();
            (id, (*part).to_owned())
        })
    });
    found.collect()
}

#[test]
fn after_move_and_after_drop_no_part_shares_thirteen_words_with_another() {
    let mut leaks = 0;
    let draws = chatmill_drawn::cases(1);
    for draw in 0..draws {
        let mut random = chatmill_drawn::random(390 + u64::from(draw));
        let test_dir = TestDir::new();
        let chats: Vec<Value> = (0..120).map(|number| drawn(&mut random, number)).collect();
        test_dir.write("in/1.jsonl", json_lines(&chats));
        test_dir.run("out", RUN, 2).unwrap();
        for parts in [&["train", "test"][..], &["train", "dev", "test"]] {
            let shares = if parts.len() == 2 {
                "train=80,test=20"
            } else {
                "train=60,dev=20,test=20"
            };
            let split = |rule: LeakRule| Split {
                ngram_leaks: rule,
                ..Split::parse(shares, SplitBy::Hash).unwrap()
            };
            let name = |what: &str| format!("{what}-{}", parts.len());
            let kept = divide(&test_dir, &name("keep"), split(LeakRule::Keep));
            let counted = sharing(&test_dir.path(&name("keep")), parts);
            assert_eq!(told(&kept), counted);
            leaks += counted.iter().sum::<u64>();

            let moved = divide(&test_dir, &name("move"), split(LeakRule::Move));
            let none = vec![0; parts.len() - 1];
            assert_eq!(sharing(&test_dir.path(&name("move")), parts), none);
            assert_eq!(told(&moved), none);
            assert_eq!(moved.kept, kept.kept);
            let before = places(&test_dir, &name("keep"), parts);
            let after = places(&test_dir, &name("move"), parts);
            let place = |part: &String| parts.iter().position(|name| name == part);
            assert!(
                before.iter().all(|(id, part)| place(&after[id]) <= place(part)),
                "towards the first only"
            );
            let count = before.iter().filter(|(id, part)| after[*id] != **part).count();
            assert_eq!(moved.split.as_ref().unwrap().moved, Some(count as u64));

            let dropped = divide(&test_dir, &name("drop"), split(LeakRule::Drop));
            assert_eq!(sharing(&test_dir.path(&name("drop")), parts), none);
            assert_eq!(told(&dropped), none);
            let train = |what: &str| lines(&test_dir.path(&name(what)), "train.jsonl");
            assert_eq!(train("drop"), train("keep"), "training stays");
            let rows = dropped.rows_left_out.as_ref().unwrap();
            assert_eq!(rows.len() as u64, kept.kept - dropped.kept);
            assert!(
                rows.iter()
                    .all(|row| row.reason.starts_with("split.ngram_leaks: "))
            );
            if parts.len() == 2 {
                assert_eq!(rows.len() as u64, counted[0], "no more than share words");
            }
        }
    }
    assert!(leaks > u64::from(draws) * 4, "little is shared: {leaks}");
}

#[test]
fn new_conversations_move_or_go_and_those_of_the_export_before_stay() {
    let test_dir = TestDir::new();
    let mut random = chatmill_drawn::random(391);
    let chats: Vec<Value> = (0..150).map(|number| drawn(&mut random, number)).collect();
    test_dir.write("in/1.jsonl", json_lines(&chats[..90]));
    test_dir.run("out", RUN, 2).unwrap();
    let parts = ["train", "test"];
    let split = |rule: LeakRule, like: Option<&str>| Split {
        ngram_leaks: rule,
        like: like.map(|like| test_dir.path(like)),
        ..Split::parse("train=70,test=30", SplitBy::Hash).unwrap()
    };
    divide(&test_dir, "kept", split(LeakRule::Keep, None));
    divide(&test_dir, "moved", split(LeakRule::Move, None));
    std::fs::remove_dir_all(test_dir.path("out")).unwrap();
    test_dir.write("in/2.jsonl", json_lines(&chats[90..]));
    test_dir.run("out", RUN, 2).unwrap();
    for (before, leaks_before) in [("moved", false), ("kept", true)] {
        let old = places(&test_dir, before, &parts);
        let between_old = sharing(&test_dir.path(before), &parts);
        assert_eq!(between_old[0] > 0, leaks_before);
        for (rule, out) in [(LeakRule::Move, "move"), (LeakRule::Drop, "drop")] {
            let out = format!("{before}-{out}");
            let summary = divide(&test_dir, &out, split(rule, Some(before)));
            let new = places(&test_dir, &out, &parts);
            for (id, part) in &old {
                assert_eq!(new.get(id), Some(part), "{id} moved");
            }
            let left = sharing(&test_dir.path(&out), &parts);
            assert_eq!(told(&summary), left);
            assert_eq!(left, between_old, "{out}: only what was there is left");
            assert!(new.len() > old.len());
        }
    }
}
