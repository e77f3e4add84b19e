//! Suna's filter for Bedrock on rooms that are built by hand, in both profiles.

use chatmill_dialect::{LossCode, Policy};
use chatmill_model::{CallStatus, Part};
use serde_json::{Value, json};

use crate::room::{Out, Room, text};

const CODE: &str = "suna-bedrock@2025-11-07";

fn list(out: &Out) -> Vec<Value> {
    let list: Vec<Value> = serde_json::from_str(&out.text).unwrap();
    list.iter()
        .map(|message| json!([message["role"], message["content"]]))
        .collect()
}

/// A question, two calls, talk between, results late, early, twice and for nobody.
fn desk() -> Room {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.result("c1", "too early");
    room.say(ann, "q");
    room.call(bot, "a", &[("c1", "f", "{}"), ("c2", "g", "{}")]);
    room.say(ann, "well?");
    room.result("c1", "late");
    room.result("c1", "twice");
    room.say(bot, "wait");
    room.result("c2", "after a plain turn");
    room.result("c9", "nobody's");
    room.pair(Some((2, 1)), Some((0, 0)), CallStatus::Early);
    room.pair(Some((2, 2)), Some((7, 0)), CallStatus::Late);
    room.pair(Some((2, 1)), Some((4, 0)), CallStatus::Duplicate);
    room.pair(Some((2, 1)), Some((5, 0)), CallStatus::Duplicate);
    room.pair(None, Some((8, 0)), CallStatus::Orphaned);
    room
}

#[test]
fn the_document_keeps_every_result_with_an_open_call_where_it_stands() {
    let out = desk().only("suna-bedrock");
    assert_eq!(
        list(&out),
        [
            json!(["user", "q"]),
            json!(["assistant", "a"]),
            json!(["user", "well?"]),
            json!(["tool", "late"]),
            json!(["assistant", "wait"]),
            json!(["tool", "after a plain turn"]),
        ]
    );
    assert_eq!(
        out.lost(LossCode::OrphanResultDropped),
        [(Some(0), 1), (Some(8), 1)]
    );
    assert_eq!(out.lost(LossCode::DuplicateResult), [(Some(5), 1)]);
    assert_eq!(out.violations, Vec::<String>::new());
}

#[test]
fn the_code_closes_calls_with_the_next_turn_of_the_assistant() {
    let out = desk().only(CODE);
    assert_eq!(
        list(&out),
        [
            json!(["user", "q"]),
            json!(["assistant", "a"]),
            json!(["user", "well?"]),
            json!(["tool", "late"]),
            json!(["assistant", "wait"]),
        ]
    );
    assert_eq!(
        out.lost(LossCode::OrphanResultDropped),
        [(Some(0), 1), (Some(7), 1), (Some(8), 1)]
    );
}

#[test]
fn a_user_text_that_embeds_a_result_is_left_out_unless_it_is_a_cached_block() {
    let mut room = Room::new();
    let (ann, _) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    let embedded = "  tool: {\"a\": 1}";
    room.post(Some(ann), vec![text(embedded), Part::CacheMark]);
    room.say(ann, embedded);
    room.say(ann, "the \"tool_result\": is where?");
    let out = room.only("suna-bedrock");
    let cached = json!([{"type": "text", "text": embedded, "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(
        list(&out),
        [
            json!(["user", cached]),
            json!(["user", "the \"tool_result\": is where?"]),
        ]
    );
    assert_eq!(out.lost(LossCode::ToolResultDropped), [(Some(1), 1)]);
    assert_eq!(out.lost(LossCode::CacheMarkDropped), []);
    assert_eq!(list(&room.only(CODE)), [json!(["user", cached])]);
}

#[test]
fn the_assistants_own_words_are_never_taken_for_a_result() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.say(bot, "Tool: {\"a\": 1}");
    for profile in ["suna-bedrock", CODE] {
        assert_eq!(
            list(&room.only(profile)),
            [json!(["assistant", "Tool: {\"a\": 1}"])]
        );
    }
}

#[test]
fn the_last_user_turn_comes_back_in_the_code_only() {
    let mut room = Room::new();
    let (ann, _) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.system("Be kind.");
    room.say(ann, "Tool: {1}");
    room.say(ann, "Tool: {2}");
    let out = room.only(CODE);
    assert_eq!(
        list(&out),
        [json!(["system", "Be kind."]), json!(["user", "Tool: {2}"])]
    );
    assert_eq!(out.lost(LossCode::ToolResultDropped), [(Some(1), 1)]);
    assert_eq!(out.violations, Vec::<String>::new());
    let out = room.only("suna-bedrock");
    assert_eq!(list(&out), [json!(["system", "Be kind."])]);
    assert_eq!(
        out.lost(LossCode::ToolResultDropped),
        [(Some(1), 1), (Some(2), 1)]
    );
}

#[test]
fn unanswered_calls_stay_and_all_agents_are_the_assistant() {
    let mut room = Room::new();
    let (bot, other) = (room.agent("b1", "Bot"), room.agent("b2", "Other"));
    room.call(bot, "a", &[("c1", "f", "{}")]);
    room.call(other, "", &[("d1", "joke", "{}")]);
    room.result("d1", "ha");
    room.pair(Some((0, 1)), None, CallStatus::Unanswered);
    room.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    let out = room.only_with("suna-bedrock", &Policy::default());
    assert!(out.text.contains("\"id\":\"c1\""));
    assert_eq!(
        list(&out),
        [
            json!(["assistant", "a"]),
            json!(["assistant", ""]),
            json!(["tool", "ha"]),
        ]
    );
    assert_eq!(out.lost(LossCode::MissingResultSynthesised), []);
}
