//! With any values in the columns of a thread's rows, each row is a message, a notice, or accounted for, and every
//! finding has a valid place.

use chatmill_diag::{Finding, Limits, Path};
use chatmill_intake::json::{self, Document, Kind};
use chatmill_model::{Arguments, Conversation, MessageKind, Part};
use chatmill_source::{FrameView, ReadOptions, SUNA_ROWS, Source, TABLE_ROWS};
use proptest::prelude::*;
use serde_json::{Map, Value};

/// The assumed offset of the record in its file.
const START: u64 = 7;

const NAMES: [&str; 40] = [
    "message_id",
    "thread_id",
    "type",
    "is_llm_message",
    "content",
    "metadata",
    "created_at",
    "updated_at",
    "agent_id",
    "agents",
    "created_by_user_id",
    "role",
    "name",
    "tool_calls",
    "tool_call_id",
    "function",
    "id",
    "arguments",
    "tool_execution",
    "result",
    "output",
    "error",
    "success",
    "function_name",
    "assistant_message_id",
    "compressed",
    "compressed_content",
    "text_content",
    "reasoning_content",
    "stream_status",
    "thread_run_id",
    "text",
    "image_url",
    "url",
    "conversation",
    "order",
    "sender",
    "reply_to",
    "cache_control",
    "odd key",
];

const WORDS: [&str; 24] = [
    "",
    "user",
    "assistant",
    "tool",
    "status",
    "system",
    "text",
    "chunk",
    "complete",
    "m1",
    "m2",
    "run",
    r#"{"a":1}"#,
    r#"{"role":"user","content":"x"}"#,
    r#""{\"role\":\"tool\",\"content\":[]}""#,
    r#"[{"type":"text","text":"y"}]"#,
    r#"{"tool_execution":{"result":{"output":[1 , 2]}}}"#,
    r#"<function_calls><invoke name="f"><parameter name="a">1</parameter></invoke></function_calls>"#,
    "<function_calls>",
    "2026-01-01T00:00:00Z",
    "2026-01-01 00:00",
    "1772352000",
    "ß \u{1F600}",
    r#"{"stream_status":"chunk","thread_run_id":"r"}"#,
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        5 => prop::sample::select(&WORDS[..]).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i32>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&NAMES[..]), inner), 0..7).prop_map(|fields| {
                let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(fields.collect::<Map<_, _>>())
            }),
        ]
    })
}

/// A value with the columns of both sources.
fn row() -> impl Strategy<Value = Value> {
    let id = prop::option::of(prop::sample::select(&["m1", "m2", "m3"][..]));
    let word = prop::sample::select(&["user", "assistant", "tool", "status", "system", "odd"][..]);
    (id, word, value(), value(), value(), value()).prop_map(|(id, word, content, metadata, at, calls)| {
        serde_json::json!({
            "message_id": id, "thread_id": "t", "type": word, "role": word, "content": content,
            "metadata": metadata, "created_at": at, "tool_calls": calls,
        })
    })
}

fn thread() -> impl Strategy<Value = Value> {
    let any_row = prop_oneof![5 => row().boxed(), 1 => value().boxed()];
    prop::collection::vec(any_row, 0..6).prop_map(Value::from)
}

/// The path of a finding from the root of the record.
fn path(finding: &Finding, conversation: &Conversation) -> String {
    match (&finding.path, finding.position) {
        (Path::Absolute(path), _) => path.clone(),
        (Path::InMessage(suffix), Some(position)) => {
            let row = conversation.messages[position as usize].origin.index;
            format!("$[{row}]{suffix}")
        }
        _ => "$".to_owned(),
    }
}

/// Checks that a finding is inside the value at its path; a missing value is placed at its message.
fn has_its_place(finding: &Finding, conversation: &Conversation, document: &Document<'_>) {
    let name = finding.code.name;
    let path = path(finding, conversation);
    let span = finding.span.expect("a finding about a row has a span");
    let whole = document.root().span();
    let named = match document.locate(&path) {
        Some(named) if name != "missing-field" => named,
        _ => {
            assert!(
                ["missing-field", "split-tool-call"].contains(&name),
                "{name}: nothing is at {path}"
            );
            whole
        }
    };
    assert!(
        named.start as u64 + START <= span.start && span.end <= named.end as u64 + START,
        "{name}: {path}"
    );
}

fn is_sound(conversation: &Conversation) {
    let mut ids: Vec<&str> = conversation
        .participants
        .iter()
        .map(|each| each.id.as_str())
        .collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "two participants share an id");
    let scan = |text: &str| json::scan(text.as_bytes(), 200).map(|document| document.root().kind());
    for (position, message) in (0..).zip(&conversation.messages) {
        assert_eq!(message.position, position);
        assert!(message.sender.is_none_or(|sender| sender < all));
        for (key, raw) in &message.extra.0 {
            assert!(scan(raw.as_str()).is_ok(), "{key}");
        }
        for part in &message.parts {
            let Part::ToolCall(call) = part else { continue };
            match &call.arguments {
                Arguments::Object(raw) => assert_eq!(scan(raw.as_str()), Ok(Kind::Object)),
                Arguments::NotObject(raw) => assert!(scan(raw.as_str()).is_ok()),
                Arguments::Malformed(text) => assert!(scan(text).is_err()),
            }
        }
    }
}

/// Reads a thread with both sources, and checks that everything is accounted for and can be found.
fn is_accounted_for(thread: &Value) {
    let text = thread.to_string();
    let limits = Limits::default();
    let document = json::scan(text.as_bytes(), limits.depth).unwrap();
    let frame = FrameView {
        document: &document,
        bytes: text.as_bytes(),
        start: START,
        key: Some("k"),
        options: ReadOptions::default(),
    };
    for source in [&SUNA_ROWS as &dyn Source, &TABLE_ROWS] {
        let reading = source.read(&frame, &limits);
        let conversation = reading.conversation.unwrap();
        let messages = conversation.messages.iter();
        let said = messages.filter(|each| each.kind == MessageKind::Message).count() as u64;
        let notices = conversation.messages.len() as u64 - said;
        assert!(reading.rows.balances(), "{}: {:?}", source.id(), reading.rows);
        assert_eq!(
            (reading.rows.messages, reading.rows.notices, reading.rows.rejected),
            (said, notices, reading.rejects.len() as u64)
        );
        is_sound(&conversation);
        let rejected = reading.rejects.iter().map(|reject| &reject.finding);
        for finding in reading.findings.iter().chain(rejected) {
            has_its_place(finding, &conversation, &document);
        }
    }
}

#[test]
fn a_role_that_only_the_content_states_is_contradicted_there() {
    let content = r#"{"role":"user","content":"x"}"#;
    is_accounted_for(&serde_json::json!([{"tool_call_id": "user", "content": content}]));
}

proptest! {
    #![proptest_config(chatmill_drawn::law(100))]

    #[test]
    fn every_row_is_accounted_for_and_every_finding_has_its_place(thread in thread()) {
        is_accounted_for(&thread);
    }
}
