//! gryag's database: its tables, its rows as conversations, and facts about its own code, found by running it: 19 cases
//! from 34 of its vectors, equal inputs counted once.
//!
//! | Not here | Why |
//! |---|---|
//! | a chat id that is not an integer (3) | The column, which is one, decides. |
//! | lines, leaks, speaker headers, readers of lines | They are captured histories: see `gemini_vectors.rs`. |
//! | everything else | It writes prompts and stores nothing. |

use crate::{GEMINI_CONTENTS, GRYAG_DB, Reading, Source, TableMap};
use chatmill_diag::{Limits, codes};
use chatmill_intake::{Framing, Head, json};
use chatmill_model::{Message, ParticipantKind};
use serde_json::{Map, Value, json};

use crate::tests::frame;

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

/// The keys of the rows that a frame is cut into.
fn keys(source: &dyn Source, text: &str) -> Option<Vec<String>> {
    let document = json::scan(text.as_bytes(), 64).unwrap();
    let rows = source.rows(&document)?;
    assert!(
        rows.iter()
            .all(|row| row.keys.len() == 1 && text.get(row.span.clone()).is_some())
    );
    Some(rows.into_iter().flat_map(|row| row.keys).collect())
}

#[test]
fn a_row_belongs_to_its_chat_or_thread() {
    let of = |text: &str| keys(&GRYAG_DB, text);
    assert_eq!(of(r#"{"chat_id":-5,"thread_id":null}"#).unwrap(), ["-5"]);
    assert_eq!(of(r#"{"chat_id":"-5","thread_id":"12"}"#).unwrap(), ["-5/12"]);
    assert_eq!(
        of(r#"[{"chat_id":-5},{"chat_id":6,"thread_id":1},7]"#).unwrap(),
        ["-5", "6/1", ""]
    );
    for text in [
        "7",
        r#"{"thread_id":1}"#,
        r#"{"chat_id":null}"#,
        r#"{"chat_id":{}}"#,
    ] {
        assert_eq!(of(text), None, "{text}");
    }
}

#[test]
fn a_chat_beyond_the_limit_is_rejected() {
    let limits = Limits {
        messages_per_conversation: 2,
        ..Limits::default()
    };
    for (rows, is_read) in [(2, true), (3, false)] {
        let rows: Vec<Value> = (0..rows)
            .map(|id| row(id, "x", &json!({"message_id": id})))
            .collect();
        let reading = frame::read(&GRYAG_DB, json!(rows).to_string().as_bytes(), &limits);
        assert_eq!(reading.conversation.is_some(), is_read);
        assert_eq!(
            reading.error.map(|error| error.code),
            (!is_read).then_some(&codes::CONVERSATION_TOO_LARGE)
        );
    }
}

#[test]
fn each_schema_has_its_map() {
    let maps = GRYAG_DB.tables();
    let find = |columns: &str| {
        let columns: Vec<String> = columns.split(' ').map(str::to_owned).collect();
        TableMap::find(&maps, Some("public.messages"), &columns).map(|map| map.name.as_str())
    };
    let common = "chat_id thread_id user_id role text media embedding";
    assert_eq!(find(&format!("id {common} ts")), Some("gryag"));
    assert_eq!(
        find(&format!(
            "id {common} ts external_message_id external_user_id sender_role"
        )),
        Some("gryag")
    );
    assert_eq!(
        find(&format!("message_id {common} metadata created_at")),
        Some("gryag-normalized")
    );
    assert_eq!(
        find(
            "id chat_id user_id username first_name text message_id media_type is_bot_reply request_id was_throttled created_at"
        ),
        Some("gryag-2026")
    );
    assert_eq!(find("message_id thread_id type content created_at"), None);
    assert!(maps.iter().all(|map| map.source == GRYAG_DB.id()));
}

#[test]
fn rows_are_known_by_their_columns() {
    let detect = |text: &str| {
        let head = Head {
            framing: Framing::Lines,
            complete: true,
            bytes: text.as_bytes().to_vec(),
        };
        crate::detect(&head.sketch()).map(|evidence| (evidence.source, evidence.confidence))
    };
    let old = row(1, "x", &json!({})).to_string();
    assert_eq!(detect(&old), Some(("gryag-db", 95)));
    let new =
        r#"{"id":1,"chat_id":-1,"text":"x","message_id":2,"is_bot_reply":false,"created_at":"2026-03-02"}"#;
    assert_eq!(detect(new), Some(("gryag-db", 90)));
    assert_eq!(detect(r#"{"chat_id":-1,"text":"x","role":"user"}"#), None);
}

#[test]
fn a_bare_list_of_turns_is_one_history() {
    let turns = r#"[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]}]"#;
    let head = |framing, text: &str| Head {
        framing,
        complete: true,
        bytes: text.as_bytes().to_vec(),
    };
    assert!(GEMINI_CONTENTS.groups_rows(&head(Framing::Array, turns).sketch()));
    let requests = format!("[{{\"contents\":{turns}}}]");
    assert!(!GEMINI_CONTENTS.groups_rows(&head(Framing::Array, &requests).sketch()));
    assert!(!GEMINI_CONTENTS.groups_rows(&head(Framing::Lines, turns).sketch()));
    assert_eq!(
        keys(&GEMINI_CONTENTS, r#"{"role":"user","parts":[]}"#).unwrap(),
        [""]
    );
    assert_eq!(keys(&GEMINI_CONTENTS, "null").unwrap(), [""]);
    assert_eq!(keys(&GEMINI_CONTENTS, &format!("{{\"contents\":{turns}}}")), None);
    let limits = Limits {
        messages_per_conversation: 1,
        ..Limits::default()
    };
    let reading = frame::read(&GEMINI_CONTENTS, turns.as_bytes(), &limits);
    assert_eq!(reading.error.unwrap().code, &codes::CONVERSATION_TOO_LARGE);
}
