//! Message lists of Mistral and of trainers.

use serde_json::Value;

use super::{Fault, agree, fault, has_keys, is_word};

#[test]
fn the_judge_of_mistral_agrees_for_every_version() {
    agree("mistral-chat", |request| mistral(request, true, false));
    agree("mistral-chat@v3", |request| mistral(request, true, true));
    agree("mistral-chat@v7", |request| mistral(request, true, false));
    agree("mistral-chat@v13", |request| mistral(request, false, false));
}

#[test]
fn the_judge_of_trainers_agrees() {
    agree("hf-messages", |request| trainer(request, true));
    agree("hf-messages@string-arguments", |request| trainer(request, false));
}

/// Every result behind its call; a call's id and name are checked by `is_call`.
fn paired<'v>(messages: &'v [Value], is_call: impl Fn(&Value) -> bool) -> Fault {
    let mut open: Vec<(&'v str, &'v str)> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let key = (
                message["tool_call_id"].as_str().unwrap(),
                message["name"].as_str().unwrap(),
            );
            let Some(index) = open.iter().position(|call| *call == key) else {
                return fault("answers nothing");
            };
            open.remove(index);
            continue;
        }
        if !open.is_empty() {
            return fault("unanswered");
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().unwrap();
            if !is_call(call) || open.iter().any(|(open, _)| *open == id) {
                return fault("call");
            }
            open.push((id, call["function"]["name"].as_str().unwrap()));
        }
    }
    (!open.is_empty()).then(|| "unanswered at the end".to_owned())
}

fn mistral(request: &Value, nine: bool, apart: bool) -> Fault {
    let messages = request["messages"].as_array().unwrap();
    let mut before = "";
    for message in messages {
        let role = message["role"].as_str().unwrap();
        let allowed: &[&str] = match before {
            "" => &["system", "user"],
            "system" => &["user", "assistant", "system"],
            "user" => &["assistant", "system", "user"],
            "assistant" => &["assistant", "user", "tool"],
            _ => &["assistant", "tool", "user"],
        };
        if !allowed.contains(&role) {
            return fault("MIS-03");
        }
        before = role;
        let content = message.get("content");
        let calls = message.get("tool_calls");
        if role == "assistant" {
            let is_said =
                content.is_some_and(|content| content.as_str().is_some_and(|text| !text.is_empty()));
            let is_calling = calls.is_some_and(|calls| !calls.as_array().unwrap().is_empty());
            if !is_said && !is_calling || apart && is_said && is_calling {
                return fault("MIS-02");
            }
        } else if calls.is_some() || content.is_none() {
            return fault("MIS-02 role");
        }
        if role != "tool" && message.get("name").is_some() {
            return fault("MIS-06");
        }
    }
    if matches!(before, "" | "system") {
        return fault("MIS-05");
    }
    paired(messages, |call| {
        let id = call["id"].as_str().unwrap();
        let is_nine = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (if nine {
            is_nine
        } else {
            !id.is_empty() && id != "null"
        }) && is_word(&call["function"]["name"], 64)
            && call["function"]["arguments"].is_string()
    })
}

fn trainer(record: &Value, objects: bool) -> Fault {
    if !has_keys(record, &["messages", "tools?"]) {
        return fault("HFM-01");
    }
    let messages = record["messages"].as_array().unwrap();
    if messages.is_empty() {
        return fault("HFM-06");
    }
    for message in messages {
        let keys: &[&str] = match message["role"].as_str().unwrap() {
            "assistant" => &["role", "content", "tool_calls?"],
            "tool" => &["role", "tool_call_id", "name", "content"],
            _ => &["role", "content"],
        };
        let has_null = message.as_object().unwrap().values().any(Value::is_null);
        if !has_keys(message, keys) || has_null || !message["content"].is_string() {
            return fault("HFM-02/03");
        }
    }
    paired(messages, |call| {
        let arguments = &call["function"]["arguments"];
        arguments.is_object() == objects
            && arguments.is_string() != objects
            && !call["function"]["name"].as_str().unwrap().is_empty()
    })
}
