//! Rows of chat tables: how they are recognised, cut out of pages, sorted and joined.

use std::fmt::Write as _;

use crate::{Evidence, Reading, SUNA_ROWS, Source, TABLE_ROWS, TableMap, detect, find};
use chatmill_diag::Limits;
use chatmill_intake::json;
use chatmill_intake::{Framing, Head};
use chatmill_model::Message;
use serde_json::{Value, json};

use crate::tests::frame::read_at;

fn evidence(text: &str) -> Option<Evidence> {
    let head = Head {
        framing: Framing::Documents,
        complete: true,
        bytes: text.as_bytes().to_vec(),
    };
    detect(&head.sketch())
}

fn rows(source: &dyn Source, text: &str) -> Option<Vec<(String, String)>> {
    let document = json::scan(text.as_bytes(), 64).unwrap();
    let rows = source.rows(&document)?;
    let row = |row: crate::Row| (row.keys.join("+"), text.get(row.span).unwrap().to_owned());
    Some(rows.into_iter().map(row).collect())
}

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
fn pages_are_cut_into_rows_with_the_thread_that_they_name() {
    let own = r#"{"message_id":"a","thread_id":"t1","type":"user","content":1}"#;
    let without = r#"{"message_id":"b","type":"user","content":2}"#;
    let cut = |text: &str| rows(&SUNA_ROWS, text);
    let pair = |key: &str, row: &str| (key.to_owned(), row.to_owned());
    assert_eq!(cut(own), Some(vec![pair("t1", own)]));
    assert_eq!(cut(without), Some(vec![pair("", without)]));
    assert_eq!(
        cut(&format!(
            r#"{{"messages":[{own}, {without},7],"thread_id":"t2"}}"#
        )),
        Some(vec![pair("t1", own), pair("t2", without), pair("t2", "7")])
    );
    assert_eq!(
        cut(&format!(r#"{{"data":[{without}],"pagination":{{"page":2}}}}"#)),
        Some(vec![pair("", without)])
    );
    assert_eq!(
        cut(&format!("[{own},{without}]")),
        Some(vec![pair("t1", own), pair("", without)])
    );
    assert_eq!(cut(r#"{"messages":[]}"#), Some(vec![]));
    assert_eq!(cut(r#"{"messages":"none"}"#), None);
    assert_eq!(cut("7"), None);
}

#[test]
fn the_preset_map_reads_the_messages_table_and_no_other() {
    let maps: Vec<TableMap> = SUNA_ROWS.tables();
    let columns = |names: &str| -> Vec<String> { names.split(' ').map(str::to_owned).collect() };
    let own = columns("message_id thread_id type is_llm_message content metadata created_at updated_at");
    assert!(TableMap::find(&maps, Some("public.messages"), &own).is_some());
    assert!(TableMap::find(&maps, Some("public.threads"), &own).is_none());
    assert!(TableMap::find(&maps, Some("messages"), &columns("id role content")).is_none());
    assert_eq!(maps[0].source, SUNA_ROWS.id());
    assert!(SUNA_ROWS.merges() && !TABLE_ROWS.merges());
    let named = TABLE_ROWS.tables();
    assert!(
        named
            .iter()
            .all(|map| map.source == TABLE_ROWS.id() && map.columns.is_empty())
    );
    let csv = |names: &str| TableMap::find(&named, None, &columns(names)).is_some();
    assert!(csv("conversation role content") && csv("id sender content") && !csv("content role_id"));
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

#[test]
fn table_rows_are_recognised_where_they_name_their_conversation() {
    let row =
        r#"{"id":1,"conversation":"c","role":"user","content":"x","created_at":"2026-01-01T00:00:00Z"}"#;
    assert_eq!(evidence(row).map(|evidence| evidence.source), Some("table-rows"));
    let alone = r#"{"role":"user","content":"x"}"#;
    assert_ne!(
        evidence(alone).map(|evidence| evidence.source),
        Some("table-rows")
    );
    assert_eq!(find("table-rows").map(Source::id), Some("table-rows"));
    let pair = |key: &str, row: &str| (key.to_owned(), row.to_owned());
    assert_eq!(rows(&TABLE_ROWS, row), Some(vec![pair("c", row)]));
    assert_eq!(
        rows(&TABLE_ROWS, r#"[{"conversation":7},{"a":1}]"#),
        Some(vec![pair("7", r#"{"conversation":7}"#), pair("", r#"{"a":1}"#)])
    );
    assert_eq!(rows(&TABLE_ROWS, "7"), None);
}
