//! With any values in its known fields, a source reads or refuses a record, and accounts for every row; the same holds
//! for rows that are grouped from many records.

use std::collections::BTreeMap;

use chatmill_diag::Limits;
use chatmill_intake::json::{self, Kind};
use chatmill_source::{FrameView, ReadOptions, Reading, SOURCES};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Field names of all formats, and one that no format has.
const NAMES: [&str; 52] = [
    "messages",
    "role",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "tool_call_id",
    "contents",
    "parts",
    "text",
    "function_call",
    "functionResponse",
    "response",
    "inline_data",
    "data",
    "system_instruction",
    "messageContent",
    "referencedMessage",
    "author",
    "isFromBot",
    "currentPersonality",
    "userName",
    "type",
    "image_url",
    "url",
    "cache_control",
    "conversation_list",
    "conversation_meta",
    "message_id",
    "metadata",
    "compressed",
    "assistant_message_id",
    "tool_execution",
    "result",
    "id",
    "media",
    "meta",
    "reply_to_message_id",
    "reply_to_user_id",
    "messageId",
    "responseId",
    "chunk",
    "parentMessageId",
    "respondingChain",
    "attachments",
    "agents",
    "projectIds",
    "referencedMessages",
    "discordMessageId",
    "created_at",
    "other",
];

const WORDS: [&str; 22] = [
    "",
    "user",
    "assistant",
    "model",
    "tool",
    "text",
    "image_url",
    "[meta] chat_id=1 name=\"a\\\"b\"",
    "[meta] x",
    "[speaker id=1]",
    "Ann said:\n\"x\"",
    "User: hi\n\nAssistant: \"",
    "{\"a\":1}",
    "{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":\"1\"}",
    "<function_calls><invoke name=\"a\"><parameter name=\"b\">1</parameter></invoke></function_calls>",
    "2026-01-18 05:35:48+00",
    "typing",
    "chunk",
    "response",
    "error",
    "1",
    "ß \u{1F600}\"",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => prop::sample::select(&WORDS[..]).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i32>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&NAMES[..]), inner), 0..6).prop_map(|fields| {
                let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(fields.collect::<Map<_, _>>())
            }),
        ]
    })
}

/// A record that resembles a format closely enough to be read in depth.
fn record() -> impl Strategy<Value = Value> {
    let list = || prop::collection::vec(value(), 0..5);
    prop_oneof![
        value(),
        (list(), value()).prop_map(|(list, other)| json!({"messages": list, "tools": other})),
        (list(), value()).prop_map(|(list, other)| json!({"contents": list, "systemInstruction": other})),
        (value(), value(), value()).prop_map(|(own, quoted, name)| {
            json!({"messageContent": own, "referencedMessage": quoted, "userName": name})
        }),
        value().prop_map(|content| json!({"role": "user", "content": content})),
    ]
}

/// A value that resembles a row, an event or a message of one of two conversations.
fn row() -> impl Strategy<Value = Value> {
    let place = || prop::sample::select(&["1", "2", ""][..]);
    let time = || prop::sample::select(&["2026-01-18T05:35:48Z", "2026-01-17T05:35:48Z", "never", ""][..]);
    let word = || prop::sample::select(&WORDS[..]);
    prop_oneof![
        value(),
        (word(), value(), value()).prop_map(|(role, content, calls)| {
            json!({"role": role, "content": content, "tool_calls": calls, "tool_call_id": "1"})
        }),
        (word(), value()).prop_map(|(role, parts)| json!({"role": role, "parts": [parts]})),
        (place(), word(), value(), value(), time(), word()).prop_map(
            |(thread, kind, content, metadata, time, id)| {
                json!({"message_id": id, "thread_id": thread, "type": kind, "is_llm_message": true,
                    "content": content, "metadata": metadata, "created_at": time})
            }
        ),
        (place(), any::<u8>(), word(), value(), value()).prop_map(|(chat, id, role, media, reply)| {
            json!({"id": id, "chat_id": chat, "thread_id": null, "user_id": 9, "role": role, "text": "x",
                "media": media, "ts": 1_760_688_000 + u64::from(id), "external_message_id": "5",
                "reply_to_external_message_id": reply})
        }),
        (place(), word(), word(), value(), value(), time()).prop_map(|(project, kind, id, text, chain, time)| {
            json!({"type": kind, "messageId": id, "from": "u", "fromUsername": "Ann", "text": text,
                "projectId": project, "timestamp": time, "respondingChain": chain, "responseId": id})
        }),
        (place(), value(), value(), word()).prop_map(|(channel, said, quoted, id)| {
            json!({"messageContent": said, "referencedMessage": quoted, "channelId": channel, "messageId": id})
        }),
        (place(), word(), word(), value(), value(), time()).prop_map(
            |(channel, id, role, content, metadata, time)| {
                json!({"id": id, "channelId": channel, "personalityId": "p", "role": role, "content": content,
                    "messageMetadata": metadata, "createdAt": time, "discordMessageId": ["1", id]})
            }
        ),
        (place(), any::<bool>(), value(), word(), value()).prop_map(|(id, is_sent, messages, kind, message)| {
            if is_sent {
                json!({"custom_id": id, "params": {"messages": messages}, "body": {"messages": messages}})
            } else {
                json!({"custom_id": id, "result": {"type": kind, "message": message}, "response": {"body": message}})
            }
        }),
    ]
}

/// The sources with rows that contain messages, which are counted in addition to the row.
const HOLD_MESSAGES: [&str; 4] = ["openai-batch", "anthropic-batch", "langfuse", "otel-genai"];

/// Checks the invariants of a reading of a frame that starts at byte 7.
fn is_sound(reading: Reading, source: &str, text: &str) -> Result<(), TestCaseError> {
    prop_assert!(
        reading.rows.balances(),
        "{}: {:?}: {}",
        source,
        reading.rows,
        text
    );
    let end = 7 + text.len() as u64;
    for reject in &reading.rejects {
        prop_assert!(
            reject.span.start >= 7 && reject.span.end <= end,
            "{}: {}",
            source,
            text
        );
    }
    let Some(conversation) = reading.conversation else {
        return Ok(());
    };
    let mut ids: Vec<&str> = conversation
        .participants
        .iter()
        .map(|person| person.id.as_str())
        .collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    prop_assert_eq!(
        ids.len(),
        all,
        "{}: two participants share an id: {}",
        source,
        text
    );
    for (position, message) in (0..).zip(&conversation.messages) {
        prop_assert_eq!(message.position, position, "{}: {}", source, text);
        prop_assert!(message.sender.is_none_or(|sender| sender < all));
        prop_assert!(
            message.origin.start >= 7 && message.origin.end <= end,
            "{}: {}",
            source,
            text
        );
    }
    let limits = Limits::default();
    let (linked, _, _) = chatmill_link::link(conversation, &limits);
    let mut findings = Vec::new();
    chatmill_rule::check(&linked, &limits, &mut findings);
    let (again, changes, _) = chatmill_link::link(linked.conversation.clone(), &limits);
    prop_assert_eq!(
        again,
        linked,
        "{}: linking again changes something: {}",
        source,
        text
    );
    prop_assert!(changes.is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(chatmill_drawn::law(100))]

    #[test]
    fn every_source_reads_or_refuses_it(record in record()) {
        let text = record.to_string();
        let limits = Limits::default();
        let document = json::scan(text.as_bytes(), limits.depth).unwrap();
        let frame = FrameView { document: &document, bytes: text.as_bytes(), start: 7, key: None, options: ReadOptions::default() };
        for source in SOURCES {
            let reading = source.read(&frame, &limits);
            // Only rows may give neither a conversation nor an error.
            let may_be_nothing = document.root().kind() == Kind::Array || source.rows(&document).is_some();
            prop_assert!(
                reading.conversation.is_none() == reading.error.is_some()
                    || (may_be_nothing && reading.conversation.is_none()),
                "{}: {}", source.id(), text
            );
            is_sound(reading, source.id(), &text)?;
        }
    }

    #[test]
    fn every_source_accounts_for_the_rows_that_it_cuts(records in prop::collection::vec(row(), 1..7)) {
        let limits = Limits::default();
        for source in SOURCES {
            let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
            let mut shared: Vec<String> = Vec::new();
            for record in &records {
                let text = record.to_string();
                let document = json::scan(text.as_bytes(), limits.depth).unwrap();
                let mut end = 0;
                for row in source.rows(&document).unwrap_or_default() {
                    prop_assert!(row.span.start >= end, "{}: {}", source.id(), text);
                    end = row.span.end;
                    let cut = text.get(row.span.clone()).unwrap();
                    prop_assert!(json::scan(cut.as_bytes(), limits.depth).is_ok(), "{}: {}", source.id(), cut);
                    if row.keys.is_empty() {
                        shared.push(cut.to_owned());
                    }
                    for key in row.keys {
                        groups.entry(key).or_default().push(cut.to_owned());
                    }
                }
            }
            if !shared.is_empty() {
                groups.entry(String::new()).or_default();
            }
            for (key, mut rows) in groups {
                rows.extend_from_slice(&shared);
                let text = format!("[{}]", rows.join(","));
                let document = json::scan(text.as_bytes(), limits.depth).unwrap();
                let key = Some(key.as_str()).filter(|key| !key.is_empty());
                let frame = FrameView { document: &document, bytes: text.as_bytes(), start: 7, key, options: ReadOptions::default() };
                let reading = source.read(&frame, &limits);
                if reading.error.is_none() {
                    let cut = rows.len() as u64;
                    let is_accounted_for = if HOLD_MESSAGES.contains(&source.id()) {
                        reading.rows.rows >= cut
                    } else {
                        reading.rows.rows == cut
                    };
                    prop_assert!(is_accounted_for, "{}: {:?}: {}", source.id(), reading.rows, text);
                } else {
                    prop_assert!(reading.conversation.is_none(), "{}: {}", source.id(), text);
                }
                is_sound(reading, source.id(), &text)?;
            }
        }
    }
}
