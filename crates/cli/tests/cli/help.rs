//! The examples at the end of every `--help` run, one command after the other, in a folder like the one that they speak of.

use std::path::Path;
use std::process::Command;

use chatmill_testkit::samples::samples;
use chatmill_workshop::TestDir;
use serde_json::json;

use crate::test_dir::{RunChatmill, binary, end, good_chat};

/// The commands in an order in which each finds what the ones before it wrote.
const ORDER: [&str; 25] = [
    "example",
    "init",
    "run",
    "convert",
    "export",
    "render",
    "inspect",
    "check",
    "certify",
    "diff",
    "report",
    "tokens",
    "plan",
    "work",
    "status",
    "finish",
    "night",
    "sources",
    "dialects",
    "encodings",
    "rules",
    "explain",
    "schema",
    "completions",
    "man",
];

/// Runs a line of a shell, with `chatmill` on its path.
fn shell(test_dir: &TestDir, line: &str) {
    let program = Path::new(binary()).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(test_dir.path(""))
        .env("PATH", format!("{}:{path}", program.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}: {said}");
}

#[test]
fn the_examples_of_every_help_run() {
    let test_dir = TestDir::new();
    for (name, id) in [
        ("exports/allotment.json", "allotment"),
        ("exports/shed.json", "shed"),
    ] {
        test_dir.write(name, good_chat(id).to_string());
    }
    let row = json!({"room": "r1", "log": [{"author": "guest", "body": "Hi", "ts": 1_767_603_600}]});
    test_dir.write("desk.jsonl", row.to_string());
    let root = samples().canonicalize().unwrap();
    let root = root.parent().unwrap().display();
    shell(
        &test_dir,
        &format!("mkdir docs pipelines && cp {root}/docs/prices.example.toml docs"),
    );
    shell(
        &test_dir,
        &format!("cp {root}/pipelines/demo.toml pipelines && mkdir data-samples"),
    );
    shell(&test_dir, &format!("cp -r {root}/data-samples/demo data-samples"));
    let listed = end(test_dir.chatmill(&["help"])).stdout;
    for name in ORDER {
        assert!(listed.contains(&format!("\n  {name} ")), "{name}: {listed}");
        let help = end(test_dir.chatmill(&[name, "--help"])).stdout;
        let (_, examples) = help.split_once("Examples:\n").unwrap();
        assert_eq!(examples.lines().count(), 2, "{examples}");
        for example in examples.lines() {
            shell(&test_dir, example);
        }
    }
}
