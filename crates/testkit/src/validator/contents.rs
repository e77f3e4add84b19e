//! Gemini: contents of parts, in which calls and responses are paired by place, id and name.

use serde_json::Value;

use super::{RuleBreaches, Written, array, has_keys, is_blank, is_word, schemas, string, tools};

const SNAKE_CASE: [&str; 7] = [
    "inline_data",
    "file_data",
    "function_call",
    "function_response",
    "mime_type",
    "file_uri",
    "thought_signature",
];

pub(super) fn gemini_contents(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let body = &written.body;
    breaches.when(
        !has_keys(body, &["systemInstruction?", "contents", "tools?"]),
        "GEM-02",
    );
    let contents = array(&body["contents"]);
    breaches.when(contents.is_empty(), "GEM-08");
    let mut waiting: Vec<&Value> = Vec::new();
    let mut before = "";
    for (index, content) in contents.iter().enumerate() {
        breaches.check_at(index);
        let (role, parts) = (string(&content["role"]), array(&content["parts"]));
        let is_content = has_keys(content, &["role", "parts"]) && matches!(role, "user" | "model");
        breaches.when(!is_content, "GEM-01");
        breaches.when(index == 0 && role != "user", "GEM-08");
        breaches.when(parts.is_empty(), "GEM-03");
        for part in parts {
            check_part(part, role, breaches);
        }
        let members = |name: &'static str| parts.iter().filter_map(move |part| part.get(name));
        let calls: Vec<&Value> = members("functionCall").collect();
        let responses: Vec<&Value> = members("functionResponse").collect();
        let is_apart = role == "user" && responses.len() == parts.len();
        breaches.when(!responses.is_empty() && !is_apart, "GEM-06");
        let all = |values: &[&Value], key: &str| -> Vec<Value> {
            values.iter().map(|value| value[key].clone()).collect()
        };
        let is_answered = all(&responses, "id") == all(&waiting, "id");
        breaches.when(!is_answered, "GEM-06");
        let is_named = all(&responses, "name") == all(&waiting, "name");
        breaches.when(is_answered && !is_named, "GEM-05");
        for one in calls.iter().chain(&responses) {
            breaches.when(!begins_well(&one["name"]), "GEM-05");
            breaches.when(!is_word(&one["name"], 128), "GEM-05");
            let has_id = written.profile == "no-ids" && one.get("id").is_some();
            breaches.when(has_id, "GEM-06");
        }
        let is_due = role == "model" && before == "user";
        breaches.when(!calls.is_empty() && !is_due, "GEM-07");
        before = role;
        waiting = calls;
    }
    breaches.check_the_whole();
    let defined = array(&body["tools"]).iter();
    let declared = defined.flat_map(|tool| array(&tool["functionDeclarations"]));
    let named = declared.clone().map(|one| (&one["name"], &one["parameters"]));
    tools(named, "GEM-05", 128, "OBJECT", breaches);
    for one in declared.clone() {
        breaches.when(!begins_well(&one["name"]), "GEM-05");
    }
    schemas::declared(declared, written.profile, breaches);
}

/// Whether a name begins with a letter or `_`.
fn begins_well(name: &Value) -> bool {
    string(name).starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
}

/// Checks the content of a part, in any role.
fn check_part(part: &Value, role: &str, breaches: &mut RuleBreaches) {
    let members: Vec<(&String, &Value)> = part.as_object().into_iter().flatten().collect();
    breaches.when(members.len() != 1, "GEM-03");
    for (member, member_value) in members {
        let inner = member_value
            .as_object()
            .into_iter()
            .flat_map(|member_value| member_value.keys());
        let keys: Vec<&str> = inner.chain([member]).map(String::as_str).collect();
        let is_snake = keys.iter().any(|key| SNAKE_CASE.contains(key));
        breaches.when(is_snake, "GEM-02");
        let is_signed = keys.iter().any(|key| key.starts_with("thought"));
        breaches.when(is_signed, "GEM-09");
        match member.as_str() {
            "text" => breaches.when(is_blank(string(member_value)), "GEM-03"),
            "functionCall" => breaches.when(!member_value["args"].is_object(), "GEM-04"),
            "functionResponse" => {
                breaches.when(!member_value["response"].is_object(), "GEM-04");
                let is_bytes = |part: &Value| has_keys(part, &["inlineData"]);
                breaches.when(!array(&member_value["parts"]).iter().all(is_bytes), "GEM-03");
            }
            "executableCode" | "codeExecutionResult" | "toolCall" | "toolResponse" => {
                breaches.when(role != "model" || !member_value.is_object(), "GEM-03");
            }
            "fileData" | "inlineData" => {
                breaches.when(role != "user", "GEM-03");
            }
            _ => breaches.when(true, "GEM-03"),
        }
    }
}
