//! Facts about Suna's own code, found by running it, that concern rows: 27 of its vectors.
//!
//! | Not here | Why |
//! |---|---|
//! | pairing and validation of calls (14), cache marks (5), cached blocks (7) | They are about lists of messages, which another source reads; they are tested there. |
//! | removing calls from a block in which none can be read (1) | Suna drops the block; here it remains text, because nothing was read from it. |
//! | the filter for another API (7), its patterns (9) | They write requests, as dialects do. |
//! | thresholds (9) and chunks (4) of the prompt cache | They affect only requests, and leave no trace except the cached block. |
//! | compression (7): cutting texts, marking rows, dropping the middle | Its results in rows are read; its cutting is not reimplemented. |
//!
//! Where Suna's readers lose a row, the row is kept, with a finding or with its source text.

use chatmill_diag::Limits;
use chatmill_model::{Message, Part, Role};
use serde_json::{Value, json};

use crate::tests::frame;
use crate::{Reading, SUNA_ROWS};

fn cases(kind: &str) -> Vec<Value> {
    chatmill_golden::vectors("sources/suna-rows", kind)
}

fn read(row: &Value) -> Reading {
    let mut row = row.clone();
    row["created_at"] = json!("2026-01-18 05:35:40.957666+00:00");
    let reading = frame::read(
        &SUNA_ROWS,
        json!([row]).to_string().as_bytes(),
        &Limits::default(),
    );
    assert!(reading.rows.balances());
    assert_eq!(reading.rows.messages, 1);
    reading
}

/// An assistant's row with this text.
fn answer(text: &str) -> Message {
    let row = json!({
        "message_id": "M1", "thread_id": "t", "type": "assistant",
        "content": {"role": "assistant", "content": text},
    });
    read(&row).conversation.unwrap().messages.remove(0)
}

fn texts_of(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::ToolResult(result) => Some(result.content.as_str()),
        _ => None,
    });
    texts.collect()
}

fn calls(message: &Message) -> impl Iterator<Item = &chatmill_model::ToolCall> {
    message.parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    })
}

fn arguments(call: &chatmill_model::ToolCall) -> Value {
    serde_json::from_str(call.arguments.source_text()).unwrap()
}

#[test]
fn every_kind_of_case_is_tried() {
    let counts = ["rows", "calls", "ids", "rest"].map(|kind| cases(kind).len());
    assert_eq!(counts, [15, 4, 3, 5]);
}

#[test]
fn rows_keep_the_stored_and_the_sent_text() {
    for case in cases("rows") {
        let name = &case["name"];
        let expected = &case["expected"];
        let reading = read(&case["input"]);
        let message = &reading.conversation.as_ref().unwrap().messages[0];
        assert_eq!(json!(texts_of(message)), expected["text"], "{name}");
        let sent: Option<Value> = message
            .extra
            .get("compressed_content")
            .map(|raw| serde_json::from_str(raw.as_str()).unwrap());
        assert_eq!(json!(sent), expected["sent"], "{name}");
        let noted: Vec<&str> = reading.findings.iter().map(|finding| finding.code.name).collect();
        assert_eq!(
            noted.contains(&"compressed-message"),
            case["input"]["metadata"].to_string().contains("\"compressed"),
            "{name}: {noted:?}"
        );

        let theirs = &expected["message"];
        if theirs.is_null() {
            continue;
        }
        assert_eq!(json!(message.id), theirs["message_id"], "{name}");
        // That code sends the shortened text, except for a text that happens to be JSON, which loses its role.
        if theirs["content"].is_string() {
            let ours = sent.unwrap_or_else(|| json!(texts_of(message)));
            assert_eq!(ours, theirs["content"], "{name}");
        }
        // From 2026 on every compressed row is sent as a user's text; here it keeps its role.
        let is_2026 = name.as_str().unwrap().starts_with("2026");
        if theirs["role"].is_string() && !(is_2026 && message.role == Role::Assistant) {
            assert_eq!(json!(message.role.as_str()), theirs["role"], "{name}");
        }
        if let Some(id) = theirs["tool_call_id"].as_str() {
            let Part::ToolResult(result) = &message.parts[0] else {
                panic!("{name}")
            };
            assert_eq!(result.call_id.as_deref(), Some(id), "{name}");
        }
    }
}

#[test]
fn rows_that_suna_ignores_stay_in_the_conversation() {
    let lost: Vec<Value> = cases("rows")
        .into_iter()
        .filter(|case| case["expected"]["message"].is_null())
        .collect();
    assert_eq!(lost.len(), 4);
    for case in lost {
        let reading = read(&case["input"]);
        assert_eq!(reading.rejects, [], "{}", case["name"]);
    }
}

#[test]
fn calls_in_a_text_are_those_that_the_parser_finds() {
    for case in cases("calls") {
        let message = answer(case["input"].as_str().unwrap());
        let found: Vec<Value> = calls(&message)
            .map(|call| json!({"name": call.name, "arguments": arguments(call)}))
            .collect();
        assert_eq!(json!(found), case["expected"], "{}", case["name"]);
    }
}

#[test]
fn calls_in_a_text_have_the_ids_that_their_results_name() {
    for case in cases("ids") {
        let message = answer(case["input"].as_str().unwrap());
        let found: Vec<Value> = calls(&message)
            .map(|call| json!({"id": call.metadata_id, "name": call.name, "arguments": arguments(call)}))
            .collect();
        assert_eq!(json!(found), case["expected"], "{}", case["name"]);
    }
}

#[test]
fn text_around_calls_stays_and_the_whole_text_is_an_extra_field() {
    for case in cases("rest") {
        let input = case["input"].as_str().unwrap();
        let message = answer(input);
        let expected = case["expected"].as_str().unwrap();
        let ours: Vec<&str> = message.texts().flat_map(str::split_whitespace).collect();
        let theirs: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(ours, theirs, "{}", case["name"]);
        let stored = message.extra.get("content.content");
        if calls(&message).next().is_some() {
            let stored: String = serde_json::from_str(stored.unwrap().as_str()).unwrap();
            assert_eq!(stored, input);
        } else {
            assert_eq!((stored, &*message.text()), (None, input));
        }
    }
}
