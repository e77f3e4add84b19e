//! `[select]`: the key that excludes a conversation.

use crate::pipeline::SelectSection;
use crate::plan::Selection;
use chatmill_diag::Limits;
use chatmill_model::Linked;
use serde_json::json;

use crate::tests::test_dir::{TestDir, chat, message, read};

/// Returns a chat on the first two days of March.
fn march() -> Linked {
    let (mut first, mut last) = (message("a", &[]), message("b", &[]));
    first["create_time"] = json!("2026-03-01T12:00:00Z");
    last["create_time"] = json!("2026-03-02T12:00:00Z");
    let slice = TestDir::only("a.json", &chat(&[first, last]));
    read(&slice, &Limits::default()).outcome.linked.unwrap()
}

fn left_out(select: &str, linked: &Linked) -> Option<String> {
    let section: SelectSection = toml::from_str(select).unwrap();
    let selection = Selection::new(&section, &[]).unwrap();
    let reason = selection.excluded_by("g", &linked.conversation, std::iter::empty());
    reason.map(str::to_owned)
}

#[test]
fn since_is_compared_with_the_last_message_and_until_with_the_first() {
    let linked = march();
    for (select, expected) in [
        ("since = \"2026-03-02\"", None),
        ("since = \"2026-03-02T12:00:00Z\"", None),
        ("since = \"2026-03-02T12:00:01Z\"", Some("since")),
        ("until = \"2026-03-02\"", None),
        ("until = \"2026-03-01T12:00:00Z\"", Some("until")),
        ("since = \"2026-03-02\"\nuntil = \"2026-03-02\"", None),
    ] {
        assert_eq!(left_out(select, &linked).as_deref(), expected, "{select}");
    }
}

#[test]
fn a_conversation_without_times_is_left_out_by_either_key() {
    let text = json!({"messages": [{"role": "user", "content": "hi"}]}).to_string();
    let slice = TestDir::only("a.json", &text);
    let linked = read(&slice, &Limits::default()).outcome.linked.unwrap();
    assert_eq!(
        left_out("since = \"2000-01-01\"", &linked).as_deref(),
        Some("since")
    );
    assert_eq!(
        left_out("until = \"3000-01-01\"", &linked).as_deref(),
        Some("until")
    );
    assert_eq!(left_out("", &linked), None);
}

#[test]
fn the_first_key_that_leaves_a_conversation_out_is_the_reason() {
    let linked = march();
    let all = "conversations = [\"h\"]\nsample = 0.0\nsince = \"2027-01-01\"\nscene = \"assistant\"\nmin_turns = 9\n";
    let mut select: Vec<&str> = all.lines().collect();
    for expected in ["conversations", "sample", "since", "scene", "min_turns"] {
        assert_eq!(left_out(&select.join("\n"), &linked).as_deref(), Some(expected));
        select.remove(0);
    }
}

#[test]
fn a_sample_keeps_a_conversation_by_its_id_alone() {
    let linked = march();
    assert_eq!(left_out("sample = 1.0", &linked), None);
    assert_eq!(left_out("sample = 0.0", &linked).as_deref(), Some("sample"));
    let wrong: SelectSection = toml::from_str("sample = 1.5").unwrap();
    let message = Selection::new(&wrong, &[]).err().unwrap().to_string();
    assert_eq!(message, "select.sample: it must be between 0 and 1");
}
