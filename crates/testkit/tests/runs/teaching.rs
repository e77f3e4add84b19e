//! Windows that all dialects share, and budgets that are counted with a template.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use chatmill_workshop::TestDir;
use chatmill_workshop::rows::{flags, numbers, texts};
use serde_json::json;

fn all(test_dir: &TestDir, table: &str, column: &str) -> Vec<String> {
    let found = texts(&test_dir.path("out"), table, column).into_iter();
    found.map(Option::unwrap_or_default).collect()
}

/// Rooms in which every text has a different length.
fn rooms(count: usize) -> String {
    let mut lines = String::new();
    for room in 0..count {
        let mut messages = Vec::new();
        for number in 0..40 {
            let sender = ["u1", "u2", "bot"][(number * 7 + room) % 3];
            let words = "words and \"signs\" ".repeat((number * 5 + room * 3) % 17);
            messages.push(json!({
                "message_id": format!("m{number}"), "sender": sender, "type": "text", "content": format!("{number} {words}"),
                "create_time": format!("2026-03-01T{:02}:{:02}:00Z", number / 60, number % 60), "refer_list": [],
            }));
        }
        let record = json!({"version": "1.0.0", "conversation_meta": {"name": format!("R{room}"), "scene": "group_chat",
            "conversation_id": format!("r{room}"), "user_details": {"u1": {"full_name": "Zoë", "role": "user"},
            "u2": {"full_name": "Ann", "role": "user"}, "bot": {"full_name": "Gull", "role": "assistant"}}},
            "conversation_list": messages});
        writeln!(lines, "{record}").unwrap();
    }
    lines
}

const TEMPLATE: &str =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}";

#[test]
fn windows_are_the_same_for_all_dialects_on_request() {
    let test_dir = TestDir::new();
    test_dir.write("in/rooms.jsonl", rooms(3));
    test_dir.write("t.jinja", TEMPLATE);
    let dialects = ["openai-chat", "bedrock-converse", "sharegpt", "chatml", "said"];
    let run = |budget: &str, mode: &str| {
        fs::remove_dir_all(test_dir.path("out")).ok();
        let more = format!(
            "[render]\ndialects = {dialects:?}\n[templates.said]\ntemplate = \"t.jinja\"\n[window]\nmode = {mode:?}\n{budget}\n"
        );
        test_dir.run("out", &more, 2).unwrap();
        let out = test_dir.path("out");
        let mut windows: BTreeMap<String, Vec<_>> = BTreeMap::new();
        let places = numbers(&out, "renderings", "first_position")
            .into_iter()
            .zip(numbers(&out, "renderings", "last_position"));
        let tokens = numbers(&out, "renderings", "tokens_o200k_base");
        let conversations = all(&test_dir, "renderings", "conversation_id");
        let mut most: BTreeMap<String, i64> = BTreeMap::new();
        for (((dialect, place), tokens), conversation) in all(&test_dir, "renderings", "dialect")
            .into_iter()
            .zip(places)
            .zip(tokens)
            .zip(conversations)
        {
            let most = most.entry(dialect.clone()).or_default();
            *most = (*most).max(tokens.unwrap());
            windows.entry(dialect).or_default().push((conversation, place));
        }
        let differ: BTreeSet<_> = windows.values().collect();
        (differ.len(), most, windows["said"].len())
    };
    for mode in ["consecutive", "per_turn"] {
        let (differ, ..) = run("max_tokens = { encoding = \"o200k_base\", tokens = 600 }", mode);
        assert!(
            differ > 1,
            "{mode}: the dialects need different windows by themselves"
        );
        let same = "same_for_all = true\nmax_tokens = { encoding = \"o200k_base\", tokens = 600 }";
        let (differ, most, _) = run(same, mode);
        assert_eq!(differ, 1, "{mode}");
        assert!(most.values().all(|tokens| *tokens <= 600), "{mode} {most:?}");
        assert!(most.values().any(|tokens| *tokens > 500), "{mode} {most:?}");
        // The budget counts what a model reads.
        let seen = "max_tokens = { template = \"t.jinja\", tokenizer = \"o200k_base\", tokens = 600 }";
        let (differ, most, _) = run(seen, mode);
        assert_eq!(differ, 1, "{mode}");
        assert!(most["said"] <= 600 && most["said"] > 500, "{mode} {most:?}");
        assert!(most["bedrock-converse"] > 600, "{mode} {most:?}");
    }
}

#[test]
fn a_rendering_refused_by_the_template_of_a_budget_is_a_row_with_the_reason() {
    let test_dir = TestDir::new();
    test_dir.write("in/rooms.jsonl", rooms(12));
    let refusing = "{% for m in messages %}{% if '12 ' in m.content %}{{ raise_exception('no dozens') }}{% endif %}\
                    {{ m.content }}<|im_end|>{% endfor %}";
    test_dir.write("t.jinja", refusing);
    let more = "[render]\ndialects = [\"openai-chat\"]\n[window]\nmode = \"consecutive\"\n\
                max_tokens = { template = \"t.jinja\", tokenizer = \"o200k_base\", tokens = 600 }\n";
    test_dir.run("out", more, 2).unwrap();
    let out = test_dir.path("out");
    let contents = all(&test_dir, "renderings", "content");
    let valid = flags(&out, "renderings", "valid");
    assert!(valid.iter().filter(|valid| **valid == Some(true)).count() > 20);
    for (content, valid) in contents.iter().zip(valid) {
        assert_eq!(
            valid == Some(true),
            !content.contains("12 words") && !content.contains("12 \""),
            "{content}"
        );
    }
}
