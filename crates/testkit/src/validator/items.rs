//! Responses: a list of items, in which a turn has first its calls, with messages of the assistant among them, then all
//! their outputs, and then other messages.

use serde_json::Value;

use super::{RuleBreaches, Waiting, Written, array, has_keys, is_word, schemas, string, tools};

/// The maximum length of an output, in characters.
const MAX_OUTPUT_CHARACTERS: usize = 10_485_760;

/// Items that are no messages, calls or outputs: the steps of tools that run at the vendor, and what the caller sets up.
const HOSTED: [&str; 16] = [
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "tool_search_call",
    "tool_search_output",
    "program",
    "program_output",
    "compaction",
    "additional_tools",
    "configuration_update",
    "compaction_trigger",
];

/// The calls of tools that the API defines and the client runs, with their outputs.
const CLIENT: [[&str; 2]; 4] = [
    ["local_shell_call", "local_shell_call_output"],
    ["shell_call", "shell_call_output"],
    ["apply_patch_call", "apply_patch_call_output"],
    ["computer_call", "computer_call_output"],
];

pub(super) fn openai_responses(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let items = array(&written.body["input"]);
    breaches.when(items.is_empty(), "OAR-01");
    let mut waiting = Waiting::default();
    let mut seen: Vec<&Value> = Vec::new();
    let mut is_answering = false;
    let mut has_text_behind = false;
    for (index, item) in items.iter().enumerate() {
        breaches.check_at(index);
        let id = &item["call_id"];
        let is_id = (1..=64).contains(&string(id).chars().count());
        match item["type"].as_str().unwrap_or("message") {
            kind if is_call(kind) => {
                let given = if kind == "function_call" {
                    "arguments"
                } else {
                    "input"
                };
                let is_call = CLIENT.iter().any(|[call, _]| *call == kind)
                    || has_keys(item, &["type", "call_id", "name", given])
                        && item[given].is_string()
                        && is_word(&item["name"], 64);
                breaches.when(!is_id || !is_call, "OAR-03");
                breaches.when(seen.contains(&id), "OAR-04");
                let is_among = is_answering && !waiting.is_empty();
                breaches.when(is_among, "OAR-04");
                is_answering = false;
                seen.push(id);
                waiting.add(id, &item["name"]);
            }
            kind if is_output(kind) => {
                // The `id` of a local shell's output is the id of its call.
                let (id, is_id) = match item.get("call_id") {
                    Some(id) => (id, is_id),
                    None => (&item["id"], kind == "local_shell_call_output"),
                };
                let is_of_client = CLIENT.iter().any(|[_, output]| *output == kind);
                let is_output = is_of_client
                    || has_keys(item, &["type", "call_id", "output"])
                        && match &item["output"] {
                            Value::String(output) => output.chars().count() <= MAX_OUTPUT_CHARACTERS,
                            Value::Array(parts) => !parts.is_empty() && parts.iter().all(is_part),
                            _ => false,
                        };
                breaches.when(!is_id || !is_output, "OAR-03");
                let is_answer = waiting.answer(id, None);
                breaches.when(!is_answer, "OAR-04");
                is_answering = true;
                has_text_behind = false;
            }
            kind if kind == "message" || HOSTED.contains(&kind) => {
                let is_message = kind == "message";
                // The assistant may write messages until the first output.
                if is_answering || is_message && item["role"] != "assistant" {
                    breaches.when(!waiting.is_empty(), "OAR-04");
                    waiting.clear();
                }
                has_text_behind = !waiting.is_empty();
                if is_message {
                    message(item, breaches);
                }
            }
            "reasoning" => breaches.when(true, "OAR-06"),
            _ => breaches.when(true, "OAR-01"),
        }
    }
    breaches.check_the_whole();
    // Calls at the end are the answer of the assistant.
    breaches.when((is_answering || has_text_behind) && !waiting.is_empty(), "OAR-04");
    // A tool that the vendor runs has a different type.
    let defined = array(&written.body["tools"]).iter();
    let defined = defined.filter(|tool| tool["type"] == "function");
    let named = defined.clone().map(|tool| (&tool["name"], &tool["parameters"]));
    tools(named, "OAR-03", 64, "object", breaches);
    let takes = defined.map(|tool| (&tool["parameters"], &tool["strict"]));
    schemas::takes(takes, &schemas::OPENAI, "OAR-07", breaches);
}

fn is_call(kind: &str) -> bool {
    matches!(kind, "function_call" | "custom_tool_call") || CLIENT.iter().any(|[call, _]| *call == kind)
}

fn is_output(kind: &str) -> bool {
    matches!(kind, "function_call_output" | "custom_tool_call_output")
        || CLIENT.iter().any(|[_, output]| *output == kind)
}

/// Whether a value is a part of a user's message, or of an output.
fn is_part(part: &Value) -> bool {
    match string(&part["type"]) {
        "input_text" => has_keys(part, &["type", "text"]),
        "input_image" => has_keys(part, &["type", "detail", "image_url"]),
        "input_file" => {
            let ways: [&[&str]; 3] = [
                &["type", "file_url"],
                &["type", "filename?", "file_data"],
                &["type", "file_id"],
            ];
            ways.iter().any(|keys| has_keys(part, keys))
        }
        _ => false,
    }
}

fn message(item: &Value, breaches: &mut RuleBreaches) {
    let role = string(&item["role"]);
    breaches.when(!has_keys(item, &["role", "content"]), "OAR-05");
    let is_role = matches!(role, "user" | "assistant" | "system");
    breaches.when(!is_role, "OAR-01");
    let is_content = match &item["content"] {
        Value::String(text) => !text.is_empty(),
        Value::Array(parts) => role == "user" && !parts.is_empty() && parts.iter().all(is_part),
        _ => false,
    };
    breaches.when(!is_content, "OAR-02");
}
