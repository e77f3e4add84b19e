//! Anthropic's Messages API: text, or a list of blocks with a `type`.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, OwnItem, Part, ToolResult, Vendor};

use super::blocks::{call, unmarked};
use super::{BlockForm, Grammar, MessageForm, Read, Sign, UsageForm, When, definition, only, typed};
use crate::base::media::result_of;
use crate::base::{Keep as _, Site, Turn, divided, present, text, text_of, word, words};

/// Messages of Anthropic.
pub(crate) static ANTHROPIC: Grammar = Grammar {
    verified: "anthropic 2.14, 2026-11",
    id: "anthropic",
    fields: &["role", "content"],
    lists: &["content"],
    // A thought as a list of texts is Mistral's.
    signs: &[Sign::Text("thinking"), Sign::Source, Sign::Own(is_answer)],
    message: MessageForm::Blocks {
        has_id: true,
        may_be_text: true,
        otherwise: "the content is neither a string nor a list of blocks and is read as its JSON text",
    },
    blocks: &[
        typed("text", Read::Text(&["text"])),
        BlockForm::of(When::Untyped, Read::Text(&["text"])),
        typed("thinking", Read::Reasoning(&["thinking"])),
        typed("image", Read::Media(MediaKind::Image, media_item)),
        typed("document", Read::Media(MediaKind::File, media_item)),
        only(typed("tool_use", Read::Call(["id", "name"], &["input"]))),
        only(typed("tool_result", Read::Own(result))),
        only(typed("mcp_tool_use", Read::Own(mcp))),
        only(typed("mcp_tool_result", Read::Own(mcp))),
        only(typed(
            "search_result",
            Read::Media(MediaKind::File, search_result),
        )),
        typed("compaction", Read::Own(summary)),
        only(typed("tool_addition", Read::Own(addition))),
        only(BlockForm::of(When::OneOf(&HOSTED), Read::Item(Vendor::Anthropic))),
        typed("fallback", Read::Item(Vendor::Anthropic)),
        only(typed("redacted_thinking", Read::Unknown)),
    ],
    cache_mark: Some(cache_mark),
    joins_texts: true,
    usage: Some(UsageForm {
        input: &["input_tokens"],
        output: &["output_tokens"],
        cached: &["cache_read_input_tokens"],
        written: &["cache_creation_input_tokens"],
        written_for: [
            &["cache_creation.ephemeral_5m_input_tokens"],
            &["cache_creation.ephemeral_1h_input_tokens"],
        ],
        searches: &["server_tool_use.web_search_requests"],
        contains_cache: false,
        total: Some("total_tokens"),
        steps: Some("iterations"),
        ..UsageForm::NOTHING
    }),
    described: None,
};

/// Blocks of tools that run at the vendor, or of tools that are listed or removed.
const HOSTED: [&str; 11] = words!(
    server_tool_use tool_search_tool_result web_search_tool_result web_fetch_tool_result code_execution_tool_result
    bash_code_execution_tool_result text_editor_code_execution_tool_result container_upload advisor_tool_result
    mcp_tool_listing tool_removal
);

/// Whether a message is an answer of the API, or has citations as its answers do.
fn is_answer(message: Value<'_>) -> bool {
    let is_one =
        |value: Value<'_>, word: &str| value.get("type").and_then(Value::string).as_deref() == Some(word);
    let is_place = |citation: Value<'_>| {
        let kind = citation.get("type").and_then(Value::string);
        kind.is_some_and(|kind| kind.ends_with("_location"))
    };
    let cites = |block: Value<'_>| {
        let mut citations = block.get("citations").into_iter().flat_map(Value::items);
        citations.any(is_place)
    };
    let mut blocks = message.get("content").into_iter().flat_map(Value::items);
    is_one(message, "message") && message.get("stop_reason").is_some()
        || blocks.any(|block| is_one(block, "text") && cites(block))
}

/// The ids of the calls in the content of a message.
pub(crate) fn call_ids(content: Value<'_>) -> impl Iterator<Item = String> {
    ids(content, "tool_use", "id")
}

/// The ids of the calls that results in the content of a message answer.
pub(crate) fn answered_ids(content: Value<'_>) -> impl Iterator<Item = String> {
    ids(content, "tool_result", "tool_use_id")
}

/// Blocks of a type, by their id in a field.
fn ids<'v>(content: Value<'v>, kind: &str, field: &str) -> impl Iterator<Item = String> + use<'v> {
    let (kind, field) = (kind.to_owned(), field.to_owned());
    let blocks = content
        .items()
        .filter(move |block| text(block.get("type")).as_ref() == Some(&kind));
    blocks.filter_map(move |block| text(block.get(&field)))
}

/// Reads the mark of a cache; the plain mark needs no extra field.
fn cache_mark(turn: &mut Turn, path: &str, block: Value<'_>) {
    if let Some(mark) = present(block, "cache_control") {
        turn.parts.push(Part::CacheMark);
        let is_plain = text(mark.get("type")).as_deref() == Some("ephemeral");
        let known: &[&str] = if is_plain { &["type"] } else { &[] };
        turn.keep_rest(mark, &format!("{path}.cache_control"), known);
    }
}

/// Reads a picture or document by its address, its bytes, its text, or the id of its upload.
fn media_item(turn: &mut Turn, path: &str, block: Value<'_>, kind: MediaKind, site: &mut Site<'_>) -> bool {
    let Some(source) = block.get("source").filter(|source| source.kind() == Kind::Object) else {
        return false;
    };
    let mut others = Vec::new();
    let (place, key) = match text(source.get("type")).as_deref() {
        Some("base64") => (text(source.get("data")).map(MediaSource::Inline), "data"),
        Some("url") => (text(source.get("url")).map(MediaSource::Url), "url"),
        Some("text") => (text(source.get("data")).map(MediaSource::Text), "data"),
        // A text or a list of blocks: their texts, joined by line breaks, and then the pictures.
        Some("content") => {
            let inner = match source.get("content") {
                Some(list) if list.kind() == Kind::Array => {
                    ANTHROPIC.shown(turn, list, &format!("{path}.source.content"), site)
                }
                Some(words) if words.kind() == Kind::String => Turn {
                    parts: vec![Part::Text(text_of(words))],
                    ..Turn::default()
                },
                _ => return false,
            };
            turn.rest.extend(inner.rest);
            let (words, media) = divided(inner.parts);
            others = media;
            (Some(MediaSource::Text(words.text)), "content")
        }
        // The id is kept among the extra fields.
        Some("file") => (Some(MediaSource::Upload), "type"),
        _ => (None, "type"),
    };
    let Some(place) = place else { return false };
    turn.parts.push(Part::Media(Media {
        kind,
        source: place,
        media_type: text(source.get("media_type")),
        name: text(block.get("title")),
    }));
    turn.parts.extend(others);
    turn.keep_rest(block, path, &["type", "source", "title", "cache_control"]);
    turn.keep_rest(source, &format!("{path}.source"), &["type", "media_type", key]);
    true
}

/// Reads the hit of a search as a document of text.
fn search_result(
    turn: &mut Turn,
    path: &str,
    block: Value<'_>,
    kind: MediaKind,
    site: &mut Site<'_>,
) -> bool {
    let Some(list) = block.get("content").filter(|list| list.kind() == Kind::Array) else {
        return false;
    };
    let inner = ANTHROPIC.shown(turn, list, &format!("{path}.content"), site);
    turn.rest.extend(inner.rest);
    let (words, others) = divided(inner.parts);
    turn.parts.push(Part::Media(Media {
        kind,
        source: MediaSource::Text(words.text),
        media_type: None,
        name: text(block.get("title")),
    }));
    turn.parts.extend(others);
    turn.keep_rest(block, path, &["type", "title", "content", "cache_control"]);
    true
}

/// Reads a summary that replaces everything before it. It is not part of the answer that follows.
fn summary(turn: &mut Turn, path: &str, block: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(words) = text(block.get("content")) else {
        return false;
    };
    turn.gaps.push(turn.parts.len());
    turn.parts.push(Part::Text(words));
    turn.gaps.push(turn.parts.len());
    // The type is kept, because it distinguishes the summary from an answer.
    turn.keep_rest(block, path, &["content", "cache_control"]);
    true
}

/// Reads a tool that is added in the middle of a conversation: its definition, or the name of one in the request.
fn addition(turn: &mut Turn, _: &str, block: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(tool) = present(block, "tool") else {
        return false;
    };
    let inline = (tool.get("input_schema").is_some()).then_some(tool);
    let defined = present(tool, "definition").or(inline);
    turn.tools.extend(defined.map(definition));
    turn.parts.push(Part::Item(unmarked(Vendor::Anthropic, block)));
    true
}

/// Reads a call of a server's tool, or its result, as a piece of the answer, because the tool runs at the
/// vendor.
fn mcp(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) -> bool {
    let place = turn.parts.len();
    let is_call = text(block.get("type")).as_deref() == Some("mcp_tool_use");
    let (is_read, needs): (bool, &[&str]) = if is_call {
        let is_read = call(turn, path, block, (["id", "name"], &["input"]), site);
        (is_read, &["id", "name", "server_name", "input"])
    } else {
        (result(turn, path, block, site), &["tool_use_id"])
    };
    let is_whole = needs.iter().all(|key| present(block, key).is_some());
    let own = is_whole.then(|| Box::new(OwnItem::Hosted(unmarked(Vendor::Anthropic, block))));
    match turn.parts.get_mut(place) {
        Some(Part::ToolCall(call)) => call.own = own,
        Some(Part::ToolResult(result)) => result.own = own,
        _ => {}
    }
    is_read
}

/// Reads a result: its texts are the answer, joined by line breaks, and media follow it.
fn result(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) -> bool {
    let answered = match block.get("content") {
        Some(list) if list.kind() == Kind::Array => {
            let inner = ANTHROPIC.shown(turn, list, &format!("{path}.content"), site);
            turn.rest.extend(inner.rest);
            divided(inner.parts)
        }
        Some(value) => (text_of(value).into(), Vec::new()),
        None => Default::default(),
    };
    let is_error = block.get("is_error").and_then(Value::as_bool);
    let result = ToolResult {
        call_id: word(block.get("tool_use_id"), &format!("{path}.tool_use_id"), site),
        name: text(block.get("name")),
        is_error: is_error.unwrap_or_default(),
        ..ToolResult::default()
    };
    turn.parts.extend(result_of(result, answered));
    if is_error.is_none()
        && let Some(malformed) = present(block, "is_error")
    {
        turn.keep(format!("{path}.is_error"), malformed);
    }
    let known = [
        "type",
        "tool_use_id",
        "name",
        "content",
        "is_error",
        "cache_control",
    ];
    turn.keep_rest(block, path, &known);
    true
}
