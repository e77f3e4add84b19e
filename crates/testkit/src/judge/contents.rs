//! Gemini: contents of parts, in which calls and responses are paired by place, id and name.

use serde_json::Value;

use super::{RuleBreaches, Written, array, has_keys, is_blank, is_word, string, tools};

const SNAKE_CASE: [&str; 7] = [
    "inline_data",
    "file_data",
    "function_call",
    "function_response",
    "mime_type",
    "file_uri",
    "thought_signature",
];

pub(super) fn gemini_contents(written: &Written<'_>, faults: &mut RuleBreaches) {
    let body = &written.body;
    faults.when(
        !has_keys(body, &["systemInstruction?", "contents", "tools?"]),
        "GEM-02",
    );
    let contents = array(&body["contents"]);
    faults.when(contents.is_empty(), "GEM-08");
    let mut waiting: Vec<&Value> = Vec::new();
    let mut before = "";
    for (index, content) in contents.iter().enumerate() {
        faults.look_at(index);
        let (role, parts) = (string(&content["role"]), array(&content["parts"]));
        let is_content = has_keys(content, &["role", "parts"]) && matches!(role, "user" | "model");
        faults.when(!is_content, "GEM-01");
        faults.when(index == 0 && role != "user", "GEM-08");
        faults.when(parts.is_empty(), "GEM-03");
        for part in parts {
            look_at_part(part, role, faults);
        }
        let members = |name: &'static str| parts.iter().filter_map(move |part| part.get(name));
        let calls: Vec<&Value> = members("functionCall").collect();
        let responses: Vec<&Value> = members("functionResponse").collect();
        let is_apart = role == "user" && responses.len() == parts.len();
        faults.when(!responses.is_empty() && !is_apart, "GEM-06");
        let all = |values: &[&Value], key: &str| -> Vec<Value> {
            values.iter().map(|value| value[key].clone()).collect()
        };
        let is_answered = all(&responses, "id") == all(&waiting, "id");
        faults.when(!is_answered, "GEM-06");
        let is_named = all(&responses, "name") == all(&waiting, "name");
        faults.when(is_answered && !is_named, "GEM-05");
        for one in calls.iter().chain(&responses) {
            faults.when(!is_word(&one["name"], 128), "GEM-05");
            let is_told = written.profile == "no-ids" && one.get("id").is_some();
            faults.when(is_told, "GEM-06");
        }
        let is_due = role == "model" && before == "user";
        faults.when(!calls.is_empty() && !is_due, "GEM-07");
        before = role;
        waiting = calls;
    }
    faults.look_at_the_whole();
    let defined = array(&body["tools"]).iter();
    let declared = defined.flat_map(|tool| array(&tool["functionDeclarations"]));
    let named = declared.map(|one| (&one["name"], &one["parameters"]));
    tools(named, "GEM-05", 128, "OBJECT", faults);
}

/// What a part holds, whoever answers whom.
fn look_at_part(part: &Value, role: &str, faults: &mut RuleBreaches) {
    let members: Vec<(&String, &Value)> = part.as_object().into_iter().flatten().collect();
    faults.when(members.len() != 1, "GEM-03");
    for (member, held) in members {
        let inner = held.as_object().into_iter().flat_map(|held| held.keys());
        let keys: Vec<&str> = inner.chain([member]).map(String::as_str).collect();
        let is_snake = keys.iter().any(|key| SNAKE_CASE.contains(key));
        faults.when(is_snake, "GEM-02");
        let is_signed = keys.iter().any(|key| key.starts_with("thought"));
        faults.when(is_signed, "GEM-09");
        match member.as_str() {
            "text" => faults.when(is_blank(string(held)), "GEM-03"),
            "functionCall" => faults.when(!held["args"].is_object(), "GEM-04"),
            "functionResponse" => {
                faults.when(!held["response"].is_object(), "GEM-04");
                let is_bytes = |part: &Value| has_keys(part, &["inlineData"]);
                faults.when(!array(&held["parts"]).iter().all(is_bytes), "GEM-03");
            }
            "fileData" | "inlineData" => {
                faults.when(role != "user", "GEM-03");
            }
            _ => faults.when(true, "GEM-03"),
        }
    }
}
