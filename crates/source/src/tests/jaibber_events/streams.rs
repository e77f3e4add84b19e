//! Answers in pieces.

use chatmill_diag::{Path, Severity};
use chatmill_model::{MessageKind, Role};
use serde_json::json;

use super::{answer, begin, conversation, names, payload, read, turns};

#[test]
fn the_whole_answer_takes_the_place_of_its_pieces() {
    let reading = read(&json!([
        begin("t1", "r1"),
        answer("chunk", "r1", "Hel"),
        payload("ann", "message", "m1", "meanwhile"),
        answer("chunk", "r1", "lo"),
        answer("response", "r1", "Hello!"),
    ]));
    assert_eq!(turns(&reading), ["meanwhile", "Hello!"]);
    let messages = &conversation(&reading).messages;
    assert_eq!(messages[0].kind, MessageKind::Notice);
    assert_eq!(
        (messages[2].id.as_deref(), messages[2].origin.index),
        (Some("r1"), 4)
    );
    assert_eq!(names(&reading.findings), ["unmentioned-response"]);
    assert_eq!(
        (reading.rows.messages, reading.rows.notices, reading.rows.merged),
        (2, 1, 2)
    );
}

#[test]
fn pieces_of_an_answer_may_have_ids_of_their_own() {
    let mut rows = vec![begin("t1", "r1")];
    for (id, kind, text) in [
        ("c1", "chunk", "a"),
        ("c2", "chunk", "b"),
        ("e1", "response", "ab."),
    ] {
        let mut row = answer(kind, id, text);
        row["responseId"] = json!("r1");
        rows.push(row);
    }
    let reading = read(&json!(rows));
    assert_eq!(turns(&reading), ["ab."]);
    assert_eq!(conversation(&reading).messages[1].id.as_deref(), Some("e1"));
    assert_eq!(names(&reading.findings), ["unmentioned-response"]);
}

#[test]
fn an_answer_without_its_end_keeps_its_pieces_and_a_mark() {
    let reading = read(&json!([
        begin("t1", "r1"),
        answer("chunk", "r1", "Hel"),
        payload("ann", "message", "m1", "meanwhile"),
        answer("chunk", "r1", "lo"),
        begin("t2", "r2"),
    ]));
    assert_eq!(turns(&reading), ["meanwhile", "Hello"]);
    let message = &conversation(&reading).messages[2];
    assert_eq!(message.source_type.as_deref(), Some("chunk"));
    assert_eq!(message.id.as_deref(), Some("r1"));
    let found: Vec<_> = reading
        .findings
        .iter()
        .map(|finding| (finding.code.name, finding.position))
        .collect();
    assert_eq!(
        found,
        [("unfinished-stream", Some(2)), ("unfinished-stream", Some(3))],
        "the second was only begun"
    );
}

#[test]
fn an_answer_without_its_beginning_is_kept_as_far_as_it_goes() {
    let reading = read(&json!([
        answer("chunk", "r1", "lo"),
        answer("chunk", "r1", "!"),
        begin("t1", "r1")
    ]));
    assert_eq!(turns(&reading), ["lo!"]);
    assert_eq!(names(&reading.findings), ["unfinished-stream", "orphan-chunk"]);
    assert_eq!(reading.findings[1].count, 2);
    assert_eq!(reading.findings[1].path, Path::Absolute("$[0]".to_owned()));

    let reading = read(&json!([
        answer("chunk", "r1", "lo"),
        answer("response", "r1", "Hello")
    ]));
    assert_eq!(turns(&reading), ["Hello"]);
    assert_eq!(names(&reading.findings), ["orphan-chunk", "unmentioned-response"]);
    assert_eq!(reading.findings[0].severity, Severity::Note);

    let mut lost = answer("chunk", "r1", "alone");
    lost.as_object_mut().unwrap().remove("messageId");
    let reading = read(&json!([lost.clone(), lost]));
    assert_eq!(turns(&reading), ["alone", "alone"]);
    let orphans = names(&reading.findings);
    assert_eq!(orphans.iter().filter(|name| **name == "orphan-chunk").count(), 2);
}

#[test]
fn late_pieces_leave_the_answer_as_it_is() {
    let reading = read(&json!([
        begin("t1", "r1"),
        answer("response", "r1", "Hello"),
        answer("chunk", "r1", "lo"),
        answer("chunk", "r1", "lo"),
    ]));
    assert_eq!(turns(&reading), ["Hello"]);
    assert_eq!(names(&reading.findings), ["late-chunk", "unmentioned-response"]);
    assert_eq!(
        (reading.findings[0].count, reading.findings[0].position),
        (2, Some(1))
    );
    assert_eq!(reading.rows.merged, 2);
}

#[test]
fn an_error_ends_an_answer_and_what_was_said_before_stays_with_it() {
    let reading = read(&json!([
        begin("t1", "r1"),
        answer("chunk", "r1", "Hel"),
        answer("error", "r1", "Agent error: boom")
    ]));
    let message = &conversation(&reading).messages[1];
    assert_eq!(message.text(), "Agent error: boom");
    assert_eq!(message.source_type.as_deref(), Some("error"));
    assert_eq!(message.role, Role::Assistant);
    assert_eq!(message.extra.get("partialText").unwrap().as_str(), "\"Hel\"");
    assert_eq!(reading.findings, []);
}
