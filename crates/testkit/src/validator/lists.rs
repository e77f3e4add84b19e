//! Lists of messages: Chat Completions, and the variants of Mistral, trainers and Suna.

use serde_json::Value;

use super::{RuleBreaches, Waiting, Written, array, has_keys, is_word, schemas, string, tools};

/// The rules of a family by subject.
struct Codes {
    roles: &'static str,
    none: &'static str,
    parts: &'static str,
    content: &'static str,
    calls: &'static str,
    pairs: &'static str,
    names: &'static str,
    arguments: &'static str,
}

const OPENAI: Codes = Codes {
    roles: "OAC-01",
    none: "OAC-02",
    parts: "OAC-03",
    content: "OAC-04",
    calls: "OAC-05",
    pairs: "OAC-06",
    names: "OAC-07",
    arguments: "OAC-05",
};

const MISTRAL: Codes = Codes {
    roles: "MIS-03",
    none: "MIS-03",
    parts: "MIS-07",
    content: "MIS-02",
    calls: "MIS-02",
    pairs: "MIS-04",
    names: "MIS-06",
    arguments: "MIS-04",
};

const TRAINERS: Codes = Codes {
    roles: "HFM-01",
    none: "HFM-06",
    parts: "HFM-03",
    content: "HFM-03",
    calls: "HFM-04",
    pairs: "HFM-05",
    names: "HFM-05",
    arguments: "HFM-04",
};

const SUNA: Codes = Codes {
    roles: "SUN-01",
    none: "SUN-01",
    parts: "SUN-01",
    content: "SUN-01",
    calls: "SUN-02",
    pairs: "SUN-02",
    names: "SUN-02",
    arguments: "SUN-03",
};

fn calls(message: &Value) -> &[Value] {
    array(&message["tool_calls"])
}

/// The object with the name of a call, and its arguments. OpenAI also has tools that take free text.
fn asked<'c>(call: &'c Value, codes: &Codes) -> (&'c Value, &'c Value) {
    if codes.calls == OPENAI.calls && call["type"] == "custom" {
        return (&call["custom"], &call["custom"]["input"]);
    }
    (&call["function"], &call["function"]["arguments"])
}

pub(super) fn openai_chat(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let messages = array(&written.body["messages"]);
    list(messages, &OPENAI, Value::is_string, breaches);
    for (index, message) in messages.iter().enumerate() {
        breaches.check_at(index);
        let keys = ["role", "name?", "content?", "tool_calls?", "tool_call_id?"];
        breaches.when(!has_keys(message, &keys), "OAC-01");
        let (role, content) = (string(&message["role"]), &message["content"]);
        breaches.when(role != "tool" && content == "", "OAC-02");
        breaches.when(role == "tool" && !content.is_string(), "OAC-03");
        breaches.when(content.is_array() && role != "user", "OAC-03");
        if let Some(name) = message.get("name") {
            breaches.when(role == "tool", "OAC-09");
            breaches.when(role != "tool" && !is_word(name, 64), "OAC-08");
        }
        for call in calls(message) {
            breaches.when(!is_word(&asked(call, &OPENAI).0["name"], 64), "OAC-07");
            breaches.when(string(&call["id"]).chars().count() > 40, "OAC-05");
        }
    }
    functions(&written.body, "OAC-07", breaches);
    schemas::takes(parameters(&written.body), &schemas::OPENAI, "OAC-10", breaches);
}

pub(super) fn mistral_chat(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let messages = array(&written.body["messages"]);
    list(messages, &MISTRAL, Value::is_string, breaches);
    breaches.check_the_whole();
    let role = |message: &Value| string(&message["role"]).to_owned();
    let roles: Vec<String> = messages.iter().map(role).collect();
    let has_only_system_text = !roles.is_empty() && roles.iter().all(|role| role == "system");
    breaches.when(has_only_system_text, "MIS-03");
    let is_early = roles
        .first()
        .is_some_and(|role| !matches!(role.as_str(), "system" | "user"));
    breaches.when(is_early, "MIS-03");
    let ends = roles.last().is_some_and(|role| role == "system");
    breaches.when(ends, "MIS-05");
    let is_late = |pair: &[String]| pair[1] == "system" && !matches!(pair[0].as_str(), "system" | "user");
    let is_late = roles.windows(2).any(is_late);
    breaches.when(is_late, "MIS-03");
    for (index, message) in messages.iter().enumerate() {
        breaches.check_at(index);
        let (role, content) = (string(&message["role"]), &message["content"]);
        let is_calling = !calls(message).is_empty();
        let keys = ["role", "name?", "content?", "tool_calls?", "tool_call_id?"];
        breaches.when(!has_keys(message, &keys), "MIS-06");
        breaches.when(role == "assistant" && content == "" && !is_calling, "MIS-02");
        breaches.when(role == "tool" && content.is_null(), "MIS-02");
        let is_both = is_calling && !content.is_null() && content != "";
        breaches.when(is_both && written.profile == "v3", "MIS-02");
        breaches.when(role != "tool" && message.get("name").is_some(), "MIS-06");
        let of_results = message.get("tool_call_id").filter(|_| role == "tool");
        for id in calls(message).iter().map(|call| &call["id"]).chain(of_results) {
            let is_id = match written.profile {
                "v13" => !matches!(string(id), "" | "null"),
                _ => string(id).len() == 9 && is_word(id, 9) && !string(id).contains(['_', '-']),
            };
            breaches.when(!is_id, "MIS-01");
        }
        for call in calls(message) {
            breaches.when(!is_word(&call["function"]["name"], 64), "MIS-06");
        }
        let is_sound = |part: &Value| string(&part["type"]).contains("audio");
        breaches.when(array(content).iter().any(is_sound), "MIS-07");
    }
    functions(&written.body, "MIS-06", breaches);
    schemas::takes(parameters(&written.body), &schemas::MISTRAL, "MIS-08", breaches);
}

pub(super) fn hf_messages(written: &Written<'_>, breaches: &mut RuleBreaches) {
    breaches.when(!has_keys(&written.body, &["messages", "tools?"]), "HFM-01");
    let messages = array(&written.body["messages"]);
    let is_form = match written.profile {
        "string-arguments" => Value::is_string,
        _ => Value::is_object,
    };
    list(messages, &TRAINERS, is_form, breaches);
    for (index, message) in messages.iter().enumerate() {
        breaches.check_at(index);
        let keys: &[&str] = match string(&message["role"]) {
            "assistant" => &["role", "content", "tool_calls?", "reasoning_content?"],
            "tool" => &["role", "tool_call_id", "name", "content"],
            _ => &["role", "content", "reasoning_content?"],
        };
        breaches.when(!has_keys(message, keys), "HFM-01");
        let values = message
            .as_object()
            .into_iter()
            .flat_map(|message| message.values());
        let is_null = values.into_iter().any(Value::is_null);
        breaches.when(is_null, "HFM-02");
        let content = &message["content"];
        let parts = array(content);
        let is_pictured = message["role"] == "user" && parts.iter().any(|part| part["type"] == "image");
        let is_part = |part: &Value| {
            let forms = [&["type", "text"][..], &["type", "url"], &["type", "path"]];
            let kinds = ["text", "image", "image"];
            forms.iter().zip(kinds).any(|(keys, kind)| {
                part["type"] == kind && has_keys(part, keys) && !string(&part[keys[1]]).is_empty()
            })
        };
        let is_list = is_pictured && parts.iter().all(is_part);
        breaches.when(!content.is_string() && !is_list, "HFM-03");
        if let Some(thought) = message.get("reasoning_content") {
            let is_placed = thought.is_string() && message["role"] == "assistant";
            breaches.when(!is_placed, "HFM-07");
        }
    }
}

pub(super) fn suna_llm(written: &Written<'_>, breaches: &mut RuleBreaches) {
    suna(written, breaches, Value::is_string);
}

pub(super) fn suna_list(written: &Written<'_>, breaches: &mut RuleBreaches) {
    suna(written, breaches, Value::is_array);
}

/// Checks that marked blocks come first, then the newest user turn.
pub(super) fn suna_cached(written: &Written<'_>, breaches: &mut RuleBreaches) {
    suna(written, breaches, |content| {
        content.is_string() || content.is_array()
    });
    let messages = array(&written.body);
    let has_only_system_text = messages.iter().all(|message| message["role"] == "system");
    breaches.when(has_only_system_text && !messages.is_empty(), "SUN-01");
    let is_marked = |block: &Value| block["cache_control"]["type"] == "ephemeral";
    let mut marked = 0;
    for message in messages.iter().filter(|message| message["content"].is_array()) {
        let marks = array(&message["content"]).iter().filter(|block| is_marked(block));
        let marks = marks.count();
        breaches.when(marks == 0, "SUN-01");
        marked += marks;
    }
    let is_plain = |message: &&Value| message["role"] == "user" && message["content"].is_string();
    let plain = messages.iter().filter(is_plain).count();
    // If the maximum number of marks is used, older turns have no marks.
    breaches.when(plain > 1 && marked < 4, "SUN-01");
}

/// Applies the backend's filter, which keeps results that have an open call anywhere before them.
pub(super) fn suna_bedrock(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let messages = array(&written.body);
    breaches.when(messages.is_empty(), "SUN-01");
    let is_newest_only = written.profile == "2025-11-07";
    let is_turn = |message: &&Value| message["role"] != "system";
    // If nothing else is left, the code keeps a text that it would otherwise have dropped.
    let is_last_resort = is_newest_only && messages.iter().filter(is_turn).count() == 1;
    let mut waiting = Waiting::default();
    for (index, message) in messages.iter().enumerate() {
        breaches.check_at(index);
        let content = &message["content"];
        suna_message(message, breaches);
        match string(&message["role"]) {
            "tool" => {
                let is_answer = waiting.answer(&message["tool_call_id"], None);
                breaches.when(!is_answer, "SUN-02");
            }
            "assistant" => {
                if is_newest_only {
                    waiting.clear();
                }
                for call in calls(message) {
                    waiting.add(&call["id"], &call["function"]["name"]);
                }
            }
            "user" => {
                let embeds = string(content).trim_start().starts_with("Tool: {");
                breaches.when(embeds && !is_last_resort, "SUN-02");
            }
            _ => {}
        }
    }
    breaches.check_the_whole();
    let is_cached = |message: &&Value| message["role"] == "user" && message["content"].is_array();
    let cached = messages.iter().filter(is_cached).count();
    breaches.when(cached > 4, "SUN-01");
}

fn suna(written: &Written<'_>, breaches: &mut RuleBreaches, is_content: fn(&Value) -> bool) {
    let messages = array(&written.body);
    list(messages, &SUNA, Value::is_string, breaches);
    let mut marks = 0;
    for (index, message) in messages.iter().enumerate() {
        breaches.check_at(index);
        suna_message(message, breaches);
        breaches.when(!is_content(&message["content"]), "SUN-01");
        for block in array(&message["content"]) {
            marks += usize::from(block.get("cache_control").is_some());
            let is_text = !string(&block["text"]).is_empty();
            let is_block = is_text && has_keys(block, &["type", "text", "cache_control?"]);
            breaches.when(!is_block, "SUN-01");
        }
    }
    breaches.check_the_whole();
    breaches.when(marks > 4, "SUN-01");
}

/// Checks the keys of a message and of its calls.
fn suna_message(message: &Value, breaches: &mut RuleBreaches) {
    let keys: &[&str] = match string(&message["role"]) {
        "assistant" => &["role", "content", "tool_calls?", "message_id?"],
        "tool" => &["role", "tool_call_id", "name", "content", "message_id?"],
        "user" | "system" => &["role", "content", "message_id?"],
        _ => &[],
    };
    breaches.when(!has_keys(message, keys), "SUN-01");
    for call in calls(message) {
        let function = &call["function"];
        let is_call = call["type"] == "function"
            && ![&call["id"], &function["name"]].map(string).contains(&"")
            && message["role"] == "assistant";
        breaches.when(!is_call, "SUN-02");
        breaches.when(!function["arguments"].is_string(), "SUN-03");
    }
}

/// The parameters of each function, and whether it is strict.
fn parameters(body: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    functions_of(body).map(|function| (&function["parameters"], &function["strict"]))
}

/// The functions among the tools; OpenAI also has other tools.
fn functions_of(body: &Value) -> impl Iterator<Item = &Value> {
    let tools = array(&body["tools"]).iter();
    tools
        .filter(|tool| tool["type"] != "custom")
        .map(|tool| &tool["function"])
}

fn functions(body: &Value, rule: &'static str, breaches: &mut RuleBreaches) {
    let named = functions_of(body).map(|one| (&one["name"], &one["parameters"]));
    tools(named, rule, 64, "object", breaches);
}

/// Checks the rules that all these lists share: speakers, content, and results directly after the turn of each call.
fn list(messages: &[Value], codes: &Codes, is_form: fn(&Value) -> bool, breaches: &mut RuleBreaches) {
    breaches.when(messages.is_empty(), codes.none);
    let mut waiting = Waiting::default();
    for (index, message) in messages.iter().enumerate() {
        breaches.check_at(index);
        let (role, content) = (string(&message["role"]), &message["content"]);
        let called = message.get("tool_calls");
        if role == "tool" {
            let is_answer = waiting.answer(&message["tool_call_id"], message.get("name"));
            breaches.when(!is_answer, codes.pairs);
            breaches.when(called.is_some(), codes.calls);
            continue;
        }
        breaches.when(!waiting.is_empty(), codes.pairs);
        waiting.clear();
        let is_role = matches!(role, "system" | "user" | "assistant");
        breaches.when(!is_role, codes.roles);
        let is_calling = role == "assistant" && !calls(message).is_empty();
        breaches.when(content.is_null() && !is_calling, codes.content);
        breaches.when(
            content.as_array().is_some_and(Vec::is_empty) && !is_calling,
            codes.none,
        );
        let is_part = |part: &Value| match string(&part["type"]) {
            "text" => true,
            "image_url" | "input_audio" | "file" => role == "user",
            "image" => role == "user" && codes.parts == TRAINERS.parts,
            _ => false,
        };
        breaches.when(!array(content).iter().all(is_part), codes.parts);
        breaches.when(called.is_some() && !is_calling, codes.calls);
        for call in calls(message) {
            let (function, given) = asked(call, codes);
            let is_new = waiting.add(&call["id"], &function["name"]);
            breaches.when(!is_new || string(&call["id"]).is_empty(), codes.pairs);
            breaches.when(string(&function["name"]).is_empty(), codes.names);
            breaches.when(!is_form(given), codes.arguments);
        }
    }
    breaches.check_the_whole();
    // Calls at the end are the answer of the assistant.
    let is_answering = messages.last().is_some_and(|last| last["role"] == "tool");
    breaches.when(is_answering && !waiting.is_empty(), codes.pairs);
}
