//! Whatever stands in the fields that a source knows, it reads or refuses the record, and accounts for every row.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

use chatmill_diag::Limits;
use chatmill_intake::json;
use chatmill_source::{FrameView, SOURCES};
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Field names of all formats, and one of none.
const NAMES: [&str; 30] = [
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
    "other",
];

const WORDS: [&str; 14] = [
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

/// A record that looks enough like a format to be read deeply.
fn record() -> impl Strategy<Value = Value> {
    let list = || prop::collection::vec(value(), 0..5);
    prop_oneof![
        value(),
        (list(), value()).prop_map(|(list, other)| serde_json::json!({"messages": list, "tools": other})),
        (list(), value())
            .prop_map(|(list, other)| serde_json::json!({"contents": list, "systemInstruction": other})),
        (value(), value(), value()).prop_map(|(own, quoted, name)| {
            serde_json::json!({"messageContent": own, "referencedMessage": quoted, "userName": name})
        }),
        value().prop_map(|content| serde_json::json!({"role": "user", "content": content})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_source_reads_or_refuses_it(record in record()) {
        let text = record.to_string();
        let limits = Limits::default();
        let document = json::scan(text.as_bytes(), limits.depth).unwrap();
        let frame = FrameView { document: &document, bytes: text.as_bytes(), start: 7, key: None };
        for source in SOURCES {
            let reading = source.read(&frame, &limits);
            prop_assert_eq!(reading.conversation.is_none(), reading.fault.is_some(), "{}: {}", source.id(), text);
            prop_assert!(reading.rows.balances(), "{}: {}", source.id(), text);
            let Some(conversation) = reading.conversation else { continue };
            let mut ids: Vec<&str> = conversation.participants.iter().map(|person| person.id.as_str()).collect();
            ids.sort_unstable();
            let all = ids.len();
            ids.dedup();
            prop_assert_eq!(ids.len(), all, "{}: two participants share an id: {}", source.id(), text);
            for (position, message) in (0..).zip(&conversation.messages) {
                prop_assert_eq!(message.position, position);
                prop_assert!(message.sender.is_none_or(|sender| sender < all));
                prop_assert!(message.origin.start >= 7 && message.origin.end <= 7 + text.len() as u64);
            }
            let (linked, _, _) = chatmill_link::link(conversation, &limits);
            let mut findings = Vec::new();
            chatmill_rule::check(&linked, &limits, &mut findings);
        }
    }
}
