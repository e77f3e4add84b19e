//! Suna's message lists.

use serde_json::Value;

use super::{Fault, agree, fault, has_keys};

#[test]
fn the_judge_of_suna_agrees_for_every_list() {
    agree("suna-llm", |list| judge(list, "string"));
    agree("suna-list", |list| judge(list, "blocks"));
}

#[test]
fn every_result_of_a_filtered_list_has_an_open_call_in_front_of_it() {
    for (dialect, is_newest_only) in [("suna-bedrock", false), ("suna-bedrock@2025-11-07", true)] {
        super::each(dialect, |out| {
            let list: Value = serde_json::from_str(&out.text).unwrap();
            let mut open: Vec<&str> = Vec::new();
            let mut marks = 0;
            let messages = list.as_array().unwrap();
            let turns = messages.iter().filter(|message| message["role"] != "system");
            // Where nothing else is left, the code keeps a text that it would have dropped.
            let is_last_resort = is_newest_only && turns.count() == 1;
            for message in messages {
                match message["role"].as_str().unwrap() {
                    "tool" => {
                        let id = message["tool_call_id"].as_str().unwrap();
                        let call = open.iter().position(|open| *open == id);
                        open.remove(call.unwrap_or_else(|| panic!("{dialect}: {id} in {}", out.text)));
                    }
                    "assistant" => {
                        if is_newest_only {
                            open.clear();
                        }
                        let calls = message["tool_calls"].as_array().into_iter().flatten();
                        open.extend(calls.map(|call| call["id"].as_str().unwrap()));
                    }
                    "user" => {
                        let is_cached = message["content"].is_array();
                        marks += u32::from(is_cached);
                        let text = message["content"].as_str().unwrap_or_default();
                        let embeds = text.trim_start().starts_with("Tool: {");
                        assert!(!embeds || is_last_resort, "{dialect}: {text}");
                    }
                    other => assert_eq!(other, "system"),
                }
            }
            assert!(marks <= 4, "{dialect}: {}", out.text);
        });
    }
}

#[test]
fn a_cached_list_has_marked_blocks_and_then_the_newest_user_turn() {
    super::each("suna-cached", |out| {
        let list: Value = serde_json::from_str(&out.text).unwrap();
        let messages = list.as_array().unwrap();
        let blocks: Vec<usize> = (0..messages.len())
            .filter(|index| messages[*index]["content"].is_array())
            .collect();
        assert!(blocks.len() <= 4, "{}", out.text);
        let marked = out.text.matches("\"cache_control\"").count();
        let raw: Vec<&Value> = messages
            .iter()
            .filter(|message| message["content"].is_string())
            .collect();
        for index in blocks {
            let marked = messages[index]["content"].as_array().unwrap().iter();
            let marks = marked.filter(|block| block["cache_control"]["type"] == "ephemeral");
            assert!(marks.count() > 0, "{}", out.text);
        }
        // Where as many marks are used as there may be, older turns stand as they are.
        let users = raw.iter().filter(|message| message["role"] == "user");
        assert!(marked == 4 || users.count() <= 1, "{}", out.text);
        if out.violations.is_empty() {
            assert_eq!(judge(&list, "either"), None, "{}", out.text);
        }
    });
}

fn judge(list: &Value, content: &str) -> Fault {
    let messages = list.as_array().unwrap();
    if messages.is_empty() {
        return fault("SUN-01 nothing");
    }
    let mut open: Vec<(&str, &str)> = Vec::new();
    let mut marks = 0;
    for message in messages {
        let role = message["role"].as_str().unwrap();
        let keys: &[&str] = match role {
            "assistant" => &["role", "content", "tool_calls?", "message_id?"],
            "tool" => &["role", "tool_call_id", "name", "content", "message_id?"],
            "user" | "system" => &["role", "content", "message_id?"],
            _ => return fault("SUN-01"),
        };
        if !has_keys(message, keys) {
            return fault("SUN-01 keys");
        }
        match (&message["content"], content) {
            (Value::String(_), "string" | "either") => {}
            (Value::Array(blocks), "blocks" | "either") => {
                for block in blocks {
                    marks += usize::from(block.get("cache_control").is_some());
                    let is_text = block["text"].as_str().is_some_and(|text| !text.is_empty());
                    if !has_keys(block, &["type", "text", "cache_control?"]) || !is_text {
                        return fault("block");
                    }
                }
            }
            _ => return fault("content"),
        }
        if role == "tool" {
            let key = (
                message["tool_call_id"].as_str().unwrap(),
                message["name"].as_str().unwrap(),
            );
            let Some(index) = open.iter().position(|call| *call == key) else {
                return fault("SUN-02 answers nothing");
            };
            open.remove(index);
        } else if !open.is_empty() {
            return fault("SUN-02 unanswered");
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            if !function["arguments"].is_string() || call["type"] != "function" {
                return fault("SUN-03");
            }
            open.push((call["id"].as_str().unwrap(), function["name"].as_str().unwrap()));
        }
    }
    (!open.is_empty() || marks > 4).then(|| "SUN-02 unanswered at the end".to_owned())
}
