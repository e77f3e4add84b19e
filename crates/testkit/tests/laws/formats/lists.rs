//! Conversations in which each message is a record: bare lists as files, lines and elements, and rows that name their
//! conversation.

use std::path::Path;

use chatmill_testkit::samples::samples;
use chatmill_workshop::TestDir;
use chatmill_workshop::rows::{numbers, texts};

const SHORT: &str = r#"[{"role":"user","content":"Is it late?"},{"role":"assistant","content":"Rather."}]"#;
const LONG: &str = r#"[{"role":"system","content":"Be brief."},{"role":"user","content":"Is it late?"},{"role":"assistant","content":"Yes."}]"#;

/// The source of a file, and its numbers of records and conversations.
fn verdict(path: &Path) -> (String, u64, u64) {
    let (_, verdict) = TestDir::check(path);
    (
        verdict.source.unwrap_or_default().to_owned(),
        verdict.records,
        verdict.conversations,
    )
}

#[test]
fn a_bare_list_is_one_conversation_as_a_file_as_a_line_and_as_an_element() {
    let test_dir = TestDir::new();
    for (name, text, records, conversations) in [
        ("file.json", LONG.to_owned(), 3, 1),
        ("pretty.json", LONG.replace("},", "},\n  "), 3, 1),
        ("lines.jsonl", format!("{SHORT}\n{LONG}\n"), 2, 2),
        ("elements.json", format!("[{SHORT},\n{LONG}]"), 2, 2),
    ] {
        let path = test_dir.write(name, text);
        let expected = ("openai-messages".to_owned(), records, conversations);
        assert_eq!(verdict(&path), expected, "{name}");
    }
}

#[test]
fn a_list_as_a_file_and_as_a_line_give_the_same_messages() {
    let test_dir = TestDir::new();
    test_dir.write("in/file.json", LONG);
    test_dir.write("in/lines.jsonl", format!("{LONG}\n{SHORT}\n"));
    let dialects = "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n";
    test_dir.run("out", dialects, 2).unwrap();
    let out = test_dir.path("out");
    let mut said = texts(&out, "messages", "text");
    said.sort();
    let count = |text: &str| said.iter().filter(|said| said.as_deref() == Some(text)).count();
    assert_eq!(
        (said.len(), count("Be brief."), count("Yes."), count("Rather.")),
        (8, 2, 2, 1)
    );
    let mut counts = numbers(&out, "conversations", "message_count");
    counts.sort_unstable();
    assert_eq!(counts, [Some(2), Some(3), Some(3)]);
    let contents = texts(&out, "renderings", "content");
    assert_eq!(contents.len(), 3);
    let twice = contents
        .iter()
        .filter(|content| content.as_deref().unwrap().contains("Yes."));
    let twice: Vec<_> = twice.collect();
    assert_eq!(twice.len(), 2);
    assert_eq!(twice[0], twice[1]);
}

#[test]
fn requests_of_one_channel_are_one_conversation_and_point_at_each_other() {
    let test_dir = TestDir::new();
    let list = std::fs::read(samples().join("sources/tzurot-requests/list-room.json")).unwrap();
    test_dir.write("in/room.json", list);
    test_dir
        .run("out", "[limits]\nmax_reject_ratio = 1.0\n", 1)
        .unwrap();
    let out = test_dir.path("out");
    let ids = texts(&out, "conversations", "source_conversation_id");
    assert_eq!(ids, [Some("88/ada".to_owned())]);
    assert_eq!(texts(&out, "messages", "text").len(), 6);
    let statuses = texts(&out, "message_references", "status");
    let statuses: Vec<&str> = statuses.iter().map(|status| status.as_deref().unwrap()).collect();
    assert_eq!(statuses, ["resolved", "preview", "resolved", "preview"]);
}
