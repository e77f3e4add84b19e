//! Chat Completions.

use serde_json::Value;

use super::{Fault, agree, fault, is_word};

#[test]
fn the_judge_of_chat_completions_agrees() {
    agree("openai-chat", judge);
}

fn judge(request: &Value) -> Fault {
    let messages = request["messages"].as_array().unwrap();
    if messages.is_empty() {
        return fault("no messages");
    }
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            let Some(index) = open.iter().position(|call| *call == id) else {
                return fault("OAC-06 answers nothing");
            };
            open.remove(index);
            if !message["content"].is_string() || message.get("name").is_some() {
                return fault("OAC-03/09");
            }
            continue;
        }
        if !open.is_empty() {
            return fault("OAC-06 unanswered");
        }
        if message.get("name").is_some_and(|name| !is_word(name, 64)) {
            return fault("OAC-08");
        }
        let calls = message["tool_calls"].as_array();
        match &message["content"] {
            Value::String(content) if content.is_empty() => return fault("empty"),
            Value::String(_) => {}
            Value::Array(parts) if role == "user" && !parts.is_empty() => {}
            Value::Null if calls.is_some() => {}
            _ => return fault("OAC-02/03/04"),
        }
        if calls.is_some_and(|calls| calls.is_empty() || role != "assistant") {
            return fault("OAC-05");
        }
        for call in calls.into_iter().flatten() {
            if !is_word(&call["function"]["name"], 64) || !call["function"]["arguments"].is_string() {
                return fault("OAC-05/07");
            }
            let id = call["id"].as_str().unwrap();
            if id.is_empty() || open.contains(&id) {
                return fault("OAC-05/06");
            }
            open.push(id);
        }
    }
    (!open.is_empty()).then(|| "OAC-06 unanswered at the end".to_owned())
}
