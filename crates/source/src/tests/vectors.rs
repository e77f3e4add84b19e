//! Facts about the format's own code, found by running it: 42 of our 54 vectors.
//!
//! | Not here | Why |
//! |---|---|
//! | `validate: session_meta instead` | The validators of January 2026 refuse the structure of April 2026, whose own validator accepts it; we read both. |
//! | `convert: empty list` | An empty conversation is a rule (`empty-conversation`), not a matter of reading. |
//! | `convert_simple_message` (2) | It is about single messages posted to the API, not about archives. |
//! | `generate_single_user_group_id` (3) | The API's name for a room without one; an archive's conversation then has the engine's id. |
//! | sample files (5) | Facts about archives that are not part of this repository; tried by hand. |

use chatmill_diag::{Finding, Limits, Severity};
use chatmill_model::{Conversation, Message};
use serde_json::{Value, json};

use crate::tests::frame;
use crate::{GROUP_CHAT, Reading};

/// The cases of a kind.
fn cases(kind: &str) -> Vec<Value> {
    chatmill_golden::vectors("sources/group-chat", kind)
}

fn read(record: &Value) -> Reading {
    frame::read(&GROUP_CHAT, record.to_string().as_bytes(), &Limits::default())
}

fn findings(reading: &Reading) -> Vec<&Finding> {
    let rejected = reading.rejects.iter().map(|reject| &reject.finding);
    reading
        .findings
        .iter()
        .chain(&reading.error)
        .chain(rejected)
        .collect()
}

/// The name that a message shows: its own, else the name in the roster, else the id.
fn speaker<'c>(message: &'c Message, conversation: &'c Conversation) -> Option<&'c str> {
    let listed = message
        .sender
        .map(|sender| conversation.participants[sender].display_name());
    message.sender_name.as_deref().or(listed)
}

fn utc(message: &Message) -> Option<String> {
    let instant = message.timestamp.as_ref()?.instant?;
    let text = jiff::Timestamp::from_microsecond(instant).unwrap().to_string();
    Some(text.replace('Z', "+00:00"))
}

#[test]
fn every_kind_of_case_is_tried() {
    let count = |kind| cases(kind).len();
    assert_eq!(
        ["validate", "convert", "references", "first message", "time"].map(count),
        [25, 4, 6, 1, 6]
    );
}

#[test]
fn errors_are_reported_exactly_where_the_importer_refuses() {
    for case in cases("validate") {
        let reading = read(&case["input"]);
        let findings = findings(&reading);
        let has = |severity| findings.iter().any(|finding| finding.severity == severity);
        let name = &case["name"];
        let importer = case["expected"]["importer"].as_bool().unwrap();
        let public = case["expected"]["public"].as_bool().unwrap();
        // The document's own examples have no times: a missing one is not an error.
        let is_lenient = name == "create_time missing";
        assert_eq!(
            has(Severity::Error),
            !importer && !is_lenient,
            "{name}: {findings:?}"
        );
        if is_lenient || importer && !public {
            assert!(has(Severity::Warning), "{name}: {findings:?}");
        }
    }
}

#[test]
fn fields_that_the_importer_retains_are_retained() {
    for case in cases("convert") {
        let conversation = read(&case["input"]).conversation.unwrap();
        let messages: Vec<Value> = conversation
            .messages
            .iter()
            .map(|message| {
                let references: Vec<&str> = message
                    .references
                    .iter()
                    .filter_map(|reference| reference.target.as_deref())
                    .collect();
                json!({
                    "id": message.id,
                    "speaker": speaker(message, &conversation),
                    "sender": message.sender.map(|sender| conversation.participants[sender].id.clone()),
                    "references": references,
                    "content": (!message.parts.is_empty()).then(|| message.text()),
                    "time": utc(message),
                })
            })
            .collect();
        assert_eq!(json!(messages), case["expected"]["messages"], "{}", case["name"]);
        assert_eq!(json!(conversation.title), case["expected"]["title"]);
    }
}

#[test]
fn references_keep_the_ids_that_the_importer_keeps() {
    for case in cases("references") {
        let record = json!({
            "version": "1.0.0",
            "conversation_meta": {"name": "N", "user_details": {"u": {"role": "user"}}},
            "conversation_list": [{
                "message_id": "m", "create_time": "2025-02-01T10:00:00Z", "sender": "u", "type": "text",
                "content": "c", "refer_list": case["input"],
            }],
        });
        let conversation = read(&record).conversation.unwrap();
        // A number as an id is read as text; the importer drops it.
        let numbers: Vec<String> = case["input"]
            .as_array()
            .into_iter()
            .flatten()
            .map(Value::to_string)
            .collect();
        let ids: Vec<&str> = conversation.messages[0]
            .references
            .iter()
            .filter_map(|reference| reference.target.as_deref())
            .filter(|id| !numbers.iter().any(|number| number == id))
            .collect();
        assert_eq!(json!(ids), case["expected"], "{}", case["name"]);
    }
}

#[test]
fn the_first_message_has_the_fields_that_the_api_reads() {
    for case in cases("first message") {
        let conversation = read(&case["input"]).conversation.unwrap();
        let message = &conversation.messages[0];
        let fields = json!({
            "title": conversation.title,
            "id": message.id,
            "time": message.timestamp.as_ref().map(|time| time.raw.clone()),
            "sender": conversation.participants[message.sender.unwrap()].id,
            "speaker": speaker(message, &conversation),
            "content": message.text(),
        });
        assert_eq!(fields, case["expected"]);
    }
}

#[test]
fn times_are_read_as_the_importer_reads_them_and_never_become_now() {
    for case in cases("time") {
        let record = json!({
            "version": "1.0.0",
            "conversation_meta": {
                "name": "N", "user_details": {"u": {"role": "user"}},
                "default_timezone": case["input"]["default_timezone"],
            },
            "conversation_list": [{
                "message_id": "m", "create_time": case["input"]["create_time"], "sender": "u", "type": "text",
                "content": "c",
            }],
        });
        let reading = read(&record);
        let conversation = reading.conversation.as_ref().unwrap();
        let expected = case["expected"]
            .as_str()
            .map(|time| time.replace(".588000", ".588"));
        assert_eq!(utc(&conversation.messages[0]), expected, "{}", case["name"]);
        let unusable = reading
            .findings
            .iter()
            .filter(|finding| finding.code.name == "timestamp-unusable")
            .count();
        assert_eq!(unusable == 1, expected.is_none(), "{}", case["name"]);
    }
}
