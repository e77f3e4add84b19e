//! Rows that say again what was said.

use chatmill_diag::Severity;
use serde_json::json;

use super::{answer, begin, conversation, names, payload, read, turns};

#[test]
fn a_rewound_channel_repeats_nothing() {
    let rows = [
        payload("ann", "message", "m1", "@Coder?"),
        begin("t1", "r1"),
        answer("chunk", "r1", "ha "),
        answer("chunk", "r1", "ha "),
    ];
    let mut twice = rows.to_vec();
    twice.extend(rows.clone());
    twice.push(answer("chunk", "r1", "ho"));
    let reading = read(&json!(twice));
    assert_eq!(turns(&reading), ["@Coder?", "ha ha ho"]);
    assert_eq!(reading.rows.repeated, 4);
    twice.push(answer("response", "r1", "ha ha ho"));
    twice.push(answer("response", "r1", "ha ha ho"));
    let reading = read(&json!(twice));
    assert_eq!(turns(&reading), ["@Coder?", "ha ha ho"]);
    assert_eq!(names(&reading.findings), ["repeated-row"; 5]);

    // With an envelope the event itself is known again.
    let event = json!({"id": "e1:0", "clientId": "u", "data": answer("chunk", "r1", "ha ")});
    let reading = read(&json!([event.clone(), event]));
    assert_eq!(turns(&reading), ["ha "]);
    assert_eq!(reading.rows.repeated, 1);
}

#[test]
fn the_first_row_of_an_id_counts_unless_another_client_captured_it_better() {
    let reading = read(&json!([
        payload("ann", "message", "m1", "one"),
        payload("ann", "message", "m1", "two")
    ]));
    assert_eq!(turns(&reading), ["one"]);
    assert_eq!((reading.rows.messages, reading.rows.repeated), (1, 1));
    let found = &reading.findings[0];
    assert_eq!(names(&reading.findings), ["duplicate-message-id"]);
    assert_eq!((found.position, found.severity), (Some(0), Severity::Warning));
    let error = read(&json!([
        answer("response", "r1", "whole"),
        answer("error", "r1", "Agent error: boom")
    ]));
    assert_eq!(turns(&error), ["whole"]);
    assert_eq!(
        names(&error.findings),
        ["duplicate-message-id", "unmentioned-response"]
    );
    let mut stored = answer("response", "r1", "server copy");
    stored = json!({"id": "r1", "projectId": "p", "senderId": "u1", "senderType": "agent", "senderName": "Coder",
        "type": "response", "text": stored["text"], "parentMessageId": "m1", "createdAt": "2026-01-01T00:00:00Z"});
    for rows in [
        [stored.clone(), answer("response", "r1", "live copy")],
        [answer("response", "r1", "live copy"), stored],
    ] {
        let reading = read(&json!(rows));
        assert_eq!(turns(&reading), ["live copy"]);
        let message = &conversation(&reading).messages[0];
        assert_eq!(message.timestamp.as_ref().unwrap().raw, "2026-01-01T00:00:00Z");
        assert_eq!(message.references[0].target.as_deref(), Some("m1"));
        assert_eq!(names(&reading.findings), ["repeated-row", "unmentioned-response"]);
    }
}
