//! Group Chat Format 1.0.0: the output of the dialect for conversations without some of the data that the format requires.

use chatmill_dialect::LossCode;
use serde_json::{Value, json};

use super::{Rendered, render, sample};

fn written(source: &str, name: &str) -> (Value, Rendered) {
    let rendered = render(&sample(source, &format!("group-chat/{name}")), "group-chat");
    (serde_json::from_str(&rendered.text).unwrap(), rendered)
}

#[test]
fn a_list_without_names_ids_and_times_has_all_that_the_validators_ask() {
    let (chat, rendered) = written("openai-messages", "plain-list.json");
    assert_eq!(chat["conversation_meta"]["name"], "");
    let people = &chat["conversation_meta"]["user_details"];
    let messages = chat["conversation_list"].as_array().unwrap();
    for (index, message) in messages.iter().enumerate() {
        assert_eq!(message["message_id"], format!("m{index}"));
        assert!(
            people.get(message["sender"].as_str().unwrap()).is_some(),
            "{message}"
        );
        assert!(message.get("create_time").is_none(), "{message}");
    }
    assert_eq!(rendered.lost(LossCode::MessageIdSynthesised), 5);
    assert_eq!(rendered.lost(LossCode::TitleSynthesised), 1);
}

#[test]
fn system_text_is_a_marked_event_and_reads_back_as_system_text() {
    let (chat, rendered) = written("openai-messages", "plain-list.json");
    let first = &chat["conversation_list"][0];
    assert_eq!(first["type"], "system");
    assert_eq!(first["extra"], json!({ "role": "system" }));
    assert!(first.get("role").is_none(), "{first}");
    let again = chatmill_testkit::conversations::read("group-chat", &rendered.text);
    assert!(
        render(&again, "openai-chat")
            .text
            .contains(r#"{"role":"system","content":"You keep the kiln."}"#)
    );
}

#[test]
fn calls_and_results_without_ids_get_one_and_stay_pairs() {
    let (chat, rendered) = written("openai-messages", "plain-list.json");
    let list = &chat["conversation_list"];
    assert_eq!(list[2]["extra"]["tool_calls"][0]["id"], "call_0");
    assert_eq!(list[2]["extra"]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(list[3]["extra"]["tool_call_id"], "call_0");
    assert_eq!(rendered.lost(LossCode::ToolIdRewritten), 2);
}

#[test]
fn a_status_row_is_sent_by_the_system() {
    let (chat, rendered) = written("suna-rows", "status-row.json");
    let status = &chat["conversation_list"][1];
    assert_eq!(
        (&status["sender"], &status["type"]),
        (&json!("system"), &json!("system"))
    );
    assert_eq!(rendered.lost(LossCode::SenderMissing), 1);
    assert_eq!(chat["conversation_meta"]["name"], "t1");
}

#[test]
fn a_quote_without_an_id_gets_one_and_its_author_a_place_in_the_roster() {
    let (chat, rendered) = written("tzurot-requests", "quoted-only.json");
    let quote = &chat["conversation_list"][0]["refer_list"][0];
    assert_eq!(quote["message_id"], "q0.0");
    let author = quote["sender"].as_str().unwrap();
    assert!(
        chat["conversation_meta"]["user_details"].get(author).is_some(),
        "{chat}"
    );
    assert_eq!(rendered.lost(LossCode::ParticipantSynthesised), 1);
}

#[test]
fn a_quote_keeps_its_time_and_author_and_declares_other_fields_lost() {
    let (chat, rendered) = written("tzurot-requests", "quoted-hook.json");
    let quote = &chat["conversation_list"][0]["refer_list"][0];
    let expected = json!({
        "message_id": "r1", "create_time": "2026-02-02T02:40:00Z", "sender": "ludwig-b", "sender_name": "Ludwig",
        "role": "assistant", "content": "Heat is motion.",
    });
    assert_eq!(quote, &expected);
    // The name of the webhook and its account.
    assert_eq!(rendered.lost(LossCode::ExtraDropped), 2);
}
