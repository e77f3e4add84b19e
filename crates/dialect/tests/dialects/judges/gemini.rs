//! Gemini `generateContent`.

use serde_json::Value;

use super::{Fault, agree, fault, has_keys, is_blank, is_word};

#[test]
fn the_judge_of_contents_agrees() {
    agree("gemini-contents", judge);
}

fn judge(request: &Value) -> Fault {
    if !has_keys(request, &["systemInstruction?", "contents", "tools?"]) {
        return fault("GEM-02");
    }
    let contents = request["contents"].as_array().unwrap();
    let mut open: Vec<(&str, &str)> = Vec::new();
    let mut before = None;
    for content in contents {
        let role = content["role"].as_str().unwrap();
        let parts = content["parts"].as_array().unwrap();
        if !has_keys(content, &["role", "parts"]) || parts.is_empty() || !matches!(role, "user" | "model") {
            return fault("GEM-01/03");
        }
        let members: Vec<&str> = parts
            .iter()
            .map(|part| {
                let object = part.as_object().unwrap();
                assert_eq!(object.len(), 1, "GEM-03");
                object.keys().next().unwrap().as_str()
            })
            .collect();
        if before.is_none() && role != "user" {
            return fault("GEM-08");
        }
        if members.contains(&"functionResponse") {
            if role != "user" || members.iter().any(|member| *member != "functionResponse") {
                return fault("GEM-06 mixed");
            }
        } else if !open.is_empty() {
            return fault("GEM-06 unanswered");
        }
        if members.contains(&"functionCall") && before != Some("user") {
            return fault("GEM-07");
        }
        for part in parts {
            if let Some(text) = part["text"].as_str() {
                if is_blank(text) {
                    return fault("GEM-03 empty");
                }
            } else if let Some(call) = part.get("functionCall") {
                if role != "model" || !call["args"].is_object() || !is_word(&call["name"], 128) {
                    return fault("GEM-04/05");
                }
                open.push((call["id"].as_str().unwrap(), call["name"].as_str().unwrap()));
            } else if let Some(response) = part.get("functionResponse") {
                let key = (
                    response["id"].as_str().unwrap(),
                    response["name"].as_str().unwrap(),
                );
                let Some(index) = open.iter().position(|call| *call == key) else {
                    return fault("GEM-05/06 answers nothing");
                };
                open.remove(index);
                let wrapped = &response["response"];
                if !has_keys(wrapped, &["output"]) && !has_keys(wrapped, &["error"]) {
                    return fault("GEM-04 response");
                }
            } else if part.get("fileData").is_none() && part.get("inlineData").is_none() || role == "model" {
                return fault("GEM-03");
            }
        }
        if !open.is_empty() && members.contains(&"functionResponse") {
            return fault("GEM-06 count");
        }
        before = Some(role);
    }
    (contents.is_empty() || !open.is_empty()).then(|| "GEM-06/08".to_owned())
}
