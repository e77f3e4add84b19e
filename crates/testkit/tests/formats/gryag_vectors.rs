//! Captured prompts of gryag, and the history that its code of 2025-10-17 makes of them: five vectors.

use chatmill_diag::Limits;
use chatmill_dialect::{History, Policy, View, auto_perspective, find};
use chatmill_intake::json;
use chatmill_source::FrameView;
use serde_json::{Value, json};

const VECTORS: &str = include_str!("../../../../data-samples/dialects/gryag-compact/vectors.json");

fn render(turns: &Value) -> String {
    let limits = Limits::default();
    let text = json!({ "contents": turns }).to_string();
    let document = json::scan(text.as_bytes(), limits.depth).unwrap();
    let frame = FrameView {
        document: &document,
        bytes: text.as_bytes(),
        start: 0,
        key: None,
    };
    let source = chatmill_source::find("gemini-contents").unwrap();
    let reading = source.read(&frame, &limits);
    let linked = chatmill_link::link(reading.conversation.unwrap(), &limits).0;
    let (dialect, profile) = find("gryag-compact@2025-10-17").unwrap();
    let policy = Policy::default();
    let view = View {
        linked: &linked,
        perspective: auto_perspective(&linked),
        policy: &policy,
        profile,
        history: History::Document,
        window: None,
    };
    let mut written = String::new();
    dialect.render(&view, &mut |rendering| written = rendering.rope.text());
    written
}

#[test]
fn a_captured_history_reads_as_the_code_of_its_day_prints_it() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let cases = vectors["cases"].as_array().unwrap().iter();
    let cases: Vec<&Value> = cases.filter(|case| case["kind"] == "history").collect();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let mut turns = case["input"].as_array().unwrap().clone();
        // The line to be answered stands behind the history.
        turns.push(json!({"role": "user", "parts": [{"text": "now"}]}));
        let prompt = render(&json!(turns));
        let (history, current) = prompt.split_once("\n[RESPOND]\n").unwrap();
        assert_eq!(history, case["expected"].as_str().unwrap(), "{}", case["name"]);
        assert!(current.ends_with(": now\n[RESPOND]"), "{current}");
    }
}
