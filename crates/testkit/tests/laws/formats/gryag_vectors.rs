//! Captured prompts of gryag, and the history that its code of 2025-10-17 makes from them: five vectors.

use chatmill_testkit::conversations::{read, rendering};
use serde_json::{Value, json};

fn render(turns: &Value) -> String {
    let linked = read("gemini-contents", &json!({ "contents": turns }).to_string());
    rendering("gryag-compact@2025-10-17", &linked).0
}

#[test]
fn a_captured_history_reads_as_the_code_of_its_day_prints_it() {
    let cases = chatmill_golden::vectors("dialects/gryag-compact", "history");
    assert_eq!(cases.len(), 5);
    for case in cases {
        let mut turns = case["input"].as_array().unwrap().clone();
        // The line to be answered is after the history.
        turns.push(json!({"role": "user", "parts": [{"text": "now"}]}));
        let prompt = render(&json!(turns));
        let (history, current) = prompt.split_once("\n[RESPOND]\n").unwrap();
        assert_eq!(history, case["expected"].as_str().unwrap(), "{}", case["name"]);
        assert!(current.ends_with(": now\n[RESPOND]"), "{current}");
    }
}
