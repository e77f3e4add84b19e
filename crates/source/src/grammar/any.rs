//! A message of any vendor's: logs and traces hold requests of all of them.
//!
//! The vendor is one for a conversation. A message that only one vendor can have written decides, wherever it is; messages
//! that several could have written are read as that vendor's. Where no message decides, the vendor is OpenAI.

use chatmill_intake::json::{Kind, Value};

use super::frameworks::{self, pieces};
use crate::base::{Keep as _, Site, Turn, present, text, words};
use crate::grammar::{AI_SDK, ANTHROPIC, CONVERSE, Grammar, OPENAI, RESPONSES, responses};

/// Blocks that Anthropic alone writes.
const BLOCKS: [&str; 5] = words!(tool_use tool_result redacted_thinking server_tool_use document);

/// Fields of requests, answers and envelopes that hold messages.
const HOLDERS: [&str; 14] = words!(
    messages input contents prompt completion message choices candidates output response body generations
    responseMessages new_message
);

/// The deepest nesting of [`HOLDERS`] that is looked into.
const MOST_NESTED: u8 = 6;

/// The vendor that one of the messages in a value identifies.
pub(crate) fn vendor_in(value: Value<'_>) -> Option<&'static Grammar> {
    found_in(value, MOST_NESTED)
}

fn found_in(value: Value<'_>, depth: u8) -> Option<&'static Grammar> {
    let depth = depth.checked_sub(1)?;
    match value.kind() {
        Kind::Array => value.items().find_map(|item| found_in(item, depth)),
        Kind::Object => {
            identified(value).or_else(|| HOLDERS.iter().find_map(|key| found_in(value.get(key)?, depth)))
        }
        _ => None,
    }
}

/// The only vendor that has the blocks of a message, where there is one.
fn identified(message: Value<'_>) -> Option<&'static Grammar> {
    message.get("role")?;
    if frameworks::has_own_parts(message) {
        return Some(&AI_SDK);
    }
    if message.get("content").is_some_and(are_untyped) {
        return Some(&CONVERSE);
    }
    has_blocks(message).then_some(&ANTHROPIC)
}

/// Reads a message, an item, or a text. A message that several vendors could have written is read as one of `vendor`.
pub(crate) fn any(value: Value<'_>, vendor: &'static Grammar, site: &mut Site<'_>) -> Turn {
    if value.kind() == Kind::Object {
        if is_item(value) {
            return RESPONSES.turn(value, site);
        }
        if let Some(message) = present(value, "message").filter(|inner| inner.kind() == Kind::Object) {
            let mut turn = any(message, vendor, site);
            turn.keep_rest(value, "", &["message"]);
            // Some frameworks say its words again beside it.
            let is_again = pieces::contain_text(&turn.parts, value.get("text"));
            turn.rest.retain(|(key, _)| key != "text" || !is_again);
            return turn;
        }
        if let Some(turn) = frameworks::read(value, site) {
            return turn;
        }
        let has_list = present(value, "content").is_some_and(|content| content.kind() == Kind::Array);
        let by_vendor = has_list.then_some(vendor);
        return identified(value)
            .or(by_vendor)
            .unwrap_or(&OPENAI)
            .turn(value, site);
    }
    if are_untyped(value) {
        return CONVERSE.turn(value, site);
    }
    // OpenTelemetry's parts say their words in `content`.
    if value
        .items()
        .any(|part| has_type(part, &["text"]) && present(part, "content").is_some())
    {
        return frameworks::of_parts(value, "", value, site);
    }
    let mut turn = Turn::default();
    ANTHROPIC.content(&mut turn, "", value, site);
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
        _ => responses::is_item(value),
    }
}

/// Whether blocks are Converse's: none has a type.
fn are_untyped(blocks: Value<'_>) -> bool {
    let own = words!(text toolUse toolResult reasoningContent image video document cachePoint);
    let is_own = |block: Value<'_>| own.iter().any(|key| block.get(key).is_some());
    let is_list = blocks.kind() == Kind::Array && !blocks.is_empty();
    is_list
        && blocks
            .items()
            .all(|block| block.get("type").is_none() && is_own(block))
}

/// Whether a message holds blocks as Anthropic alone has them: by their type, with the source of a medium, or with a thought as
/// text.
fn has_blocks(message: Value<'_>) -> bool {
    let is_own = |block: Value<'_>| {
        has_type(block, &BLOCKS)
            || block
                .get("source")
                .is_some_and(|source| source.get("type").is_some())
            || block
                .get("thinking")
                .is_some_and(|thought| thought.kind() == Kind::String)
    };
    message
        .get("content")
        .is_some_and(|content| content.items().any(is_own))
}

/// Whether the type of a part is one of these. Looking for a vendor reads nothing, so that the type stays unread.
fn has_type(value: Value<'_>, kinds: &[&str]) -> bool {
    let kind = value.get("type").and_then(Value::string);
    kind.is_some_and(|kind| kinds.contains(&&*kind))
}
