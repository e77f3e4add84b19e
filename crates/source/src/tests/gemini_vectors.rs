//! Facts about histories from gryag's own code, found by running it: 46 cases from 61 of its vectors; equal lines are counted once.
//!
//! | Not here | Why |
//! |---|---|
//! | compact lines, ids, names, media words (79) | The compact text is only written, never read. |
//! | an empty line (1) | It is not a line. |
//! | token estimates, truncation, parts for the current message | They write prompts and read nothing. |

use chatmill_diag::Limits;
use serde_json::{Map, Value, json};

use crate::tests::frame;
use crate::{GEMINI_CONTENTS, Reading};

fn cases(kind: &str) -> Vec<Value> {
    chatmill_golden::vectors("sources/gemini-contents", kind)
}

fn read(record: &Value) -> Reading {
    frame::read(
        &GEMINI_CONTENTS,
        record.to_string().as_bytes(),
        &Limits::default(),
    )
}

#[test]
fn every_kind_of_case_is_tried() {
    assert_eq!(
        ["line", "speaker", "leak", "history"].map(|kind| cases(kind).len()),
        [36, 2, 7, 1]
    );
}

#[test]
fn a_line_gives_its_values_back() {
    for case in cases("line") {
        let parts = json!([{"text": case["input"]}, {"text": "said"}]);
        let reading = read(&json!({"contents": [{"role": "user", "parts": parts}]}));
        let conversation = reading.conversation.unwrap();
        let message = &conversation.messages[0];
        let sender = &conversation.participants[message.sender.unwrap()];
        let mut found = Map::new();
        let mut put = |key: &str, value: Option<&str>| {
            if let Some(value) = value {
                found.insert(key.to_owned(), json!(value));
            }
        };
        let place = conversation.source_id.as_deref();
        let (chat, thread) = match place.and_then(|place| place.split_once('/')) {
            Some((chat, thread)) => (Some(chat), Some(thread)),
            None => (place, None),
        };
        put("chat_id", chat);
        put("thread_id", thread);
        put("message_id", message.id.as_deref());
        if case["expected"]["user_id"].is_string() {
            put("user_id", Some(&sender.id));
        }
        put("name", sender.name.as_deref());
        put("username", sender.alias.as_deref());
        if let Some(reference) = message.references.first() {
            put("reply_to_message_id", reference.target.as_deref());
            let preview = reference.preview.as_ref();
            put(
                "reply_to_user_id",
                preview.and_then(|preview| preview.sender.as_deref()),
            );
            put(
                "reply_to_name",
                preview.and_then(|preview| preview.sender_name.as_deref()),
            );
            put(
                "reply_excerpt",
                preview.and_then(|preview| preview.content.as_deref()),
            );
        }
        assert_eq!(Value::Object(found), case["expected"], "{}", case["name"]);
        let is_line = case["expected"] != json!({});
        let texts: Vec<&str> = message.texts().collect();
        assert_eq!(
            texts.len(),
            if is_line { 1 } else { 2 },
            "{}: {texts:?}",
            case["name"]
        );
    }
}

#[test]
fn a_speaker_line_names_the_sender() {
    for case in cases("speaker") {
        let parts = json!([{"text": case["input"]}, {"text": "said"}]);
        let expected = &case["expected"];
        let role = if expected["is_bot"] == true {
            "model"
        } else {
            "user"
        };
        let reading = read(&json!({"contents": [{"role": role, "parts": parts}]}));
        let conversation = reading.conversation.unwrap();
        let message = &conversation.messages[0];
        let sender = &conversation.participants[message.sender.unwrap()];
        let id = expected["id"].as_str().or(expected["username"].as_str());
        assert_eq!(Some(sender.id.as_str()), id);
        assert_eq!(sender.name.as_deref(), expected["name"].as_str());
        assert_eq!(sender.alias.as_deref(), expected["username"].as_str());
        assert_eq!(message.text(), "said");
    }
}

#[test]
fn metadata_in_a_bots_text_is_reported_and_stays() {
    for case in cases("leak") {
        let leaky = json!([{"text": case["input"]}]);
        let reading = read(&json!({"contents": [{"role": "model", "parts": leaky}]}));
        let found = reading
            .findings
            .iter()
            .any(|finding| finding.code.name == "leaked-metadata");
        assert_eq!(json!(found), case["expected"], "{}", case["name"]);
        let conversation = reading.conversation.unwrap();
        assert_eq!(json!(conversation.messages[0].text()), case["input"]);

        let reading = read(&json!({"contents": [{"role": "user", "parts": [{"text": case["input"]}]}]}));
        assert_eq!(reading.findings, [], "people may say what they like");
    }
}

#[test]
fn a_history_has_its_speakers_and_replies() {
    for case in cases("history") {
        let conversation = read(&case["input"]).conversation.unwrap();
        let found: Vec<Value> = conversation
            .messages
            .iter()
            .map(|message| {
                let sender = &conversation.participants[message.sender.unwrap()];
                let reply = message
                    .references
                    .first()
                    .and_then(|reference| reference.target.clone());
                json!([sender.id, sender.name, reply])
            })
            .collect();
        assert_eq!(json!(found), case["expected"]);
    }
}
