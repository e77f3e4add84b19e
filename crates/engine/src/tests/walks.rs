//! Reading conversation by conversation, without a dataset.

use std::sync::atomic::AtomicBool;

use crate::Silent;
use crate::error::ReadError;
use crate::plan::typed_inputs;
use crate::record::Settings;
use crate::walk::{WalkEvent, walk};
use chatmill_diag::Limits;

use crate::tests::desk::{Desk, message, request, room, row};

/// What comes along the way, a word each; `most` events at most.
fn events(desk: &Desk, stop: bool, most: usize) -> Result<Vec<String>, ReadError> {
    let inputs = typed_inputs(&[desk.path("")], "auto").unwrap();
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
                WalkEvent::Trouble(trouble) => format!("trouble {}", trouble.line.unwrap_or_default()),
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
fn a_conversation_comes_after_its_record_and_a_broken_one_is_a_trouble_with_its_line() {
    let text = format!("{}{{\"messages\": oops}}\n", request("hi"));
    let seen = events(&Desk::new(&[("a.jsonl", &text)]), false, 99).unwrap();
    let [entry, first, conversation, second, trouble, recognised] = &seen[..] else {
        panic!("{seen:?}")
    };
    assert_eq!([entry, recognised], ["entry", "recognised"]);
    assert_eq!(
        [first, second],
        ["record, rejected: false", "record, rejected: true"]
    );
    assert!(conversation.ends_with(" with 1"), "{conversation}");
    assert_eq!(trouble, "trouble 2");
}

#[test]
fn rows_are_records_and_their_thread_is_one_conversation() {
    let rows = [row("t", "a", "1"), row("t", "b", "2")].concat();
    let seen = events(&Desk::new(&[("a.jsonl", &rows)]), false, 99).unwrap();
    let records = seen
        .iter()
        .filter(|word| *word == "record, rejected: false")
        .count();
    assert_eq!(records, 2, "{seen:?}");
    assert!(seen.contains(&"t with 2".to_owned()), "{seen:?}");
}

#[test]
fn a_walk_ends_when_its_visitor_asks_for_no_more_events() {
    let rooms = room(&[message("a", &[])]);
    let rows = [row("t", "a", "1"), row("t", "b", "2")].concat();
    let desk = Desk::new(&[("a.json", &rooms), ("b.jsonl", &rows)]);
    for most in 1..7 {
        assert_eq!(events(&desk, false, most).unwrap().len(), most);
    }
}

#[test]
fn a_walk_that_is_stopped_says_so() {
    let desk = Desk::new(&[("a.jsonl", &request("hi"))]);
    assert!(matches!(events(&desk, true, 99), Err(ReadError::Stopped)));
}
