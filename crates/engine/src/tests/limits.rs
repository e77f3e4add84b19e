//! Limits of single records, each kept and exceeded by one.

use chatmill_diag::Limits;
use serde_json::json;

use crate::tests::test_dir::{TestDir, chat, message, read, request, row};

/// Returns the codes of the findings about a file with one record.
fn codes(name: &str, text: &str, limits: &Limits) -> Vec<&'static str> {
    let slice = TestDir::only(name, text);
    let read = read(&slice, limits);
    let rejects = read
        .outcome
        .rejects
        .iter()
        .map(|(reject, _)| reject.finding.code.name);
    let findings = read
        .outcome
        .findings
        .iter()
        .map(|located| located.finding.code.name);
    rejects.chain(findings).collect()
}

#[test]
fn messages_per_conversation_bounds_a_conversation() {
    let text = chat(&[message("a", &[]), message("b", &[])]);
    let limits = |most| Limits {
        messages_per_conversation: most,
        ..Limits::default()
    };
    assert!(!codes("a.json", &text, &limits(2)).contains(&"conversation-too-large"));
    assert!(codes("a.json", &text, &limits(1)).contains(&"conversation-too-large"));
}

#[test]
fn references_per_message_bounds_the_references_of_a_message() {
    let text = chat(&[message("a", &[]), message("b", &["a", "a"])]);
    let limits = |most| Limits {
        references_per_message: most,
        ..Limits::default()
    };
    assert!(!codes("a.json", &text, &limits(2)).contains(&"too-many-references"));
    assert!(codes("a.json", &text, &limits(1)).contains(&"too-many-references"));
}

#[test]
fn depth_limits_nesting_of_records_and_of_grouped_rows_alike() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let limits = Limits {
        depth: 8,
        ..Limits::default()
    };
    // An object, a list and a message enclose the text; an object and a message enclose the text of a row.
    let frame = |levels| request("x").replace("\"x\"", &nested(levels));
    let nested_row = |levels| row("t", "a", "x").replace("\"x\"", &nested(levels));
    let is_too_deep = |text: String| codes("a.jsonl", &text, &limits).contains(&"depth-exceeded");
    assert!(!is_too_deep(frame(5)) && is_too_deep(frame(6)));
    assert!(!is_too_deep(nested_row(6)) && is_too_deep(nested_row(7)));
}

#[test]
fn a_conversation_without_an_id_is_called_by_the_hash_of_its_record() {
    let text = json!({"messages": [{"role": "user", "content": "hi"}]}).to_string();
    let slice = TestDir::only("a.json", &text);
    let limits = Limits::default();
    let read = read(&slice, &limits);
    let id = crate::record::id(read.outcome.linked.as_ref().unwrap(), &read.hash);
    assert_eq!(id.len(), 16);
    assert!(blake3::hash(text.as_bytes()).to_hex().starts_with(&id));
}
