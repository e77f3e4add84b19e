//! Unread fields of inputs: one row per path, the same however the run is cut, and the same in a check.

use chatmill_workshop::test_dir::padded;
use chatmill_workshop::{TestDir, rows};

const BARE: &str = "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n";

/// A conversation with a translation in a message; some also have a remark next to the list.
fn conversation(number: usize) -> String {
    let remark = if number.is_multiple_of(2) {
        r#","remark":"kept for later""#
    } else {
        ""
    };
    let text = format!(
        r#"{{"messages":[{{"role":"user","content":"Which knot?","translation":"Welcher Knoten?"}},{{"role":"assistant","content":"The bowline."}}]{remark}}}"#
    );
    padded(&text, 170_000)
}

fn shop() -> TestDir {
    let shop = TestDir::new();
    let lines: Vec<String> = (0..60).map(conversation).collect();
    shop.write("in/a.jsonl", lines.join("\n"));
    shop.write("in/b.jsonl", conversation(1));
    shop
}

/// The input, path, count and record in each row about unread fields.
fn told(shop: &TestDir, out: &str) -> Vec<(String, String, i64, i64)> {
    let out = shop.path(out);
    let codes = rows::texts(&out, "findings", "code");
    let paths = rows::texts(&out, "findings", "json_path");
    let inputs = rows::texts(&out, "findings", "input");
    let counts = rows::numbers(&out, "findings", "count");
    let records = rows::numbers(&out, "findings", "record");
    let mut told = Vec::new();
    for (number, code) in codes.iter().enumerate() {
        if code.as_deref() == Some("SR034") {
            told.push((
                inputs[number].clone().unwrap(),
                paths[number].clone().unwrap_or_default(),
                counts[number].unwrap(),
                records[number].unwrap_or(-1),
            ));
        }
    }
    told
}

#[test]
fn a_run_and_a_check_report_each_path_once_for_each_input() {
    let shop = shop();
    let summary = shop.run("out", BARE, 2).unwrap();
    let messages = summary
        .manifest
        .tables
        .iter()
        .find(|table| table.name == "messages")
        .unwrap();
    assert!(messages.files.len() > 2, "the input must be worth several slices");
    let row = |input: &str, path: &str, count, record| (input.to_owned(), path.to_owned(), count, record);
    let expected = [
        row("a.jsonl", "$.messages[].translation", 60, 0),
        row("a.jsonl", "$.remark", 30, 0),
        row("b.jsonl", "$.messages[].translation", 1, 0),
    ];
    assert_eq!(told(&shop, "out"), expected);
    let extras = rows::texts(&shop.path("out"), "messages", "extra");
    let kept = extras
        .iter()
        .flatten()
        .filter(|extra| extra.contains("Welcher Knoten?"));
    assert_eq!(kept.count(), 61);
    let (findings, verdict) = TestDir::check(&shop.path("in/a.jsonl"));
    let unread = findings
        .iter()
        .filter(|checked| checked.located.finding.code.code == "SR034");
    let findings: Vec<_> = unread
        .map(|checked| {
            let located = &checked.located;
            (
                located.json_path.clone().unwrap(),
                located.finding.count,
                checked.record,
                located.line_column,
            )
        })
        .collect();
    assert_eq!(
        findings,
        [
            ("$.messages[].translation".to_owned(), 60, Some(0), Some((1, 67))),
            ("$.remark".to_owned(), 30, Some(0), Some((1, 142))),
        ]
    );
    assert_eq!(verdict.verdict, "warnings");
}
