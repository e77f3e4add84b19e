//! The order of messages, notices, files.

use chatmill_model::{MediaSource, Message, MessageKind, Part};
use serde_json::{Value, json};

use super::{answer, conversation, names, payload, read, rest, turns};

#[test]
fn a_page_puts_its_messages_in_order_of_time_and_the_others_between_them() {
    let mut untimed = payload("ann", "message", "x", "live, no time");
    let timed = json!({"id": "e", "timestamp": 1_767_225_602_500_i64, "data": payload("ann", "message", "y", "live")});
    let pages = [
        rest("3", "third", "2026-01-01T00:00:03Z"),
        rest("2", "second", "2026-01-01T00:00:02Z"),
        rest("1b", "same time", "2026-01-01T00:00:01Z"),
        rest("1a", "first", "2026-01-01T00:00:01Z"),
    ];
    let mut rows = vec![timed.clone(), untimed.clone()];
    assert_eq!(
        turns(&read(&json!(rows.iter().rev().collect::<Vec<_>>()))),
        ["live, no time", "live"]
    );
    rows.extend(pages);
    let reading = read(&json!(rows));
    assert_eq!(
        turns(&reading),
        ["same time", "first", "second", "live", "live, no time", "third"]
    );
    let naive = [
        rest("2", "later", "2026-01-01T00:00:02"),
        rest("1", "earlier", "2026-01-01 00:00:01"),
    ];
    assert_eq!(turns(&read(&json!(naive))), ["earlier", "later"]);
    untimed["timestamp"] = json!("whenever");
    assert_eq!(names(&read(&json!([untimed])).findings), ["timestamp-unusable"]);
}

#[test]
fn tasks_joins_and_unknown_types_are_notices() {
    let mut pickup = answer("message", "n1", "Picking up task: T");
    pickup["isTaskNotification"] = json!(true);
    let joined = json!({"id": "s", "projectId": "p", "senderId": "u1", "senderType": "user", "senderName": "ann",
        "type": "system", "text": "ann joined", "createdAt": "2026-01-01T00:00:00Z"});
    let reading = read(&json!([
        pickup,
        joined,
        payload("ann", "wave", "w", "o/"),
        answer("deregister", "d", "")
    ]));
    let messages = &conversation(&reading).messages;
    assert!(messages.iter().all(|message| message.kind == MessageKind::Notice));
    assert_eq!(messages[2].parts, [Part::Notice("o/".to_owned())]);
    assert_eq!(names(&reading.findings), ["unknown-message-type"]);
    assert_eq!((reading.rows.notices, reading.rows.messages), (4, 0));
}

#[test]
fn files_go_to_their_messages_or_stand_alone() {
    let file = |id: &str, message: Value| {
        json!({"id": id, "projectId": "p", "messageId": message, "uploadedBy": "u2", "uploaderName": "bo",
            "filename": "a.mp4", "mimeType": "video/mp4", "fileSize": 9, "blobUrl": format!("https://e.com/{id}")})
    };
    let mut shown = payload("ann", "message", "m1", "see");
    shown["attachments"] =
        json!([{"id": "f1", "filename": "a.mp4", "mimeType": "video/mp4", "blobUrl": "https://e.com/f1"}]);
    let rows = [
        file("f1", json!("m1")),
        file("f2", json!("m1")),
        file("f3", Value::Null),
        file("f4", json!("gone")),
        shown,
    ];
    let reading = read(&json!(rows));
    let conversation = conversation(&reading);
    let addresses = |message: &Message| -> Vec<String> {
        let media = message.parts.iter().filter_map(|part| match part {
            Part::Media(media) => match &media.source {
                MediaSource::Url(url) => Some(url.clone()),
                _ => None,
            },
            _ => None,
        });
        media.collect()
    };
    let all: Vec<_> = conversation.messages.iter().map(addresses).collect();
    assert_eq!(
        all,
        [
            vec!["https://e.com/f3"],
            vec!["https://e.com/f4"],
            vec!["https://e.com/f1", "https://e.com/f2"]
        ]
    );
    assert_eq!(
        conversation.messages[1].references[0].target.as_deref(),
        Some("gone")
    );
    assert_eq!(
        conversation.messages[2]
            .extra
            .get("attachments[1].fileSize")
            .unwrap()
            .as_str(),
        "9"
    );
    assert_eq!((reading.rows.merged, reading.rows.notices), (2, 2));
}
