//! Rows of chat tables: how they are recognised, cut out of pages, sorted and joined.

use std::fmt::Write as _;

use chatmill_diag::Limits;
use chatmill_model::Message;
use serde_json::{Value, json};

use crate::tests::frame::read_at;
use crate::{Reading, SUNA_ROWS, Source, TABLE_ROWS};

fn read(source: &dyn Source, rows: &Value, key: Option<&str>) -> Reading {
    let reading = read_at(source, rows.to_string().as_bytes(), 1000, key, &Limits::default());
    assert!(reading.rows.balances(), "{:?}", reading.rows);
    reading
}

fn messages(reading: Reading) -> Vec<Message> {
    reading.conversation.unwrap().messages
}

fn turn(id: &str, role: &str, text: &str, created_at: &str) -> Value {
    json!({
        "message_id": id, "thread_id": "t", "type": role, "is_llm_message": true, "metadata": {},
        "content": {"role": role, "content": text}, "created_at": created_at,
    })
}

#[test]
fn rows_of_suna_are_merged_and_maps_of_rows_rename_the_conversation_alone() {
    assert!(SUNA_ROWS.merges() && !TABLE_ROWS.merges());
    let maps = TABLE_ROWS.tables();
    let mut columns = maps.iter().flat_map(|map| &map.columns);
    assert!(columns.all(|(ours, theirs)| ours == "conversation" || ours == theirs));
}

#[test]
fn thousands_of_calls_and_copies_take_no_long_time() {
    let many = 10_000;
    let mut xml = String::new();
    for number in 0..many {
        write!(
            xml,
            "<invoke name=\"f\"><parameter name=\"p{number}\">1</parameter></invoke>"
        )
        .unwrap();
    }
    let mut row = turn(
        "m",
        "assistant",
        &format!("<function_calls>{xml}</function_calls>"),
        "2026-01-01T00:00:00Z",
    );
    let copies: Vec<Value> = (0..many)
        .map(|number| json!({"tool_call_id": format!("other{number}"), "function_name": "f"}))
        .collect();
    row["metadata"] = json!({"tool_calls": copies});
    let chunk = |number: usize| {
        json!({
            "message_id": null, "thread_id": "t", "type": "assistant", "content": {"role": "assistant", "content": "x"},
            "metadata": {"stream_status": "chunk", "thread_run_id": format!("r{}", number % 3)},
            "created_at": "2026-01-01T00:00:01Z",
        })
    };
    let mut list = vec![row];
    list.extend((0..many).map(chunk));
    let reading = read(&SUNA_ROWS, &json!(list), Some("t"));
    assert_eq!((reading.rows.messages, reading.rows.merged), (4, many as u64 - 3));
    let messages = messages(reading);
    assert_eq!(messages[0].parts.len(), many);
    let length: usize = messages[1..].iter().map(|message| message.text().len()).sum();
    assert_eq!(length, many);
}
