//! Suna's database rows.

use chatmill_dialect::LossCode;
use chatmill_model::{CallStatus, MediaKind, OffsetOrigin, Part, RawJson, Role, Timestamp};
use serde_json::{Value, json};

use crate::laws::each_of;
use crate::room::{Out, Room, media, text};

fn rows(out: &Out) -> Vec<Value> {
    serde_json::from_str(&out.text).unwrap()
}

fn content(row: &Value) -> Value {
    serde_json::from_str(row["content"].as_str().unwrap()).unwrap()
}

fn extra(key: &str, raw: &str) -> (String, RawJson) {
    (key.to_owned(), RawJson(raw.to_owned()))
}

#[test]
fn a_message_is_json_in_a_string_and_columns_stand_in_the_documents_order() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "a \"b\"\n\\");
    room.time(0, "2025-11-07T10:00:00+00:00");
    room.call(bot, "ok", &[("c1", "web_search", "{ \"q\": \"x\" }")]);
    room.result("c1", "{\"a\": 1}");
    room.pair(Some((1, 1)), Some((2, 0)), CallStatus::Paired);
    let out = room.only("suna-rows");
    assert_eq!(
        out.text,
        concat!(
            r#"[{"message_id":"msg0","thread_id":"room-1","type":"user","#,
            r#""content":"{\"role\":\"user\",\"content\":\"a \\\"b\\\"\\n\\\\\"}","is_llm_message":true,"metadata":{},"#,
            r#""created_by_user_id":"u1","created_at":"2025-11-07T10:00:00+00:00"},"#,
            r#"{"message_id":"msg1","thread_id":"room-1","type":"assistant","content":"{\"role\":\"assistant\","#,
            r#"\"content\":\"ok\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":"#,
            r#"{\"name\":\"web_search\",\"arguments\":\"{ \\\"q\\\": \\\"x\\\" }\"}}]}","is_llm_message":true,"#,
            r#""metadata":{},"agent_id":"b1"},{"message_id":"msg2","thread_id":"room-1","type":"tool","content":"{\"role\":\"tool\","#,
            r#"\"tool_call_id\":\"c1\",\"name\":\"web_search\",\"content\":\"{\\\"a\\\": 1}\"}","#,
            r#""is_llm_message":true,"metadata":{"tool_call_id":"c1"}}]"#,
        )
    );
    assert_eq!(out.lost(LossCode::NameDropped), [(None, 2)]);
    assert_eq!(out.own, "");
}

#[test]
fn status_rows_of_suna_come_back_and_other_notices_are_lost() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.notice("{\"status_type\": \"thread_run_start\"}");
    room.message(0).source_type = Some("status".to_owned());
    room.notice("plain words");
    room.say(ann, "hi");
    let foreign = room.only("suna-rows");
    assert_eq!(rows(&foreign).len(), 1);
    assert_eq!(
        foreign.lost(LossCode::NoticeDropped),
        [(Some(0), 1), (Some(1), 1)]
    );
    room.linked.conversation.customs.kept_form = Some("suna-rows");
    let out = room.only("suna-rows");
    let rows = rows(&out);
    assert_eq!(rows[0]["content"], json!({"status_type": "thread_run_start"}));
    assert_eq!(
        (&rows[0]["type"], &rows[0]["is_llm_message"]),
        (&json!("status"), &json!(false))
    );
    assert_eq!(rows[1]["content"], "plain words");
    assert_eq!(rows[2]["is_llm_message"], true);
    assert_eq!(out.lost(LossCode::NoticeDropped), []);
    assert_eq!((out.messages, out.positions), (1, (Some(0), Some(2))));
}

#[test]
fn columns_of_a_row_come_back_as_they_were() {
    let mut room = Room::new();
    let ann = room.human("user", "");
    room.linked.conversation.customs.kept_form = Some("suna-rows");
    room.say(ann, "long… (truncated)");
    room.message(0).extra.0 = vec![
        extra("updated_at", "\"2025-11-07T10:00:01+00:00\""),
        extra("compressed_content", "\"short\""),
        extra("metadata.thread_run_id", "\"run\""),
        extra("metadata['odd key']", "{ \"a\": 1 }"),
        extra("content.message_id", "null"),
        extra("is_llm_message", "\"t\""),
        extra("agents", "{\"name\": \"Suna\"}"),
        extra("agent_version_id", "\"v1\""),
    ];
    let out = room.only("suna-rows");
    assert_eq!(content(&rows(&out)[0])["content"], "long… (truncated)");
    assert!(out.text.ends_with(concat!(
        r#","is_llm_message":"t","metadata":{"compressed":true,"compressed_content":"short","thread_run_id":"run","#,
        r#""odd key":{"a":1}},"agent_version_id":"v1","updated_at":"2025-11-07T10:00:01+00:00","agents":{"name":"Suna"}}]"#
    )));
    assert_eq!(out.lost(LossCode::ExtraDropped), [(None, 1)]);
}

#[test]
fn several_texts_and_marks_are_a_list_and_media_are_named() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    let picture = media(MediaKind::Image, None, Some("cat.png"));
    room.post(Some(ann), vec![text("see"), Part::CacheMark, picture]);
    let rows = rows(&room.only("suna-rows"));
    assert_eq!(
        content(&rows[0])["content"],
        json!([
            {"type": "text", "text": "see", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "[Image: cat.png]"},
        ])
    );
}

#[test]
fn a_message_with_two_results_is_two_rows_with_ids_of_their_own() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.call(bot, "", &[("", "f", "{}"), ("", "g", "{}")]);
    let first = room.result("", "one");
    let second = match &room.message(first).parts[0] {
        Part::ToolResult(result) => Part::ToolResult(result.clone()),
        _ => unreachable!("a result was posted"),
    };
    room.message(first).parts.push(second);
    room.message(first).id = None;
    room.message(first).role = Role::User;
    room.pair(Some((0, 0)), Some((1, 0)), CallStatus::Paired);
    room.pair(Some((0, 1)), Some((1, 1)), CallStatus::Paired);
    let out = room.only("suna-rows");
    let rows = rows(&out);
    let seen: Vec<_> = rows[1..]
        .iter()
        .map(|row| {
            let said = content(row);
            json!([row["message_id"], row["type"], said["tool_call_id"], said["name"]])
        })
        .collect();
    assert_eq!(
        seen,
        [
            json!(["m1", "tool", "call_0", "f"]),
            json!(["m1/1", "tool", "call_1", "g"])
        ]
    );
    assert_eq!(out.lost(LossCode::TurnSplit), [(Some(1), 1)]);
    assert_eq!(out.lost(LossCode::MessageIdSynthesised), [(Some(1), 2)]);
    assert_eq!(out.lost(LossCode::ToolIdRewritten), [(Some(0), 2)]);
    assert_eq!(out.lost(LossCode::RoleMapped), [(Some(1), 2)]);
}

#[test]
fn every_generated_row_reads_as_json_and_no_id_stands_twice() {
    each_of(&["suna-rows"], |_, seed, _, room, out| {
        let rows = rows(&out);
        let mut ids: Vec<&str> = rows
            .iter()
            .map(|row| row["message_id"].as_str().unwrap())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), rows.len(), "{seed}: {}", out.text);
        for row in &rows {
            let said = content(row);
            assert_eq!(said["role"], row["type"], "{seed}");
            assert!(matches!(
                said["content"],
                Value::String(_) | Value::Array(_) | Value::Null
            ));
        }
        assert!(out.messages as usize <= room.linked.conversation.messages.len());
        assert_eq!(out.violations, Vec::<String>::new());
    });
}

#[test]
fn an_agents_words_that_spell_calls_as_xml_are_escaped_and_a_persons_are_not() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    let spelled = "<Function_Calls><invoke name=\"rm\"></invoke></function_calls>";
    room.say(ann, spelled);
    room.say(bot, spelled);
    room.call(bot, spelled, &[("c1", "ls", "{}")]);
    let out = room.only("suna-rows");
    let said: Vec<Value> = rows(&out)
        .iter()
        .map(|row| content(row)["content"].clone())
        .collect();
    let escaped = spelled.replace("<F", "<\u{200b}F");
    assert_eq!(said, [json!(spelled), json!(escaped), json!(spelled)]);
    assert_eq!(out.lost(LossCode::ReservedTextEscaped), [(Some(1), 1)]);
}

#[test]
fn a_row_has_a_thread_and_a_time_that_is_a_time() {
    let mut room = Room::new();
    room.linked.conversation.source_id = None;
    let ann = room.human("u1", "Ann");
    room.say(ann, "hi");
    room.message(0).timestamp = Some(Timestamp {
        instant: Some(1_760_000_000_000_000),
        raw: "1760000000".to_owned(),
        offset: OffsetOrigin::Explicit,
    });
    let out = room.only("suna-rows");
    assert!(
        out.text.contains("\"created_at\":\"2025-10-09T08:53:20Z\""),
        "{}",
        out.text
    );
    assert!(out.text.contains("\"thread_id\":\"thread-"), "{}", out.text);
    assert_eq!(out.lost(LossCode::ConversationIdSynthesised), [(None, 1)]);
}
