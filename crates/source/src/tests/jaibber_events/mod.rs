//! Jaibber's captures, from files to conversations.

mod answers;
mod frames;
mod participants;

use std::collections::BTreeMap;

use chatmill_diag::{Finding, Limits};
use chatmill_intake::json;
use chatmill_model::{Conversation, MessageKind};
use serde_json::{Value, json};

use crate::tests::frame::read_at;
use crate::{JAIBBER_EVENTS, Reading, Source};

/// Cuts frames into rows and reads them by project, as the engine does.
fn read_gathered(frames: &[Value]) -> BTreeMap<String, Reading> {
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut shared: Vec<String> = Vec::new();
    for frame in frames {
        let text = frame.to_string();
        let document = json::scan(text.as_bytes(), 128).unwrap();
        for row in JAIBBER_EVENTS.rows(&document).expect("a frame that can be cut") {
            if row.keys.is_empty() {
                shared.push(text.get(row.span.clone()).unwrap().to_owned());
            }
            for key in row.keys {
                rows.entry(key)
                    .or_default()
                    .push(text.get(row.span.clone()).unwrap().to_owned());
            }
        }
    }
    if rows.is_empty() {
        rows.insert(String::new(), Vec::new());
    }
    rows.into_iter()
        .map(|(key, mut rows)| {
            rows.extend(shared.iter().cloned());
            let reading = read_as(&format!("[{}]", rows.join(",")), Some(&key), &Limits::default());
            (key, reading)
        })
        .collect()
}

fn read_as(text: &str, key: Option<&str>, limits: &Limits) -> Reading {
    let key = key.filter(|key| !key.is_empty());
    let reading = read_at(&JAIBBER_EVENTS, text.as_bytes(), 0, key, limits);
    assert!(reading.rows.balances(), "{:?}", reading.rows);
    reading
}

/// Reads rows of one project.
fn read(rows: &Value) -> Reading {
    read_as(&rows.to_string(), None, &Limits::default())
}

fn conversation(reading: &Reading) -> &Conversation {
    reading.conversation.as_ref().unwrap()
}

fn names(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.code.name).collect()
}

fn turns(reading: &Reading) -> Vec<String> {
    let messages = &conversation(reading).messages;
    let messages_only = messages
        .iter()
        .filter(|message| message.kind == MessageKind::Message);
    messages_only.map(|message| message.text().into_owned()).collect()
}

/// A live payload.
fn payload(name: &str, kind: &str, id: &str, text: &str) -> Value {
    json!({"from": "u1", "fromUsername": name, "projectId": "p", "text": text, "messageId": id, "type": kind})
}

fn answer(kind: &str, id: &str, text: &str) -> Value {
    let mut event = payload("Coder", kind, id, text);
    event["agentName"] = json!("Coder");
    event
}

fn rest(id: &str, text: &str, at: &str) -> Value {
    json!({"id": id, "projectId": "p", "senderId": "u1", "senderType": "user", "senderName": "ann", "type": "message",
        "text": text, "parentMessageId": null, "metadata": null, "createdAt": at})
}
