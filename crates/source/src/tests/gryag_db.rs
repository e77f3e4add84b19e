//! gryag's database: its tables, its rows as conversations, and facts about its own code, found by running it: 19 cases from 34 of its vectors;
//! equal inputs are counted once.
//!
//! | Not here | Why |
//! |---|---|
//! | a chat id that is not an integer (3) | The column is one, and decides. |
//! | lines, leaks, speaker headers, readers of lines | They are captured histories: see `gemini_vectors.rs`. |
//! | everything else | It writes prompts and stores nothing. |

use chatmill_diag::Limits;
use chatmill_model::{Message, ParticipantKind};
use serde_json::{Map, Value, json};

use crate::tests::frame;
use crate::{GRYAG_DB, Reading};

fn cases(kind: &str) -> Vec<Value> {
    chatmill_golden::vectors("sources/gryag-db", kind)
}

fn read(rows: &Value) -> Reading {
    let reading = frame::read(&GRYAG_DB, rows.to_string().as_bytes(), &Limits::default());
    assert!(reading.rows.balances());
    reading
}

fn messages(rows: &Value) -> Vec<Message> {
    read(rows).conversation.unwrap().messages
}

fn row(id: u64, text: &str, meta: &Value) -> Value {
    json!({
        "id": id, "chat_id": -1, "thread_id": null, "user_id": 9, "role": "user", "text": text,
        "media": {"media": [], "meta": meta}, "embedding": null, "ts": 1_760_000_000,
    })
}

#[test]
fn every_kind_of_case_is_tried() {
    assert_eq!(["stored", "summary"].map(|kind| cases(kind).len()), [16, 3]);
}

#[test]
fn stored_facts_are_read_whole() {
    for case in cases("stored") {
        let meta = &case["input"];
        let is_bot_row = meta.get("user_id").is_some_and(Value::is_null);
        let mut row = row(1, "said", meta);
        row["chat_id"] = meta.get("chat_id").cloned().unwrap_or(json!(-1));
        row["thread_id"] = meta.get("thread_id").cloned().unwrap_or(Value::Null);
        row["user_id"] = Value::Null;
        if is_bot_row {
            row["role"] = json!("model");
        }
        let conversation = read(&json!([row])).conversation.unwrap();
        let message = &conversation.messages[0];
        let sender = &conversation.participants[message.sender.unwrap()];
        let mut found = Map::new();
        let mut put = |key: &str, value: Option<&str>| {
            if let Some(value) = value {
                found.insert(key.to_owned(), json!(value));
            }
        };
        put("message_id", message.id.as_deref());
        if case["expected"]["user_id"].is_string() {
            put("user_id", Some(&sender.id));
        }
        put("name", sender.name.as_deref());
        put("username", sender.alias.as_deref());
        if let Some(reference) = message.references.first() {
            put("reply_to_message_id", reference.target.as_deref());
            let preview = reference.preview.as_ref().unwrap();
            put("reply_to_user_id", preview.sender.as_deref());
            put("reply_to_name", preview.sender_name.as_deref());
            put("reply_excerpt", preview.content.as_deref());
        }
        if sender.extra.get("is_bot").is_some() {
            assert_eq!(sender.kind, ParticipantKind::Unknown);
            found.insert("is_bot".to_owned(), json!(true));
        }
        assert_eq!(Value::Object(found), case["expected"], "{}", case["name"]);
        let unknown = meta
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| ["foo", "date"].contains(&key.as_str()));
        for key in unknown {
            assert!(message.extra.get(&format!("media.meta.{key}")).is_some(), "{key}");
        }
    }
}

#[test]
fn a_count_of_attachments_is_no_text() {
    for case in cases("summary") {
        let kinds = case["input"].as_array().cloned().unwrap_or_default();
        let part = json!({"inline_data": {"mime_type": "image/jpeg", "data": "AA=="}});
        let mut row = row(1, "", &json!({"message_id": 5}));
        row["text"] = case["expected"].clone();
        row["media"]["media"] = json!(vec![part; kinds.len()]);
        let message = &messages(&json!([row]))[0];
        assert_eq!(message.parts.len(), kinds.len());
        assert_eq!(message.text(), "");
        assert_eq!(
            message.extra.get("text").map(|raw| raw.as_str().to_owned()),
            (!kinds.is_empty()).then(|| case["expected"].to_string())
        );
    }
    let lone = row(1, "Прикріплення: фото", &json!({"message_id": 5}));
    assert_eq!(
        messages(&json!([lone]))[0].text(),
        "Прикріплення: фото",
        "it is all that is left of the pictures"
    );
}
