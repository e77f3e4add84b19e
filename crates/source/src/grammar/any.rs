//! A message of any vendor's: logs and traces hold requests of all of them.

use chatmill_diag::Limits;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Part, Role, ToolResult};

use super::frameworks::{self, pieces};
use crate::base::{Keep as _, Site, Turn, present, roles, text, words};
use crate::grammar::{ANTHROPIC, CONVERSE, RESPONSES, openai, openai::MessageObject, openai::calls};

/// Blocks that Anthropic alone writes.
const BLOCKS: [&str; 6] = words!(tool_use tool_result redacted_thinking server_tool_use thinking document);

/// Reads a message, an item, or a text.
pub(crate) fn any(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Turn {
    if value.kind() == Kind::Object {
        if is_item(value) {
            return RESPONSES.turn(value, site, limits);
        }
        if let Some(message) = present(value, "message").filter(|inner| inner.kind() == Kind::Object) {
            let mut turn = any(message, site, limits);
            turn.keep_rest(value, "", &["message"]);
            // Some frameworks say its words again beside it.
            let is_again = pieces::contain_text(&turn.parts, value.get("text"));
            turn.rest.retain(|(key, _)| key != "text" || !is_again);
            return turn;
        }
        if let Some(turn) = frameworks::read(value, site, limits) {
            return turn;
        }
        if is_converse(value) {
            return CONVERSE.turn(value, site, limits);
        }
        if has_blocks(value) {
            return ANTHROPIC.turn(value, site, limits);
        }
        return object(value, site, limits);
    }
    if are_untyped(value) {
        return CONVERSE.turn(value, site, limits);
    }
    // OpenTelemetry's parts say their words in `content`.
    if value
        .items()
        .any(|part| has_type(part, &["text"]) && present(part, "content").is_some())
    {
        return frameworks::of_parts(value, "", value, site, limits);
    }
    let mut turn = Turn::default();
    ANTHROPIC.content(&mut turn, "", value, site, limits);
    turn
}

/// Whether the value is an item of the Responses API.
fn is_item(value: Value<'_>) -> bool {
    match text(value.get("type")).as_deref() {
        Some("message") => value.get("content").is_some_and(|content| {
            content
                .items()
                .any(|part| has_type(part, &["output_text", "input_text"]))
        }),
        Some(
            "function_call"
            | "function_call_output"
            | "function_call_result"
            | "custom_tool_call"
            | "custom_tool_call_output"
            | "reasoning"
            | "web_search_call"
            | "file_search_call"
            | "computer_call"
            | "code_interpreter_call"
            | "mcp_call",
        ) => true,
        _ => false,
    }
}

/// Whether the content is Converse's: blocks without a type.
fn is_converse(value: Value<'_>) -> bool {
    value.get("role").is_some() && value.get("content").is_some_and(are_untyped)
}

fn are_untyped(blocks: Value<'_>) -> bool {
    let own = words!(text toolUse toolResult reasoningContent image video document cachePoint);
    let is_own = |block: Value<'_>| own.iter().any(|key| block.get(key).is_some());
    let is_list = blocks.kind() == Kind::Array && !blocks.is_empty();
    is_list
        && blocks
            .items()
            .all(|block| block.get("type").is_none() && is_own(block))
}

/// Whether its content is one of Anthropic's.
fn has_blocks(value: Value<'_>) -> bool {
    let content = value
        .get("content")
        .filter(|content| content.kind() == Kind::Array);
    content.is_some_and(|content| content.items().any(|block| has_type(block, &BLOCKS)))
}

fn has_type(value: Value<'_>, kinds: &[&str]) -> bool {
    text(value.get("type")).is_some_and(|kind| kinds.contains(&kind.as_str()))
}

/// A message in `OpenAI`'s shape.
fn object(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Turn {
    let read = MessageObject::read(value, site, limits);
    let known = ["function_call", "refusal", "id"];
    let mut turn = Turn {
        role: read.role,
        id: read.message_id,
        rest: read.rest,
        ..Turn::default()
    };
    turn.rest.retain(|(key, _)| !known.contains(&key.as_str()));
    if turn.role.is_none() {
        turn.role = read.role_word.as_deref().and_then(roles::known_role);
        turn.word = read.role_word;
    }
    if turn.role.is_none() && turn.word.is_none() {
        site.empty("role");
    }
    turn.id = turn.id.or_else(|| text(value.get("id")));
    let thought = read.reasoning.or_else(|| text(value.get("reasoning")));
    turn.rest
        .retain(|(key, _)| key != "reasoning" || thought.is_none());
    turn.parts.extend(thought.map(Part::Reasoning));
    let content = present(value, "content");
    if turn.role == Some(Role::Tool) {
        let (content, others) = content.map_or_else(Default::default, |content| {
            openai::answered(content, "content", &mut turn.rest, site)
        });
        turn.parts.push(Part::ToolResult(ToolResult {
            call_id: read.call_id,
            name: read.name,
            content,
            ..ToolResult::default()
        }));
        turn.parts.extend(others);
        return turn;
    }
    turn.name = read.name;
    if let Some(content) = content {
        turn.parts
            .extend(openai::content_parts(content, "content", &mut turn.rest, site));
    }
    if let Some(refusal) = text(value.get("refusal")) {
        turn.parts.push(Part::Text(refusal));
    }
    let mut calls = read.calls;
    let other = present(value, "additional_kwargs").and_then(|inside| present(inside, "tool_calls"));
    if let Some(list) = other.filter(|_| calls.is_empty()) {
        calls = calls::calls(list, &mut turn.rest, site, limits).unwrap_or_default();
    }
    turn.parts.extend(calls.into_iter().map(Part::ToolCall));
    if let Some(call) = present(value, "function_call") {
        let call = calls::function_call(call, &mut turn.rest, site, limits);
        turn.parts.extend(call.map(Part::ToolCall));
    }
    if turn.parts.is_empty() && content.is_none() {
        site.empty("content");
    }
    turn
}
