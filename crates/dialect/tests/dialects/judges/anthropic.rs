//! Anthropic Messages.

use serde_json::Value;

use super::{Fault, agree, fault, has_keys, is_blank, is_word};

#[test]
fn the_judge_of_messages_agrees() {
    agree("anthropic-messages", judge);
}

fn judge(request: &Value) -> Fault {
    if !has_keys(request, &["system?", "messages", "tools?"]) {
        return fault("ANT-01");
    }
    let messages = request["messages"].as_array().unwrap();
    let mut marks = 0;
    for block in request["system"].as_array().into_iter().flatten() {
        marks += usize::from(block.get("cache_control").is_some());
        if block["type"] != "text" || is_blank(block["text"].as_str().unwrap()) {
            return fault("ANT-02/05");
        }
    }
    let mut open: Vec<&str> = Vec::new();
    let mut before = "assistant";
    for message in messages {
        let role = message["role"].as_str().unwrap();
        if !has_keys(message, &["role", "content"]) || role == before {
            return fault("ANT-01/03/04");
        }
        before = role;
        let blocks = message["content"].as_array().unwrap();
        if blocks.is_empty() {
            return fault("ANT-05");
        }
        let mut seen_text = false;
        let mut seen_use = false;
        for block in blocks {
            if let Some(mark) = block.get("cache_control") {
                marks += 1;
                if mark["type"] != "ephemeral" {
                    return fault("ANT-09 type");
                }
            }
            match block["type"].as_str().unwrap() {
                "text" => {
                    seen_text = true;
                    if seen_use || is_blank(block["text"].as_str().unwrap()) {
                        return fault("ANT-05/08");
                    }
                }
                "image" if role == "user" => seen_text = true,
                "tool_use" if role == "assistant" => {
                    seen_use = true;
                    let id = block["id"].as_str().unwrap();
                    if !is_word(&block["id"], 256)
                        || open.contains(&id)
                        || !is_word(&block["name"], 128)
                        || !block["input"].is_object()
                    {
                        return fault("ANT-06");
                    }
                    open.push(id);
                }
                "tool_result" if role == "user" => {
                    let id = block["tool_use_id"].as_str().unwrap();
                    let Some(index) = open.iter().position(|open| *open == id) else {
                        return fault("ANT-07 answers nothing");
                    };
                    open.remove(index);
                    if seen_text || block.get("content").is_some_and(|content| content == "") {
                        return fault("ANT-07 order");
                    }
                }
                _ => return fault("ANT-12"),
            }
        }
        if role == "user" && !open.is_empty() {
            return fault("ANT-07 unanswered");
        }
    }
    let Some(last) = messages.last() else {
        return fault("no messages");
    };
    let end = last["content"].as_array().unwrap().last().unwrap();
    let is_trailing = end["text"].as_str().is_some_and(|text| text.trim_end() != text);
    if last["role"] == "assistant" && is_trailing {
        return fault("ANT-11");
    }
    (!open.is_empty() || marks > 4).then(|| "ANT-07/09".to_owned())
}
