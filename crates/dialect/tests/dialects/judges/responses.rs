//! OpenAI Responses.

use serde_json::Value;

use super::{Fault, agree, fault, has_keys, is_word};

#[test]
fn the_judge_of_responses_agrees() {
    agree("openai-responses", judge);
}

fn judge(request: &Value) -> Fault {
    let items = request["input"].as_array().unwrap();
    if items.is_empty() {
        return fault("OAR-01 nothing");
    }
    let mut open: Vec<&str> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut is_answering = false;
    for item in items {
        match item["type"].as_str() {
            Some("function_call") => {
                let id = item["call_id"].as_str().unwrap();
                if !has_keys(item, &["type", "call_id", "name", "arguments"])
                    || !(1..=64).contains(&id.chars().count())
                    || !is_word(&item["name"], 64)
                    || !item["arguments"].is_string()
                    || seen.contains(&id)
                {
                    return fault("OAR-03");
                }
                if is_answering && !open.is_empty() {
                    return fault("OAR-04 order");
                }
                is_answering = false;
                seen.push(id);
                open.push(id);
            }
            Some("function_call_output") => {
                is_answering = true;
                let id = item["call_id"].as_str().unwrap();
                let Some(index) = open.iter().position(|call| *call == id) else {
                    return fault("OAR-04 answers nothing");
                };
                open.remove(index);
                if !has_keys(item, &["type", "call_id", "output"]) || !item["output"].is_string() {
                    return fault("OAR-03 output");
                }
            }
            Some(_) => return fault("OAR-01"),
            None => {
                if !open.is_empty() {
                    return fault("OAR-04 unanswered");
                }
                if !has_keys(item, &["role", "content"]) {
                    return fault("OAR-05");
                }
                match (&item["content"], item["role"].as_str().unwrap()) {
                    (Value::String(text), "user" | "assistant" | "system") if !text.is_empty() => {}
                    (Value::Array(parts), "user") if !parts.is_empty() => {
                        for part in parts {
                            let keys: &[&str] = match part["type"].as_str().unwrap() {
                                "input_text" => &["type", "text"],
                                "input_image" => &["type", "detail", "image_url"],
                                "input_file" => &["type", "file_url"],
                                _ => return fault("OAR-02 part"),
                            };
                            if !has_keys(part, keys) {
                                return fault("OAR-02 keys");
                            }
                        }
                    }
                    _ => return fault("OAR-02"),
                }
            }
        }
    }
    (!open.is_empty()).then(|| "OAR-04 unanswered at the end".to_owned())
}
