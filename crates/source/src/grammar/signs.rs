//! Recognition of the vendor of a list of messages by its blocks: a block that only one vendor writes outweighs blocks that all
//! share.
//!
//! Every vendor writes `{"role", "content"}`. A block of type `tool_use`, a key `toolUse` or an item of type `function_call`
//! identifies one vendor, wherever in the list it stands.

use chatmill_intake::{Framing, Name, RecordSketch, Sketch};

use crate::base::fields::words;
use crate::grammar::{AI_SDK, ANTHROPIC, CONVERSE, Grammar, RESPONSES, responses::ITEMS};

/// Blocks that only Anthropic's messages have, by their type.
const ANTHROPIC_BLOCKS: [&str; 13] = words!(
    tool_use tool_result redacted_thinking server_tool_use web_search_tool_result web_fetch_tool_result
    code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result
    mcp_tool_use mcp_tool_result search_result container_upload
);

/// Blocks that only Converse has, by their only name.
const CONVERSE_BLOCKS: [&str; 5] = words!(toolUse toolResult reasoningContent cachePoint guardContent);

/// Blocks of Converse whose names others use, too.
const CONVERSE_SHARED: [&str; 5] = words!(text image video audio document);

/// Parts that `OpenAI`'s messages have, by their type: a thought beside them was added by a gateway.
const OPENAI: [&str; 6] = words!(image_url video_url audio_url input_audio refusal output_text);

/// The confidence that a block of one vendor alone gives.
pub(crate) const SURE: u8 = 96;

/// The vendor that a record's messages identify, with the confidence and the reason. `list` is the path of a message:
/// `messages[]`, `[]` where the record is the list itself, empty where the record is a message.
pub(crate) fn of(record: &RecordSketch, list: &str) -> Option<(&'static Grammar, u8, String)> {
    let name = |inside: &str| {
        if list.is_empty() {
            inside.to_owned()
        } else {
            format!("{list}.{inside}")
        }
    };
    let (kind, item, part) = (name("content[].type"), name("type"), name("parts[].type"));
    if let Some(why) = of_ai_sdk(record, &name, &kind, &part) {
        return Some((&AI_SDK, SURE, why));
    }
    // A thought as a list of texts is Mistral's.
    let is_thought = record.has_value(&kind, &["thinking"])
        && !record.names(&name("content[].thinking[].type"))
        && !record.has_value(&kind, &OPENAI);
    let of_anthropic = if let Some(word) = ANTHROPIC_BLOCKS
        .into_iter()
        .find(|word| record.has_value(&kind, &[*word]))
    {
        Some(format!("messages hold blocks of type {word}"))
    } else if is_thought && record.names(&name("content[].thinking")) {
        Some("messages hold blocks of type thinking, with the thought as text".to_owned())
    } else {
        let is_ours = record.names(&name("content[].source.type"));
        is_ours.then(|| "messages hold media with a source".to_owned())
    };
    if let Some(why) = of_anthropic {
        return Some((&ANTHROPIC, SURE, why));
    }
    let mut own = CONVERSE_BLOCKS.into_iter();
    if let Some(key) = own.find(|key| record.names(&name(&format!("content[].{key}")))) {
        return Some((&CONVERSE, SURE, format!("messages hold blocks with {key}")));
    }
    if let Some(word) = ITEMS.into_iter().find(|word| record.has_value(&item, &[*word])) {
        return Some((&RESPONSES, SURE, format!("items are of type {word}")));
    }
    let why = "messages hold blocks of text without a type";
    (record.names(&name("role")) && has_converse_text(record, &name("content[].")))
        .then(|| (&CONVERSE, 88, why.to_owned()))
}

/// Whether the blocks below this path are blocks of text as Converse has them: a block has one field, its kind. A block of text that
/// has another field beside it belongs to another vendor, and nothing of it would be read.
fn has_converse_text(record: &RecordSketch, blocks: &str) -> bool {
    let is_text = |(name, found): (&str, &Name)| name == "text" && found.longest > 0;
    let is_kind = |name: &str| {
        CONVERSE_SHARED
            .iter()
            .any(|kind| name.split(['.', '[']).next() == Some(kind))
    };
    let mut names = record
        .names
        .range(blocks.to_owned()..)
        .map_while(|(name, found)| Some((name.strip_prefix(blocks)?, found)));
    names.clone().any(is_text) && names.all(|(name, _)| is_kind(name))
}

/// Recognises messages of the AI SDK by their own fields: parts with a type and a `text`, calls with their
/// results.
fn of_ai_sdk(
    record: &RecordSketch,
    name: &impl Fn(&str) -> String,
    kind: &str,
    part: &str,
) -> Option<String> {
    if record.names(&name("toolInvocations")) || record.names(&name("experimental_attachments")) {
        return Some("messages hold toolInvocations or attachments".to_owned());
    }
    if record.has_value(kind, &["tool-call", "tool-result"]) {
        return Some("messages hold parts of type tool-call or tool-result".to_owned());
    }
    let own = ["step-start", "dynamic-tool", "tool-", "source-", "data-"];
    let words = record.names.get(part).into_iter().flat_map(|name| &name.words);
    let mut own_words = words.filter(|word| own.iter().any(|start| word.starts_with(start)));
    let is_text = || record.has_value(part, &["text"]) && record.names(&name("parts[].text"));
    let word = own_words
        .next()
        .cloned()
        .or_else(|| is_text().then(|| "text".to_owned()))?;
    Some(format!("messages hold parts of type {word}"))
}

/// Whether a record's messages call tools, or answer calls, as `OpenAI`'s do.
pub(crate) fn is_openai(record: &RecordSketch) -> bool {
    record.names("messages[].tool_calls[]") || record.has_value("messages[].role", &["tool"])
}

/// Whether an entry is one bare list of this vendor's messages. Like every array, it is framed message by message.
pub(crate) fn is_list(sketch: &Sketch, grammar: &Grammar) -> Option<(u8, String)> {
    let is_turn = |record: &RecordSketch| {
        !record.is_object
            || record.names("role")
                && (record.names("content") || record.names("parts"))
                && !record.names("messages")
            || record.has_value("type", &ITEMS)
    };
    if sketch.framing != Framing::Array || !sketch.records.iter().all(is_turn) {
        return None;
    }
    let mut found = sketch.records.iter().filter_map(|record| of(record, ""));
    found
        .find(|(found, _, _)| found.is(grammar))
        .map(|(_, confidence, why)| (confidence, format!("the top-level array is a bare list: {why}")))
}
