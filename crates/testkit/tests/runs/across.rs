//! Findings across files are the same with any number of threads.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use chatmill_engine::Silent;
use chatmill_engine::check::{CheckOptions, check};
use chatmill_workshop::TestDir;
use serde_json::{Value, json};

fn room(id: &str, messages: &[(&str, &str, &[&str])]) -> Value {
    let list: Vec<Value> = messages
        .iter()
        .map(|(id, text, refers)| {
            json!({
                "message_id": id, "create_time": "2026-03-02T09:01:00+00:00", "sender": "ann",
                "role": "user", "type": "text", "content": text, "refer_list": refers,
            })
        })
        .collect();
    json!({
        "version": "1.0.0",
        "conversation_meta": {
            "name": "Room", "group_id": id, "scene": "group_chat", "scene_desc": {},
            "user_details": {"ann": {"full_name": "Ann", "role": "user"}},
        },
        "conversation_list": list,
    })
}

/// The code, the file, the line and column, and the message of a finding.
type Told = (String, String, Option<(u64, u64)>, String);

/// All findings of a check.
fn found(test_dir: &TestDir, threads: usize) -> Vec<Told> {
    let options = CheckOptions {
        paths: vec![test_dir.path("in").to_str().unwrap().to_owned()],
        threads,
        ..CheckOptions::default()
    };
    let all = Mutex::new(Vec::new());
    check(&options, &Silent, &AtomicBool::new(false), &mut |checked| {
        let finding = &checked.located.finding;
        let message = finding
            .message
            .replace(test_dir.path("in").to_str().unwrap(), "in");
        all.lock().unwrap().push((
            finding.code.code.to_owned(),
            checked.input,
            checked.located.line_column,
            message,
        ));
    })
    .unwrap();
    all.into_inner().unwrap()
}

#[test]
fn a_thousand_repeats_are_reported_in_one_order_with_any_threads() {
    let test_dir = TestDir::new();
    for file in 0..22 {
        let lines: Vec<String> = (0..50)
            .map(|line| {
                let said = format!("{file} {line}");
                room(
                    &format!("r{}", (file + line) % 60),
                    &[("m1", &said, &["m2"]), ("m2", "x", &[])],
                )
            })
            .map(|chat| chat.to_string())
            .collect();
        test_dir.write(&format!("in/{file:02}.jsonl"), lines.join("\n"));
    }
    let one = found(&test_dir, 1);
    let taken = one.iter().filter(|(code, ..)| code == "AS004").count();
    assert_eq!(taken, 22 * 50 - 60);
    assert_eq!(one.iter().filter(|(code, ..)| code == "AS005").count(), taken);
    for threads in [2, 3] {
        assert_eq!(one, found(&test_dir, threads));
    }
}
