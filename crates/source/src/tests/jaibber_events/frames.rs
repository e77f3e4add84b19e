//! Cutting frames into rows, recognising them, and rejecting frames of other systems.

use chatmill_diag::Limits;
use chatmill_intake::json;
use serde_json::json;

use super::{conversation, names, payload, read_as, read_gathered, rest, turns};
use crate::{JAIBBER_EVENTS, Source};

#[test]
fn frames_of_every_kind_are_cut_into_rows_by_project() {
    let frames = [
        payload("ann", "message", "m1", "bare"),
        json!({"id": "e", "clientId": "u", "data": payload("ann", "message", "m2", "in an envelope")}),
        json!({"id": "e", "name": "message", "data": payload("ann", "message", "m3", "as text").to_string()}),
        json!({"data": [rest("m5", "newer", "2026-01-01T00:00:02Z"), rest("m4", "older", "2026-01-01T00:00:01Z")],
            "pagination": {"cursor": null, "hasMore": false}}),
        json!({"data": [{"id": "m6", "text": "page's project"}, 7], "projectId": "p", "meta": {"cursor": null}}),
        json!({"chat_messages": {
            "p": [{"id": "m7", "sender": "me", "senderName": "ann", "text": "stored", "status": "sent"}],
            "q": [{"id": "n1", "sender": "me", "senderName": "ann", "text": "elsewhere", "status": "sent"}],
            "empty": [], "none": null, "odd": 3}}),
        json!({"p": [{"id": "m8", "sender": "me", "senderName": "ann", "text": "bare store", "status": "sent"}]}),
        json!({"event": "message.created", "data": {"message": rest("m9", "hooked", "2026-01-01T00:00:03Z")}}),
        json!({"clientId": "u9", "data": {"userId": "u9", "username": "zoe", "isAgent": false, "projectIds": ["p", "q"]}}),
        json!({"channel": "jaibber:project:q", "data": {"from": "u1", "text": "by channel", "messageId": "n2", "type": "message"}}),
        json!({"id": "f", "projectId": "q", "messageId": "n1", "filename": "a.png", "mimeType": "image/png", "blobUrl": "https://e.com/a"}),
        json!({"from": "u1", "text": "nowhere", "messageId": "x", "type": "message"}),
    ];
    let readings = read_gathered(&frames);
    let keys: Vec<&str> = readings.keys().map(String::as_str).collect();
    assert_eq!(keys, ["", "odd", "p", "q"]);
    let p = &readings["p"];
    assert_eq!(
        (p.rows.rows, p.rows.messages, p.rows.merged, p.rows.rejected),
        (11, 9, 1, 1)
    );
    assert_eq!(conversation(p).source_id.as_deref(), Some("p"));
    assert_eq!(turns(&readings["q"]), ["elsewhere", "by channel"]);
    let files = conversation(&readings["q"]).messages[0].parts.len();
    assert_eq!(files, 2);
    for key in ["p", "q"] {
        let zoe = conversation(&readings[key]).participants[0].clone();
        assert_eq!((zoe.id.as_str(), zoe.name.as_deref()), ("u9", Some("zoe")));
    }
    assert_eq!(conversation(&readings[""]).source_id, None);
    assert!(names(&readings[""].findings).contains(&"missing-field"));
    assert!(readings["odd"].conversation.is_none() && readings["odd"].rejects.len() == 1);
}

#[test]
fn frames_of_other_systems_are_not_cut_and_are_rejected() {
    for text in [
        r#"{"a":1}"#,
        "[]",
        "3",
        r#"{"p":[{"no":"sender"}]}"#,
        r#"{"data":[],"data":[{"id":"1","text":"x"}]}"#,
        "{}",
    ] {
        let document = json::scan(text.as_bytes(), 128).unwrap();
        assert_eq!(JAIBBER_EVENTS.rows(&document), None, "{text}");
        if text != "[]" {
            let reading = read_as(text, None, &Limits::default());
            assert!(
                reading.error.is_some() && reading.conversation.is_none(),
                "{text}"
            );
        }
    }
    let small = Limits {
        messages_per_conversation: 1,
        ..Limits::default()
    };
    let rows = json!([rest("1", "a", "x"), rest("2", "b", "x")]).to_string();
    assert_eq!(
        read_as(&rows, None, &small).error.unwrap().code.name,
        "conversation-too-large"
    );
}

#[test]
fn every_prefix_of_a_capture_reads_without_a_fault_and_balances() {
    for file in ["live", "payloads", "stored", "store"] {
        let path = format!(
            "{}/../../data-samples/sources/jaibber-events/{file}.json",
            env!("CARGO_MANIFEST_DIR")
        );
        #[expect(clippy::disallowed_methods, reason = "a test may look into the repository")]
        let text = std::fs::read_to_string(path).unwrap();
        // The repeated key of one row must be preserved: rows are cut from the text.
        let document = json::scan(text.as_bytes(), 128).unwrap();
        let rows: Vec<&str> = document
            .root()
            .items()
            .map(|row| text.get(row.span()).unwrap())
            .collect();
        for length in 0..=rows.len() {
            for rows in [&rows[..length], &rows[length..]] {
                let reading = read_as(&format!("[{}]", rows.join(",")), None, &Limits::default());
                assert!(reading.error.is_none());
                assert_eq!(reading.rows.rows, rows.len() as u64);
            }
        }
    }
}
