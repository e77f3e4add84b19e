//! Redaction in a run: a dataset contains nothing that was replaced, and the same key gives the same files.

mod canaries;

use std::collections::BTreeSet;

use chatmill_workshop::TestDir;
use chatmill_workshop::rows::texts;
use serde_json::json;

use crate::redaction::canaries::{CANARIES, canaries_in, mutated};

const KEY: &str = "a key of our own making, long enough";

/// All dialects, and no counting.
fn replacing() -> &'static str {
    "[count]\nencodings = []\n[limits]\nmax_reject_ratio = 1.0\n[tools]\ninfer = true\n[prompt]\nexisting = \"precede\"\n\
        system = \"{agent.name|x} {agent.id|x} {agent.alias|x} {agent.custom_role|x} {agent.department|x} {agent.instructions|x} \
        {room.title|x} {room.description|x} {room.id|x} {room.people|x}\"\n[redact]\nmode = \"replace\"\nkey_file = \"key.txt\"\n"
}

/// Pipeline settings with two dialects, for tests that do not depend on the dialect.
const TWO: &str = "[render]\ndialects = [\"group-chat\", \"openai-chat\"]\n";

fn test_dir() -> TestDir {
    let test_dir = TestDir::new();
    test_dir.write("key.txt", KEY);
    test_dir
}

fn run(test_dir: &TestDir, out: &str, more: &str) {
    test_dir.run(out, more, 2).unwrap();
    chatmill_report::write(&test_dir.path(out), None).unwrap();
    let certificate = chatmill_dataset::certify(&test_dir.path(out)).unwrap();
    assert!(certificate.problems.is_empty(), "{:?}", certificate.problems);
}

fn certified(test_dir: &TestDir, out: &str) -> std::collections::BTreeMap<String, String> {
    test_dir.hashes(out)
}

/// All canaries in one text.
fn all() -> String {
    let text = |(kind, canary): (&str, &str)| match kind {
        // A secret that is recognised by its place.
        "token" => format!("https://files.example/a?token={canary}"),
        _ => canary.to_owned(),
    };
    CANARIES.map(text).join(" and ")
}

/// A chat with every canary in its call and its result, because few samples have such places and a round has few samples.
fn with_tools() -> String {
    let all = all();
    let call = json!({"id": "c1", "type": "function",
        "function": {"name": "look", "arguments": json!({"for": all}).to_string()}});
    json!({"messages": [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": all},
        {"role": "assistant", "content": all},
    ]})
    .to_string()
}

#[test]
fn no_canary_survives_in_any_table_report_or_manifest() {
    let mut seeded = 0;
    let mut visible = BTreeSet::new();
    for round in 0..chatmill_drawn::cases(1) {
        let test_dir = test_dir();
        for (name, text, canaries) in mutated(round.into()) {
            test_dir.write(&format!("in/{name}"), text);
            seeded += canaries;
        }
        test_dir.write("in/tools.jsonl", with_tools());
        let answers = json!({"prompt": "Who?", "chosen": all(), "rejected": all()});
        test_dir.write("in/answers.jsonl", answers.to_string());
        test_dir.write(
            "in/broken.jsonl",
            format!(
                "{{\"messages\": [\"{}\n",
                CANARIES.map(|canary| canary.1).join(" ")
            ),
        );
        run(&test_dir, "out", replacing());
        let found = canaries_in(&test_dir.path("out"));
        assert!(found.is_empty(), "round {round}: {found:#?}");
        let plain = replacing().split("[redact]").next().unwrap();
        run(&test_dir, "plain", &format!("{TWO}{plain}"));
        visible.extend(
            canaries_in(&test_dir.path("plain"))
                .into_iter()
                .map(|(canary, file)| (canary, table(&file))),
        );
    }
    assert!(seeded > 300, "only {seeded} canaries were seeded");
    for (kind, _) in CANARIES {
        for table in [
            "conversations",
            "messages",
            "alternatives",
            "renderings",
            "tool_calls",
            "rejects",
        ] {
            let there = visible.contains(&(kind, table.to_owned()));
            assert!(
                there,
                "no {kind} reached {table} without redaction: the test shows nothing"
            );
        }
    }
}

/// The table of a part file, or the name of any other file.
fn table(file: &str) -> String {
    file.trim_start_matches("tables/")
        .split('/')
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn the_same_key_gives_the_same_files_with_any_threads_and_another_key_others() {
    let test_dir = test_dir();
    for (name, text, _) in mutated(7) {
        test_dir.write(&format!("in/{name}"), text);
    }
    let replacing = format!("{TWO}{}", replacing());
    for (out, threads) in [("one", 1), ("three", 3)] {
        test_dir.run(out, &replacing, threads).unwrap();
    }
    assert_eq!(certified(&test_dir, "one"), certified(&test_dir, "three"));
    test_dir.write("key.txt", format!("{KEY}!"));
    test_dir.run("other", &replacing, 2).unwrap();
    let (one, other) = (certified(&test_dir, "one"), certified(&test_dir, "other"));
    assert_ne!(one["manifest.json"], other["manifest.json"]);
    let said = |out: &str| texts(&test_dir.path(out), "messages", "text");
    assert_ne!(said("one"), said("other"));
}
