//! Messages of blocks: Anthropic Messages and Bedrock Converse, where results are first in the user turn after their calls.

use serde_json::Value;

use super::{RuleBreaches, Waiting, Written, array, has_keys, is_blank, is_word, schemas, string, tools};

const PICTURES: [&str; 4] = ["jpeg", "png", "gif", "webp"];

const DOCUMENTS: [&str; 9] = ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"];

/// The rules of a family by subject, and the maximum lengths of ids and names.
struct Codes {
    keys: &'static str,
    none: &'static str,
    order: &'static str,
    blank: &'static str,
    calls: &'static str,
    pairs: &'static str,
    media: &'static str,
    blocks: &'static str,
    /// The rule against text after a call in the same turn, if the vendor refuses it.
    late_text: Option<&'static str>,
    longest_id: usize,
    longest_name: usize,
}

const ANTHROPIC: Codes = Codes {
    keys: "ANT-01",
    none: "ANT-03",
    order: "ANT-04",
    blank: "ANT-05",
    calls: "ANT-06",
    pairs: "ANT-07",
    media: "ANT-12",
    blocks: "ANT-12",
    late_text: Some("ANT-08"),
    longest_id: 256,
    longest_name: 128,
};

const CONVERSE: Codes = Codes {
    keys: "BED-01",
    none: "BED-02",
    order: "BED-02",
    blank: "BED-04",
    calls: "BED-03",
    pairs: "BED-04",
    media: "BED-06",
    blocks: "BED-01",
    late_text: None,
    longest_id: 64,
    longest_name: 64,
};

/// The kind of a block.
enum Block<'a> {
    Text(&'a Value),
    Media,
    Call {
        id: &'a Value,
        name: &'a Value,
        input: &'a Value,
    },
    /// A result, with the id of its call.
    Result(&'a Value),
    /// A cache mark or a thought.
    Aside,
    Unknown,
}

fn all_blocks(messages: &[Value]) -> impl Iterator<Item = &Value> {
    messages.iter().flat_map(|message| array(&message["content"]))
}

pub(super) fn anthropic_messages(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let body = &written.body;
    breaches.when(!has_keys(body, &["system?", "messages", "tools?"]), "ANT-01");
    let (messages, system) = (array(&body["messages"]), array(&body["system"]));
    let defined = array(&body["tools"]);
    turns(messages, anthropic_block, &ANTHROPIC, breaches);
    for block in system {
        breaches.when(block["type"] != "text", "ANT-02");
        breaches.when(is_blank(string(&block["text"])), "ANT-05");
    }
    let marked = all_blocks(messages).chain(system).chain(defined);
    let marks: Vec<&Value> = marked.filter_map(|block| block.get("cache_control")).collect();
    breaches.when(marks.len() > 4, "ANT-09");
    for mark in marks {
        let lasts = mark.get("ttl").is_none_or(|ttl| ttl == "5m" || ttl == "1h");
        let is_known = mark["type"] == "ephemeral" && lasts;
        breaches.when(!is_known, "ANT-09");
    }
    let inside = all_blocks(messages).flat_map(|block| array(&block["content"]));
    for block in all_blocks(messages).chain(inside) {
        let kind = string(&block["type"]);
        let is_unsigned = kind == "thinking" && string(&block["signature"]).is_empty();
        breaches.when(is_unsigned, "ANT-10");
        let is_emptied = kind == "tool_result" && block["content"] == "";
        breaches.when(is_emptied, "ANT-05");
        let source = &block["source"];
        let media_type = string(&source["media_type"]).trim_start_matches("image/");
        let is_picture = source["type"] == "url" || PICTURES.contains(&media_type);
        breaches.when(kind == "image" && !is_picture, "ANT-12");
        let is_document = match string(&source["type"]) {
            "text" => source["media_type"] == "text/plain" && source["data"].is_string(),
            "base64" => source["media_type"] == "application/pdf",
            word => word == "url",
        };
        breaches.when(kind == "document" && !is_document, "ANT-12");
    }
    breaches.when(messages.len() > 100_000, "ANT-13");
    if let Some(last) = messages.last().filter(|last| last["role"] == "assistant") {
        let end = array(&last["content"]).last();
        let text = end.map_or("", |block| string(&block["text"]));
        breaches.when(text != text.trim_end(), "ANT-11");
    }
    let named = defined.iter().map(|tool| (&tool["name"], &tool["input_schema"]));
    tools(named, "ANT-06", 128, "object", breaches);
    let own = defined.iter().filter(|tool| tool.get("type").is_none());
    let takes = own.map(|tool| (&tool["input_schema"], &tool["strict"]));
    schemas::takes(takes, &schemas::ANTHROPIC, "ANT-14", breaches);
}

fn anthropic_block(block: &Value) -> Block<'_> {
    match string(&block["type"]) {
        "text" => Block::Text(&block["text"]),
        "image" | "document" => Block::Media,
        "server_tool_use"
        | "tool_search_tool_result"
        | "web_search_tool_result"
        | "web_fetch_tool_result"
        | "code_execution_tool_result"
        | "bash_code_execution_tool_result"
        | "text_editor_code_execution_tool_result"
        | "container_upload"
        | "advisor_tool_result"
        | "mcp_tool_listing"
        | "tool_addition"
        | "tool_removal"
        | "fallback"
        | "mcp_tool_use"
        | "mcp_tool_result"
        | "thinking" => Block::Aside,
        "tool_use" => Block::Call {
            id: &block["id"],
            name: &block["name"],
            input: &block["input"],
        },
        "tool_result" => Block::Result(&block["tool_use_id"]),
        _ => Block::Unknown,
    }
}

pub(super) fn bedrock_converse(written: &Written<'_>, breaches: &mut RuleBreaches) {
    let body = &written.body;
    breaches.when(!has_keys(body, &["system?", "messages", "toolConfig?"]), "BED-01");
    let (messages, system) = (array(&body["messages"]), array(&body["system"]));
    turns(messages, converse_block, &CONVERSE, breaches);
    for (index, message) in messages.iter().enumerate() {
        breaches.check_at(index);
        let is_list = message["content"].is_array();
        let is_single = |block: &Value| block.as_object().is_some_and(|block| block.len() == 1);
        let are_single = array(&message["content"]).iter().all(is_single);
        breaches.when(!is_list || !are_single, "BED-01");
    }
    breaches.check_the_whole();
    let is_mark = |block: &&Value| block.get("cachePoint").is_some();
    let marks = all_blocks(messages).chain(system).filter(is_mark).count();
    breaches.when(marks > 4, "BED-07");
    let is_empty = |block: &Value| block.get("text").is_some_and(|text| is_blank(string(text)));
    breaches.when(system.iter().any(is_empty), "BED-04");
    let defined = array(&body["toolConfig"]["tools"]);
    let is_tool = |block: &Value| block.get("toolUse").is_some() || block.get("toolResult").is_some();
    let uses_tools = all_blocks(messages).any(is_tool);
    breaches.when(uses_tools && defined.is_empty(), "BED-05");
    for block in all_blocks(messages) {
        if let Some(result) = block.get("toolResult") {
            let parts = array(&result["content"]);
            let says = !parts.is_empty() && !parts.iter().any(is_empty);
            breaches.when(!says, "BED-04");
            let status = result.get("status");
            let is_known = status.is_none_or(|status| status == "success" || status == "error");
            breaches.when(!is_known, "BED-04");
        }
    }
    let inside = all_blocks(messages).flat_map(|block| array(&block["toolResult"]["content"]));
    for block in all_blocks(messages).chain(inside) {
        let [image, document] = ["image", "document"].map(|key| block.get(key));
        for (medium, formats) in [(image, &PICTURES[..]), (document, &DOCUMENTS[..])] {
            let Some(medium) = medium else { continue };
            let is_source = has_keys(&medium["source"], &["bytes?", "s3Location?"]);
            breaches.when(
                !is_source || !formats.contains(&string(&medium["format"])),
                "BED-06",
            );
        }
        let name = document.map_or("document", |document| string(&document["name"]));
        let is_sign = |sign: char| sign.is_ascii_alphanumeric() || " -()[]".contains(sign);
        let is_name = !name.is_empty() && name.chars().all(is_sign) && !name.contains("  ");
        breaches.when(!is_name, "BED-08");
    }
    for (index, message) in messages.iter().enumerate() {
        breaches.check_at(index);
        let has = |key: &str| {
            array(&message["content"])
                .iter()
                .any(|block| block.get(key).is_some())
        };
        breaches.when(has("document") && !has("text"), "BED-08");
    }
    breaches.check_the_whole();
    // Other tools are the vendor's.
    let defined = defined.iter().filter(|tool| tool.get("systemTool").is_none());
    let specs = defined.clone().map(|tool| &tool["toolSpec"]);
    let named = specs.map(|spec| (&spec["name"], &spec["inputSchema"]["json"]));
    tools(named, "BED-03", 64, "object", breaches);
    let takes = defined.map(|tool| (&tool["toolSpec"]["inputSchema"]["json"], &Value::Null));
    schemas::takes(takes, &schemas::ANTHROPIC, "BED-09", breaches);
}

fn converse_block(block: &Value) -> Block<'_> {
    if let Some(text) = block.get("text") {
        Block::Text(text)
    } else if let Some(call) = block.get("toolUse") {
        Block::Call {
            id: &call["toolUseId"],
            name: &call["name"],
            input: &call["input"],
        }
    } else if let Some(result) = block.get("toolResult") {
        Block::Result(&result["toolUseId"])
    } else if block.get("image").or_else(|| block.get("document")).is_some() {
        Block::Media
    } else if block.get("cachePoint").is_some() {
        Block::Aside
    } else {
        Block::Unknown
    }
}

/// Checks that users and assistants alternate, beginning with a user, and that each user turn begins with one result
/// for each call before it.
fn turns<'a>(
    messages: &'a [Value],
    read: fn(&'a Value) -> Block<'a>,
    codes: &Codes,
    breaches: &mut RuleBreaches,
) {
    breaches.when(messages.is_empty(), codes.none);
    let mut waiting = Waiting::default();
    let mut before = "";
    for (index, message) in messages.iter().enumerate() {
        breaches.check_at(index);
        let role = string(&message["role"]);
        let is_message = has_keys(message, &["role", "content"]) && matches!(role, "user" | "assistant");
        breaches.when(!is_message, codes.keys);
        breaches.when(index == 0 && role != "user", codes.none);
        breaches.when(role == before, codes.order);
        before = role;
        let blocks = array(&message["content"]);
        breaches.when(blocks.is_empty(), codes.blank);
        let mut calls = Waiting::default();
        let mut has_spoken = false;
        for block in blocks {
            match read(block) {
                Block::Text(text) => {
                    has_spoken = true;
                    breaches.when(is_blank(string(text)), codes.blank);
                    if let Some(rule) = codes.late_text {
                        breaches.when(!calls.is_empty(), rule);
                    }
                }
                Block::Media => {
                    has_spoken = true;
                    breaches.when(role != "user", codes.media);
                }
                Block::Call { id, name, input } => {
                    let is_call = role == "assistant"
                        && input.is_object()
                        && is_word(id, codes.longest_id)
                        && is_word(name, codes.longest_name);
                    breaches.when(!is_call, codes.calls);
                    let is_new = calls.add(id, name);
                    breaches.when(!is_new, codes.pairs);
                }
                Block::Result(id) => {
                    let is_answer = waiting.answer(id, None);
                    breaches.when(!is_answer, codes.pairs);
                    let is_first = role == "user" && !has_spoken;
                    breaches.when(!is_first, codes.pairs);
                }
                Block::Aside => {}
                Block::Unknown => breaches.when(true, codes.blocks),
            }
        }
        breaches.when(!waiting.is_empty(), codes.pairs);
        waiting = calls;
    }
    breaches.check_the_whole();
}
