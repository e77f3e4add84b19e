//! Exports that are broken, cut or incomplete: a finding with its place for what is wrong, and everything else stays.

use std::path::PathBuf;

use chatmill_testkit::samples::samples;
use chatmill_workshop::{Workshop, rows};

const LENIENT: &str = "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n[limits]\nmax_reject_ratio = 1.0\nmax_error_findings = 1000\n";

/// A run over these files, whatever they are.
fn run(files: &[(&str, &str)]) -> (Workshop, PathBuf) {
    let workshop = Workshop::new();
    for (name, text) in files {
        workshop.write(&format!("in/{name}"), text);
    }
    workshop.run("out", LENIENT, 2).unwrap();
    let out = workshop.path("out");
    (workshop, out)
}

fn said(out: &std::path::Path) -> Vec<String> {
    rows::texts(out, "messages", "text")
        .into_iter()
        .flatten()
        .collect()
}

/// The lines of the findings of a code.
fn lines(out: &std::path::Path, name: &str) -> Vec<Option<i64>> {
    let names = rows::texts(out, "findings", "name").into_iter().flatten();
    let lines = rows::numbers(out, "findings", "line_number");
    let all = names.zip(lines).filter(|(known, _)| known == name);
    all.map(|(_, line)| line).collect()
}

#[test]
fn a_slack_day_without_its_lists_of_people_and_channels_is_read() {
    let day = r#"[{"type": "message", "user": "U1", "text": "Who waters <@U2>?", "ts": "1767600300.000100"},
{"type": "message", "user": "U2", "text": "I do.", "ts": "1767600400.000100", "thread_ts": "1767600300.000100"}]"#;
    let (_workshop, out) = run(&[("export/garden/2026-01-05.json", day)]);
    assert_eq!(said(&out).len(), 2);
    assert_eq!(lines(&out, "incomplete-export").len(), 1);
}

#[test]
fn an_array_that_was_cut_costs_its_last_conversation() {
    let chat = |id: &str| {
        format!(
            r#"{{"conversation_id": "{id}", "current_node": "b", "mapping": {{"b": {{"parent": null, "children": [], "message": {{"id": "b", "author": {{"role": "user"}}, "content": {{"content_type": "text", "parts": ["{id}"]}}}}}}}}}}"#
        )
    };
    let third = chat("three");
    let text = format!(
        "[{},\n{},\n{}",
        chat("one"),
        chat("two"),
        &third[..third.len() / 2]
    );
    let (_workshop, out) = run(&[("conversations.json", &text)]);
    assert_eq!(said(&out), ["one", "two"]);
    assert_eq!(lines(&out, "truncated-stream"), [Some(3)]);
}

#[test]
fn a_line_that_is_no_object_costs_itself() {
    let line = |uuid: &str, role: &str, said: &str| {
        format!(
            r#"{{"type":"{role}","uuid":"{uuid}","parentUuid":null,"sessionId":"s1","message":{{"role":"{role}","content":"{said}"}}}}"#
        )
    };
    let text = format!(
        "{}\n7\n[1]\n\"x\"\nnull\n{}\n",
        line("u1", "user", "Hi"),
        line("u2", "user", "Hello")
    );
    let (_workshop, out) = run(&[("s1.jsonl", &text)]);
    assert_eq!(said(&out), ["Hi", "Hello"]);
    assert_eq!(lines(&out, "wrong-type"), [2, 3, 4, 5].map(Some));
}

#[test]
fn ids_beyond_what_a_double_holds_stay_apart() {
    let text = r#"{"name": "Walks", "type": "private_group", "id": 9007199254740993, "messages": [
{"id": 9007199254740993, "type": "message", "date": "2026-01-05T10:00:00", "date_unixtime": "1767607200", "from": "Ann", "from_id": "user1", "text": "Tomorrow?"},
{"id": 9007199254740992, "type": "message", "date": "2026-01-05T10:01:00", "date_unixtime": "1767607260", "from": "Ben", "from_id": "user2", "text": "Yes.", "reply_to_message_id": 9007199254740993}]}"#;
    let (_workshop, out) = run(&[("result.json", text)]);
    let mut ids: Vec<String> = rows::texts(&out, "messages", "message_id")
        .into_iter()
        .flatten()
        .collect();
    ids.sort();
    assert_eq!(ids, ["9007199254740992", "9007199254740993"]);
    assert_eq!(
        rows::texts(&out, "message_references", "status"),
        [Some("resolved".to_owned())]
    );
}

#[test]
fn a_mark_text_that_was_decoded_wrongly_and_a_count_that_disagrees_are_told() {
    let text = std::fs::read_to_string(samples().join("sources/discord-export/example/discord-export.json"))
        .unwrap();
    let mut export: serde_json::Value = serde_json::from_str(&text).unwrap();
    export["messageCount"] = 999.into();
    let before = export["messages"].as_array().unwrap().len();
    export["messages"][0]["content"] = "Das CafÃ© hat geÃ¶ffnet".into();
    let (_workshop, out) = run(&[("general.json", &format!("\u{feff}{export}"))]);
    assert_eq!(said(&out).len(), before);
    for name in ["byte-order-mark", "mojibake", "incomplete-export"] {
        assert_eq!(lines(&out, name).len(), 1, "{name}");
    }
}

#[test]
fn reasoning_that_is_encrypted_is_told_and_never_rendered() {
    let text = r#"{"timestamp":"2026-01-02T10:00:00Z","type":"session_meta","payload":{"id":"c1","cli_version":"0.60.0"}}
{"timestamp":"2026-01-02T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}}
{"timestamp":"2026-01-02T10:00:02Z","type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"gAAAAABsecret"}}
{"timestamp":"2026-01-02T10:00:03Z","type":"response_item","payload":{"type":"custom_tool_call","call_id":"k1","name":"apply_patch","input":"*** Begin Patch"}}
{"timestamp":"2026-01-02T10:00:04Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"k1","output":"Done."}}
{"timestamp":"2026-01-02T10:00:05Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}}
"#;
    let (_workshop, out) = run(&[("rollout.jsonl", text)]);
    assert_eq!(lines(&out, "encrypted-reasoning"), [Some(3)]);
    assert_eq!(lines(&out, "malformed-arguments"), []);
    let rendered = rows::texts(&out, "renderings", "content");
    assert!(
        rendered.iter().flatten().all(|text| !text.contains("gAAAAAB")),
        "{rendered:?}"
    );
}
