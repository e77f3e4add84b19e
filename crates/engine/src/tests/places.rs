//! Findings in a record are mapped to byte, line and column.

use crate::record::locate::Located;
use chatmill_diag::{Limits, Span};
use serde_json::json;

use crate::tests::test_dir::{TestDir, chat, message, read, row};

fn at(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap()
}

/// Returns the findings of a file with one record.
fn findings(name: &str, text: &str) -> Vec<Located> {
    read(&TestDir::only(name, text), &Limits::default())
        .outcome
        .findings
}

fn named<'f>(findings: &'f [Located], name: &str) -> &'f Located {
    let mut found = findings
        .iter()
        .filter(|located| located.finding.code.name == name);
    found.next().unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_finding_in_a_message_is_located_at_its_value() {
    let text = chat(&[message("é", &[]), message("b", &["nowhere"])]);
    let findings = findings("a.json", &text);
    let dangling = named(&findings, "dangling-reference");
    let span = dangling.span.unwrap();
    assert_eq!(at(&text, span), "\"nowhere\"");
    assert_eq!(
        dangling.json_path.as_deref(),
        Some("$.conversation_list[1].refer_list[0]")
    );
    let line = text.lines().nth(3).unwrap();
    let column = line.find("\"nowhere\"").unwrap() as u64 + 1;
    assert_eq!(dangling.line_column, Some((4, column)));
}

#[test]
fn a_column_counts_characters_and_not_bytes() {
    let mut second = message("b", &["nowhere"]);
    second["content"] = json!("привіт");
    let text = chat(&[message("a", &[]), second]);
    let findings = findings("a.json", &text);
    let line = text.lines().nth(3).unwrap();
    let before = line.split("\"nowhere\"").next().unwrap();
    let column = before.chars().count() as u64 + 1;
    assert_eq!(
        named(&findings, "dangling-reference").line_column,
        Some((4, column))
    );
}

#[test]
fn a_finding_about_a_missing_field_is_located_at_its_parent() {
    let mut bare = message("a", &[]);
    bare.as_object_mut().unwrap().remove("create_time");
    let text = chat(&[bare.clone()]);
    let findings = findings("a.json", &text);
    let missing = named(&findings, "missing-field");
    assert_eq!(at(&text, missing.span.unwrap()), bare.to_string());
    assert_eq!(
        missing.json_path.as_deref(),
        Some("$.conversation_list[0].create_time")
    );
    assert_eq!(missing.line_column, Some((3, 1)));
}

#[test]
fn a_path_found_in_part_places_the_finding_at_its_last_existing_step() {
    let text = chat(&[message("a", &[])]).replace("\"name\":\"N\",", "");
    let findings = findings("a.json", &text);
    let missing = named(&findings, "missing-field");
    assert_eq!(missing.json_path.as_deref(), Some("$.conversation_meta.name"));
    let shown = at(&text, missing.span.unwrap());
    assert!(
        shown.starts_with("{\"group_id\"") && shown.ends_with("}}"),
        "{shown}"
    );
}

#[test]
fn findings_come_in_the_order_of_messages_then_codes_then_bytes() {
    let text = chat(&[message("a", &["x", "y"]), message("b", &["z"])]);
    let keys: Vec<_> = findings("a.json", &text)
        .iter()
        .map(|located| {
            (
                located.finding.position,
                located.finding.code.code,
                located.span.unwrap().start,
            )
        })
        .collect();
    assert!(keys.len() >= 3, "{keys:?}");
    assert!(keys.is_sorted(), "{keys:?}");
}

#[test]
fn findings_in_grouped_rows_have_a_place_in_the_file_and_a_path_in_the_row() {
    let wrong = row("t", "b", "2").replace("2026-01-01T00:00:00+00:00", "yesterday");
    let lines = [row("t", "a", "1"), row("u", "x", "1"), wrong];
    let text = lines.concat();
    let slice = TestDir::only("a.jsonl", &text);
    let record = crate::tests::test_dir::records(&slice)[0];
    let limits = Limits::default();
    let read = record.read(crate::record::Settings::plain(&limits)).remove(0);
    let located = read
        .outcome
        .findings
        .iter()
        .find(|located| located.json_path.as_deref() == Some("$.created_at"))
        .expect("an unusable time is a finding");
    assert_eq!(located.row, Some(1));
    let span = located.span.unwrap();
    assert_eq!(at(&text, span), "\"yesterday\"");
    let column = lines[2].find("\"yesterday\"").unwrap() as u64 + 1;
    assert_eq!(located.line_column, Some((3, column)));
    let inside = located.inside.clone().unwrap();
    assert_eq!(lines[2].get(inside), Some("\"yesterday\""));
}

/// Returns the text that a finding points at, and its path.
fn pointed(name: &str, text: &str, code: &str) -> (String, Option<String>) {
    let findings = findings(name, text);
    let located = named(&findings, code);
    (
        at(text, located.span.unwrap()).to_owned(),
        located.json_path.clone(),
    )
}

#[test]
fn a_finding_about_a_call_is_located_at_its_id() {
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "gate", "arguments": "{}"}});
    let text = json!({"messages": [
        {"role": "user", "content": "c1 or c2?"},
        {"role": "assistant", "content": null, "tool_calls": [call("c1"), call("c2")]},
        {"role": "tool", "tool_call_id": "c1", "content": "shut"},
        {"role": "tool", "tool_call_id": "c9", "content": "open"},
    ]})
    .to_string();
    assert_eq!(
        pointed("a.json", &text, "unanswered-call"),
        (
            "\"c2\"".to_owned(),
            Some("$.messages[1].tool_calls[1].id".to_owned())
        )
    );
    assert_eq!(
        pointed("a.json", &text, "orphaned-result"),
        ("\"c9\"".to_owned(), Some("$.messages[3].tool_call_id".to_owned()))
    );
}

#[test]
fn a_call_in_json_that_a_string_holds_is_found_inside_the_string() {
    let content = json!({"role": "assistant", "content": "c10", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "gate", "arguments": "{}"}},
    ]});
    let rows = json!([
        {"message_id": "a", "thread_id": "t", "type": "user", "is_llm_message": true, "created_at": "2026-01-01T00:00:00Z",
         "content": json!({"role": "user", "content": "c1?"}).to_string()},
        {"message_id": "b", "thread_id": "t", "type": "assistant", "is_llm_message": true, "created_at": "2026-01-01T00:00:01Z",
         "content": content.to_string()},
    ]);
    let (shown, path) = pointed("a.json", &rows.to_string(), "unanswered-call");
    assert_eq!((shown.as_str(), path.as_deref()), ("c1", Some("$.content")));
}

#[test]
fn a_word_is_pointed_at_where_the_text_has_it() {
    let mut control = message("a", &[]);
    control["content"] = json!("say <|im_end|> and <|im_start|>");
    let text = chat(&[control]);
    let (shown, path) = pointed("a.json", &text, "special-token-in-text");
    assert_eq!(shown, "<|im_end|>");
    assert_eq!(path.as_deref(), Some("$.conversation_list[0].content"));
}

#[test]
fn repairs_of_the_scan_have_a_path() {
    let text = chat(&[message("a", &[])]).replace("\"N\"", r#""x\ud800""#);
    let (_, path) = pointed("a.json", &text, "lone-surrogate");
    assert_eq!(path.as_deref(), Some("$.conversation_meta.name"));
}

#[test]
fn a_mark_that_is_not_there_leaves_the_finding_at_its_message() {
    // The time is written with an escape, which the quoted text does not have.
    let mut early = message("b", &[]);
    early["create_time"] = json!("2001-01-01T00:00:00Z");
    let text = chat(&[message("a", &[]), early]);
    let (shown, _) = pointed("a.json", &text, "time-goes-backwards");
    assert_eq!(shown, "\"2001-01-01T00:00:00Z\"");
    let escaped = text.replace("2001-01", "2001\\u002d01");
    let (shown, _) = pointed("a.json", &escaped, "time-goes-backwards");
    assert_eq!(shown, "\"2001\\u002d01-01T00:00:00Z\"", "escapes say the same");
}

#[test]
fn further_findings_of_a_code_are_folded_into_one_with_their_number() {
    let refers: Vec<String> = (0..9).map(|number| format!("gone-{number}")).collect();
    let refers: Vec<&str> = refers.iter().map(String::as_str).collect();
    let limits = Limits {
        findings_per_code: 2,
        ..Limits::default()
    };
    let slice = TestDir::only("a.json", &chat(&[message("a", &refers)]));
    let findings = read(&slice, &limits).outcome.findings;
    let dangling: Vec<u64> = findings
        .iter()
        .filter(|located| located.finding.code.name == "dangling-reference")
        .map(|located| located.finding.count)
        .collect();
    assert_eq!(dangling.iter().sum::<u64>(), 9);
    assert_eq!(dangling.len(), 3);
}
