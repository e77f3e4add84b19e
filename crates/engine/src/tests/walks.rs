//! Reads inputs conversation by conversation, without a dataset.

use std::sync::atomic::AtomicBool;

use crate::Silent;
use crate::error::ReadError;
use crate::plan::typed_in_tests;
use crate::record::Settings;
use crate::walk::{WalkEvent, walk};
use chatmill_diag::Limits;

use crate::tests::test_dir::{TestDir, chat, message, request, row};

/// Returns the events of the walk, one word each; at most `most` events.
fn events(test_dir: &TestDir, stop: bool, most: usize) -> Result<Vec<String>, ReadError> {
    let inputs = typed_in_tests(&[test_dir.path("")]);
    let mut seen = Vec::new();
    let stop = AtomicBool::new(stop);
    walk(
        &inputs,
        Settings::plain(&Limits::default()),
        &Silent,
        &stop,
        &mut |event| {
            seen.push(match event {
                WalkEvent::Entry(_) => "entry".to_owned(),
                WalkEvent::Recognised(_) => "recognised".to_owned(),
                WalkEvent::Record { is_rejected, .. } => format!("record, rejected: {is_rejected}"),
                WalkEvent::Table { table, .. } => format!("table {table}"),
                WalkEvent::ReadProblem(problem) => format!("trouble {}", problem.line.unwrap_or_default()),
                WalkEvent::Failed(_) => "failed".to_owned(),
                WalkEvent::Conversation { id, linked, .. } => {
                    format!("{id} with {}", linked.conversation.messages.len())
                }
            });
            seen.len() < most
        },
    )?;
    Ok(seen)
}

#[test]
fn a_conversation_comes_after_its_record_and_a_broken_one_is_a_problem_with_its_line() {
    let text = format!("{}{{\"messages\": oops}}\n", request("hi"));
    let seen = events(&TestDir::new(&[("a.jsonl", &text)]), false, 99).unwrap();
    let [entry, first, conversation, second, problem, recognised] = &seen[..] else {
        panic!("{seen:?}")
    };
    assert_eq!([entry, recognised], ["entry", "recognised"]);
    assert_eq!(
        [first, second],
        ["record, rejected: false", "record, rejected: true"]
    );
    assert!(conversation.ends_with(" with 1"), "{conversation}");
    assert_eq!(problem, "trouble 2");
}

#[test]
fn rows_are_records_and_their_thread_is_one_conversation() {
    let rows = [row("t", "a", "1"), row("t", "b", "2")].concat();
    let seen = events(&TestDir::new(&[("a.jsonl", &rows)]), false, 99).unwrap();
    let records = seen
        .iter()
        .filter(|word| *word == "record, rejected: false")
        .count();
    assert_eq!(records, 2, "{seen:?}");
    assert!(seen.contains(&"t with 2".to_owned()), "{seen:?}");
}

#[test]
fn a_walk_ends_when_its_visitor_asks_for_no_more_events() {
    let chats = chat(&[message("a", &[])]);
    let rows = [row("t", "a", "1"), row("t", "b", "2")].concat();
    let test_dir = TestDir::new(&[("a.json", &chats), ("b.jsonl", &rows)]);
    for most in 1..7 {
        assert_eq!(events(&test_dir, false, most).unwrap().len(), most);
    }
}

#[test]
fn a_stopped_walk_ends_with_an_error() {
    let test_dir = TestDir::new(&[("a.jsonl", &request("hi"))]);
    assert!(matches!(events(&test_dir, true, 99), Err(ReadError::Stopped)));
}
