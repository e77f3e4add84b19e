//! Rows of chat tables: how they are recognised, cut out of pages, sorted and joined.

use std::fmt::Write as _;

use crate::{Evidence, Reading, Source, SunaRows, TableMap, TableRows, detect, find};
use chatmill_diag::Limits;
use chatmill_intake::json;
use chatmill_intake::{Framing, Head};
use chatmill_model::{Message, Part};
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

fn codes(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.code.name).collect()
}

fn turn(id: &str, role: &str, text: &str, created_at: &str) -> Value {
    json!({
        "message_id": id, "thread_id": "t", "type": role, "is_llm_message": true, "metadata": {},
        "content": {"role": role, "content": text}, "created_at": created_at,
    })
}

#[test]
fn suna_rows_are_known_alone_in_pages_and_without_content() {
    for text in [
        r#"{"message_id":"m","thread_id":"t","type":"user","content":{}}"#,
        r#"{"message_id":"m","type":"user","is_llm_message":true,"content":"x"}"#,
        r#"{"message_id":"m","thread_id":"t","type":"tool","metadata":{"result":{}}}"#,
        r#"{"messages":[{"message_id":"m","thread_id":"t","type":"user","content":{"role":"user"}}]}"#,
        r#"{"thread_id":"t","message_count":1,"messages":[{"message_id":"m","type":"user","is_llm_message":true,"content":{}}]}"#,
        r#"{"data":[{"message_id":"m","thread_id":"t","type":"user","content":"x"}]}"#,
    ] {
        let evidence = evidence(text).unwrap();
        assert_eq!(
            (evidence.source, evidence.confidence),
            ("suna-rows", 95),
            "{text}"
        );
        assert!(evidence.why[0].contains("message_id"), "{:?}", evidence.why);
    }
}

#[test]
fn lists_of_messages_and_other_rows_are_left_to_others() {
    for text in [
        r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[]}]}"#,
        r#"{"messages":[{"role":"user","content":"x","message_id":"m"}]}"#,
        r#"{"thread_id":"t","messages":[{"role":"user","content":"x","message_id":"m","type":"user","thread_id":"t"}]}"#,
        r#"{"message_id":"m","type":"text","sender":"u","content":"x"}"#,
        r#"{"id":"m","thread_id":"t","type":"user","content":"x"}"#,
    ] {
        let source = evidence(text).map(|evidence| evidence.source);
        assert_ne!(source, Some("suna-rows"), "{text}");
    }
}

#[test]
fn pages_are_cut_into_rows_with_the_thread_that_they_name() {
    let own = r#"{"message_id":"a","thread_id":"t1","type":"user","content":1}"#;
    let without = r#"{"message_id":"b","type":"user","content":2}"#;
    let cut = |text: &str| rows(&SunaRows, text);
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
    let maps: Vec<TableMap> = SunaRows.tables();
    let columns = |names: &str| -> Vec<String> { names.split(' ').map(str::to_owned).collect() };
    let own = columns("message_id thread_id type is_llm_message content metadata created_at updated_at");
    assert!(TableMap::find(&maps, Some("public.messages"), &own).is_some());
    assert!(TableMap::find(&maps, Some("public.threads"), &own).is_none());
    assert!(TableMap::find(&maps, Some("messages"), &columns("id role content")).is_none());
    assert_eq!(maps[0].source, SunaRows.id());
    assert!(SunaRows.merges() && !TableRows.merges());
    let named = TableRows.tables();
    assert!(
        named
            .iter()
            .all(|map| map.source == TableRows.id() && map.columns.is_empty())
    );
    let csv = |names: &str| TableMap::find(&named, None, &columns(names)).is_some();
    assert!(csv("conversation role content") && csv("id sender content") && !csv("content role_id"));
}

#[test]
fn a_row_of_a_dump_has_booleans_and_nulls_as_text_and_json_embedded() {
    // The cells of a COPY block, as the table map hands them on.
    let row = json!({
        "message_id": "m", "thread_id": "t", "type": "user", "is_llm_message": "t",
        "content": "{\"role\": \"user\", \"content\": \"Hello!\"}", "metadata": {}, "raw": "tab\there",
        "blob": "\\x00ff", "agent_id": null, "tags": "{a,NULL}", "created_at": "2025-05-22 08:00:01.5+00",
        "updated_at": null,
    });
    let status = json!({
        "message_id": "s", "thread_id": "t", "type": "status", "is_llm_message": "f",
        "content": {"status_type": "thread_run_start"}, "metadata": null, "created_at": "2025-05-22 08:00:00+00",
    });
    let reading = read(&SunaRows, &json!([row, status]), Some("t"));
    assert_eq!(codes(&reading), Vec::<&str>::new());
    assert_eq!((reading.rows.messages, reading.rows.notices), (1, 1));
    let conversation = reading.conversation.unwrap();
    assert_eq!(conversation.source_id.as_deref(), Some("t"));
    let message = &conversation.messages[1];
    assert_eq!(message.text(), "Hello!");
    assert_eq!(
        message.timestamp.as_ref().unwrap().instant,
        Some(1_747_900_801_500_000)
    );
    let extra: Vec<&str> = message.extra.0.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(extra, ["raw", "blob", "tags"]);
    assert_eq!(message.origin.index, 0);
}

#[test]
fn pages_newest_first_come_into_the_order_of_their_times() {
    let page = json!([
        turn("c", "user", "third", "2026-01-01T00:00:02Z"),
        turn("b", "assistant", "second", "2026-01-01T00:00:01Z"),
        turn("a2", "user", "first, stored later", "2026-01-01T01:00:00+01:00"),
        turn("a1", "user", "first, stored last", "2026-01-01 00:00:00+00"),
    ]);
    let ids: Vec<String> = messages(read(&SunaRows, &page, Some("t")))
        .into_iter()
        .filter_map(|message| message.id)
        .collect();
    assert_eq!(ids, ["a2", "a1", "b", "c"]);
}

#[test]
fn one_bad_row_is_one_reject_with_its_place() {
    let list = json!([turn("a", "user", "x", "2026-01-01T00:00:00Z"), [1], {"thread_id": "t"}]);
    let text = list.to_string();
    let reading = read(&SunaRows, &list, Some("t"));
    assert_eq!((reading.rows.messages, reading.rows.rejected), (1, 2));
    let places: Vec<&str> = reading
        .rejects
        .iter()
        .map(|reject| {
            let span = reject.span.start as usize - 1000..reject.span.end as usize - 1000;
            text.get(span).unwrap()
        })
        .collect();
    assert_eq!(places, ["[1]", r#"{"thread_id":"t"}"#]);
}

#[test]
fn a_call_that_stands_in_three_places_is_one_call() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}});
    let copy = |id: &str, name: &str| json!({"tool_call_id": id, "function_name": name, "arguments": {"a": 1}, "source": "native"});
    let mut row = turn("m", "assistant", "x", "2026-01-01T00:00:00Z");
    row["content"]["tool_calls"] = json!([call("c1"), call("c2")]);
    row["metadata"] = json!({"tool_calls": [copy("c2", "f"), copy("c1", "f"), copy("c3", "g")]});
    let reading = read(&SunaRows, &json!([row]), Some("t"));
    assert_eq!(codes(&reading), Vec::<&str>::new());
    let message = &messages(reading)[0];
    let calls: Vec<_> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some((call.id.as_deref(), call.metadata_id.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(
        calls,
        [(Some("c1"), None), (Some("c2"), None), (None, Some("c3"))]
    );
    assert!(message.extra.is_empty(), "{:?}", message.extra);
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
    let reading = read(&SunaRows, &json!(list), Some("t"));
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
    assert_eq!(rows(&TableRows, row), Some(vec![pair("c", row)]));
    assert_eq!(
        rows(&TableRows, r#"[{"conversation":7},{"a":1}]"#),
        Some(vec![pair("7", r#"{"conversation":7}"#), pair("", r#"{"a":1}"#)])
    );
    assert_eq!(rows(&TableRows, "7"), None);
}

#[test]
fn table_rows_are_sorted_by_number_by_time_or_by_text() {
    let sorted = |orders: [Value; 3]| {
        let list: Vec<Value> = (0..)
            .zip(orders)
            .map(|(number, order): (u32, Value)| json!({"id": number, "role": "user", "content": "x", "order": order}))
            .collect();
        let ids: Vec<String> = messages(read(&TableRows, &json!(list), None))
            .into_iter()
            .filter_map(|message| message.id)
            .collect();
        ids.concat()
    };
    assert_eq!(sorted([json!(10), json!("9"), json!(-1)]), "210");
    assert_eq!(
        sorted([
            json!("2026-01-02T00:00:00Z"),
            json!("2026-01-01T23:30:00-01:00"),
            json!("2026-01-01")
        ]),
        "201"
    );
    assert_eq!(sorted([json!("b"), json!("a10"), json!("a9")]), "120");
    assert_eq!(sorted([json!(1), json!(1), json!(0)]), "201");
}

#[test]
fn calls_in_the_metadata_of_a_row_without_content_are_found_there() {
    let text =
        "<function_calls><invoke name=\"f\"><parameter name=\"a\">1</parameter></invoke></function_calls>";
    for (said, code) in [
        ("<function_calls>", "unfinished-stream"),
        ("<function_calls>?</function_calls>", "wrong-type"),
    ] {
        for content in [Some(Value::Null), None] {
            let mut row = turn("m1", "assistant", "", "2026-01-01T00:00:00Z");
            row["metadata"] = json!({"text_content": format!("{text} {said}")});
            match content {
                Some(content) => row["content"] = content,
                None => drop(row.as_object_mut().unwrap().remove("content")),
            }
            let rows = json!([row]);
            let reading = read(&SunaRows, &rows, Some("t"));
            let found = reading.findings.iter().find(|finding| finding.code.name == code);
            let found = found.unwrap_or_else(|| panic!("{code}: {:?}", codes(&reading)));
            assert_eq!(found.path, chatmill_diag::Path::InMessage(".metadata".to_owned()));
            let bytes = rows.to_string();
            let span = found.span.unwrap();
            let at = (span.start - 1000) as usize..(span.end - 1000) as usize;
            assert!(bytes[at].starts_with("{\"text_content\""));
        }
    }
}
