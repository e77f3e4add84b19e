//! Bedrock Converse.

use serde_json::Value;

use super::{Fault, agree, fault, has_keys, is_blank, is_word};

#[test]
fn the_judge_of_converse_agrees() {
    agree("bedrock-converse", judge);
}

fn judge(request: &Value) -> Fault {
    if !has_keys(request, &["system?", "messages", "toolConfig?"]) {
        return fault("BED-01 keys");
    }
    let messages = request["messages"].as_array().unwrap();
    let mut open: Vec<&str> = Vec::new();
    let mut before = "assistant";
    let mut marks = request["system"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|block| block.get("cachePoint").is_some())
        .count();
    let mut has_tools = false;
    for message in messages {
        let role = message["role"].as_str().unwrap();
        let blocks = message["content"].as_array().unwrap();
        if role == before || blocks.is_empty() || !has_keys(message, &["role", "content"]) {
            return fault("BED-02");
        }
        before = role;
        for block in blocks {
            if block.as_object().unwrap().len() != 1 {
                return fault("BED-01");
            }
            if let Some(text) = block["text"].as_str() {
                if is_blank(text) {
                    return fault("BED-01 blank");
                }
            } else if let Some(call) = block.get("toolUse") {
                has_tools = true;
                let id = call["toolUseId"].as_str().unwrap();
                if role != "assistant"
                    || !is_word(&call["toolUseId"], 64)
                    || !is_word(&call["name"], 64)
                    || !call["input"].is_object()
                    || open.contains(&id)
                {
                    return fault("BED-03");
                }
                open.push(id);
            } else if let Some(result) = block.get("toolResult") {
                has_tools = true;
                let id = result["toolUseId"].as_str().unwrap();
                let Some(index) = open.iter().position(|call| *call == id) else {
                    return fault("BED-04 answers nothing");
                };
                open.remove(index);
                let text = result["content"][0]["text"].as_str().unwrap();
                let status = result.get("status");
                if role != "user" || is_blank(text) || status.is_some_and(|status| status != "error") {
                    return fault("BED-04");
                }
            } else if block.get("cachePoint").is_some() {
                marks += 1;
            } else if block.get("image").is_none() || role != "user" {
                return fault("BED-06");
            }
        }
        if role == "user" && !open.is_empty() {
            return fault("BED-04 unanswered");
        }
    }
    if has_tools && request["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"]["type"] != "object" {
        return fault("BED-05");
    }
    (messages.is_empty() || !open.is_empty() || marks > 4).then(|| "BED-02/04/07".to_owned())
}
