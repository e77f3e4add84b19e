//! The formats of the systems themselves: what their documents require of a chat, a request, a row or a transcript.

use serde_json::Value;

use super::{RuleBreaches, Written, array, has_keys, string};

/// Applies the rules of both validators of the format: the public one and the importer's, except for times, which a
/// source may lack.
pub(super) fn group_chat(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let chat = &written.body;
    let participants = &chat["conversation_meta"]["user_details"];
    let has_head = chat["version"].is_string() && !chat["conversation_meta"]["name"].is_null();
    breaches.when(!has_head || !participants.is_object(), "GRP-02");
    breaches.when(!chat["conversation_list"].is_array(), "GRP-02");
    let is_known = |id: &Value| id.as_str().is_some_and(|id| participants.get(id).is_some());
    for (index, message) in array(&chat["conversation_list"]).iter().enumerate() {
        breaches.check_at(index);
        breaches.when(!is_known(&message["sender"]), "GRP-02");
        let is_whole = message["message_id"].is_string()
            && message["type"].is_string()
            && message.get("content").is_some();
        breaches.when(!is_whole, "GRP-03");
        let is_role = matches!(
            message["role"].as_str(),
            None | Some("user" | "assistant" | "tool")
        );
        breaches.when(!is_role, "GRP-04");
        breaches.when(!message["refer_list"].is_array(), "GRP-03");
        for reference in array(&message["refer_list"]) {
            let has_id = reference.is_string() || reference.get("message_id").is_some();
            breaches.when(!has_id, "GRP-03");
            let author = reference.get("sender");
            let is_listed = author.is_none_or(is_known);
            breaches.when(!is_listed, "GRP-01");
        }
    }
}

pub(super) fn tzurot(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let [message] = array(&written.body) else {
        return breaches.when(true, "TZU");
    };
    // The last release passes lists through unchanged; in the document's form, text comes first.
    let is_part = |part: &Value| matches!(string(&part["type"]), "text" | "image_url" | "audio_url");
    let content = &message["content"];
    let parts = array(content);
    let is_content = content.is_string() || !parts.is_empty() && parts.iter().all(is_part);
    breaches.when(message["role"] != "user" || !is_content, "TZU");
}

/// Checks contents of parts, where the calls are answered by the next turns, and are identified by name if they have no id.
pub(super) fn gryag_gemini(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let either =
        |part: &Value, camel: &str, snake: &str| part.get(camel).or_else(|| part.get(snake)).cloned();
    let id = |inner: &Value| inner.get("id").unwrap_or(&inner["name"]).clone();
    breaches.when(!written.body.is_array(), "GRY");
    let mut waiting: Vec<Value> = Vec::new();
    let mut is_answering = false;
    for (index, content) in array(&written.body).iter().enumerate() {
        breaches.check_at(index);
        let (role, parts) = (string(&content["role"]), array(&content["parts"]));
        let is_content = has_keys(content, &["role", "parts"]) && matches!(role, "user" | "model" | "tool");
        breaches.when(!is_content || parts.is_empty(), "GRY");
        let is_response = |part: &Value| either(part, "functionResponse", "function_response");
        let answers = parts.iter().any(|part| is_response(part).is_some());
        is_answering = answers;
        let is_early = !waiting.is_empty() && !answers;
        breaches.when(is_early, "GRY");
        if is_early {
            waiting.clear();
        }
        let mut has_spoken = false;
        for part in parts {
            if let Some(call) = either(part, "functionCall", "function_call") {
                let is_call = role == "model"
                    && !string(&call["name"]).is_empty()
                    && !string(&id(&call)).is_empty()
                    && call["args"].is_object();
                breaches.when(!is_call, "GRY");
                waiting.push(id(&call));
            } else if let Some(response) = is_response(part) {
                let call = waiting.iter().position(|call| *call == id(&response));
                let call = call.map(|call| waiting.remove(call));
                breaches.when(call.is_none(), "GRY");
                let is_response = !has_spoken && response["response"].is_object();
                breaches.when(!is_response, "GRY");
            } else {
                has_spoken = true;
            }
        }
    }
    breaches.check_the_whole();
    // Calls at the end are the answer of the bot.
    breaches.when(is_answering && !waiting.is_empty(), "GRY");
}

pub(super) fn gryag_compact(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let has_end = written.text.ends_with("[RESPOND]");
    breaches.when(!has_end, "GRY");
}

pub(super) fn suna_rows(written: &Written<'_>, breaches: &mut RuleBreaches) {
    breaches.when(!written.body.is_array(), "SUN-04");
    for (index, row) in array(&written.body).iter().enumerate() {
        breaches.check_at(index);
        let message: Value = serde_json::from_str(string(&row["content"])).unwrap_or_default();
        let is_whole =
            row["message_id"].is_string() && row["type"].is_string() && row["is_llm_message"] == true;
        let is_row = is_whole && message["role"] == row["type"];
        breaches.when(!is_row, "SUN-04");
    }
}

pub(super) fn jaibber_context(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let opens = "Respond ONLY to the final user message.";
    breaches.when(!written.text.starts_with(opens), "JAI");
}

pub(super) fn jaibber_events(written: &Written<'_>, breaches: &mut RuleBreaches) {
    breaches.when(!written.body.is_array(), "JAI");
    for (index, event) in array(&written.body).iter().enumerate() {
        breaches.check_at(index);
        let is_event = event["type"].is_string() && event["messageId"].is_string();
        breaches.when(!is_event, "JAI");
    }
}
