//! Bedrock's Converse API: blocks with a single field, which names the kind of block.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part, RawJson, ToolResult};

use super::{Grammar, MessageForm, Read, Sign, UsageForm, keyed, only};
use crate::base::media::{ResultText, result_of};
use crate::base::{Keep as _, Site, Turn, text, text_of, word};

/// Messages of Converse.
pub(crate) static CONVERSE: Grammar = Grammar {
    verified: "2026-11",
    id: "converse",
    fields: &["role", "content"],
    lists: &["content"],
    signs: &[Sign::Untyped],
    message: MessageForm::Blocks {
        has_id: false,
        may_be_text: false,
        otherwise: "the content is not a list of blocks and is read as its text",
    },
    blocks: &[
        keyed("text", Read::Text(&[])),
        keyed("image", Read::Media(MediaKind::Image, media_item)),
        keyed("video", Read::Media(MediaKind::Video, media_item)),
        keyed("audio", Read::Media(MediaKind::Audio, media_item)),
        keyed("document", Read::Media(MediaKind::File, media_item)),
        only(keyed("reasoningContent", Read::Own(thought))),
        only(keyed("cachePoint", Read::Own(cache_point))),
        only(keyed("toolUse", Read::Call(["toolUseId", "name"], &["input"]))),
        only(keyed("toolResult", Read::Own(result))),
        only(keyed("citationsContent", Read::Own(cited))),
        only(keyed("guardContent", Read::Own(guarded))),
        only(keyed("searchResult", Read::Media(MediaKind::File, search_result))),
    ],
    cache_mark: None,
    joins_texts: true,
    usage: Some(UsageForm {
        input: &["inputTokens"],
        output: &["outputTokens"],
        cached: &["cacheReadInputTokens"],
        // Claude's SDK writes Anthropic's names in this case.
        written: &["cacheWriteInputTokens", "cacheCreationInputTokens"],
        written_for: [
            &["cacheDetails[ttl=5m].inputTokens"],
            &["cacheDetails[ttl=1h].inputTokens"],
        ],
        contains_cache: false,
        // `totalTokens` does not include the cache.
        ..UsageForm::NOTHING
    }),
    described: None,
};

/// Reads the mark of a cache, which is a block here; the plain mark needs no extra field.
fn cache_point(turn: &mut Turn, path: &str, value: Value<'_>, _: &mut Site<'_>) -> bool {
    turn.parts.push(Part::CacheMark);
    let is_plain = text(value.get("type")).as_deref() == Some("default");
    turn.keep_rest(value, path, if is_plain { &["type"] } else { &[] });
    true
}

/// Reads a text with citations: its pieces are one text.
fn cited(turn: &mut Turn, path: &str, value: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(list) = value.get("content").filter(|list| list.kind() == Kind::Array) else {
        return false;
    };
    let words: Option<String> = list.items().map(|piece| text(piece.get("text"))).collect();
    let Some(words) = words else { return false };
    turn.parts.push(Part::Text(words));
    turn.keep_rest(value, path, &["content"]);
    true
}

/// Reads a text or a picture for a guardrail. An extra field keeps the fact that a guardrail checks it.
fn guarded(turn: &mut Turn, path: &str, value: Value<'_>, site: &mut Site<'_>) -> bool {
    let is_read = guarded_words(turn, path, value, site);
    if is_read {
        turn.rest.push((path.to_owned(), RawJson("true".to_owned())));
    }
    is_read
}

fn guarded_words(turn: &mut Turn, path: &str, value: Value<'_>, site: &mut Site<'_>) -> bool {
    if let Some(picture) = value.get("image") {
        return media_item(turn, &format!("{path}.image"), picture, MediaKind::Image, site);
    }
    let Some(holder) = value.get("text") else {
        return false;
    };
    let Some(words) = text(holder.get("text")) else {
        return false;
    };
    turn.parts.push(Part::Text(words));
    turn.keep_rest(holder, &format!("{path}.text"), &["text"]);
    turn.keep_rest(value, path, &["text"]);
    true
}

/// Reads the hit of a search as a document of text.
fn search_result(turn: &mut Turn, path: &str, value: Value<'_>, kind: MediaKind, _: &mut Site<'_>) -> bool {
    let Some((words, _)) = document_text(value) else {
        return false;
    };
    turn.parts.push(Part::Media(Media {
        kind,
        source: MediaSource::Text(words),
        media_type: None,
        name: text(value.get("title")),
    }));
    turn.keep_rest(value, path, &["title", "content"]);
    true
}

/// The formats of documents, and their media types.
const DOCUMENTS: [(&str, &str); 9] = [
    ("pdf", "application/pdf"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    ("xls", "application/vnd.ms-excel"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("html", "text/html"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
];

/// The text of a document that is text or has only blocks of text, and the field that contains it.
fn document_text(source: Value<'_>) -> Option<(String, &'static str)> {
    if let Some(words) = text(source.get("text")) {
        return Some((words, "text"));
    }
    let blocks = source.get("content").filter(|list| list.kind() == Kind::Array)?;
    let words: Option<Vec<String>> = blocks.items().map(|block| text(block.get("text"))).collect();
    Some((words?.join("\n"), "content"))
}

/// Reads a media item as bytes or by its place in S3, or a document of text; its type is the kind and the
/// format.
fn media_item(turn: &mut Turn, path: &str, block: Value<'_>, kind: MediaKind, _: &mut Site<'_>) -> bool {
    let Some(source) = block.get("source") else {
        return false;
    };
    let place = source.get("s3Location");
    let (place, key) = match (
        text(source.get("bytes")),
        text(place.and_then(|place| place.get("uri"))),
    ) {
        (Some(bytes), _) => (MediaSource::Inline(bytes), "bytes"),
        (None, Some(uri)) => (MediaSource::Url(uri), "s3Location"),
        (None, None) => match document_text(source) {
            Some((words, key)) => (MediaSource::Text(words), key),
            None => return false,
        },
    };
    let format = text(block.get("format"));
    let family = match kind {
        MediaKind::Image => Some("image"),
        MediaKind::Video => Some("video"),
        MediaKind::Audio => Some("audio"),
        MediaKind::File | MediaKind::Link => None,
    };
    let media_type = match (family, &format) {
        (Some(family), Some(format)) => Some(format!("{family}/{format}")),
        (_, Some(format)) => {
            let known = DOCUMENTS.iter().find(|(known, _)| known == format);
            known.map(|(_, media_type)| (*media_type).to_owned())
        }
        _ => None,
    };
    let is_typed = media_type.is_some();
    turn.parts.push(Part::Media(Media {
        kind,
        source: place,
        media_type,
        name: text(block.get("name")),
    }));
    let known: &[&str] = if is_typed {
        &["format", "source", "name"]
    } else {
        &["source", "name"]
    };
    turn.keep_rest(block, path, known);
    turn.keep_rest(source, &format!("{path}.source"), &[key]);
    if let Some(place) = source.get("s3Location").filter(|_| key == "s3Location") {
        turn.keep_rest(place, &format!("{path}.source.s3Location"), &["uri"]);
    }
    true
}

fn thought(turn: &mut Turn, path: &str, value: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(holder) = value.get("reasoningText") else {
        return false;
    };
    let Some(thought) = text(holder.get("text")) else {
        return false;
    };
    turn.parts.push(Part::Reasoning(thought));
    turn.keep_rest(holder, &format!("{path}.reasoningText"), &["text"]);
    turn.keep_rest(value, path, &["reasoningText"]);
    true
}

/// Reads a result: texts and JSON values are the answer, joined by line breaks, and media follow it.
fn result(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) -> bool {
    if block.kind() != Kind::Object {
        return false;
    }
    let mut texts: Vec<String> = Vec::new();
    let mut has_json = false;
    let mut inner = turn.inside();
    match block.get("content") {
        Some(list) if list.kind() == Kind::Array => {
            for (index, part) in list.items().enumerate() {
                let place = format!("{path}.content[{index}]");
                if let Some(words) = text(part.get("text")) {
                    texts.push(words);
                    inner.keep_rest(part, &place, &["text"]);
                } else if let Some(json) = part.get("json") {
                    texts.push(text_of(json));
                    has_json = true;
                    inner.keep_rest(part, &place, &["json"]);
                } else if !CONVERSE.shown_block(&mut inner, &place, part, site) {
                    inner.unknown(&place, part, site);
                }
            }
        }
        Some(value) => {
            let text = "the content of a result is not a list and is read as its text";
            site.warn(&format!("{path}.content"), text, value);
            texts.push(text_of(value));
        }
        None => {}
    }
    let status = text(block.get("status"));
    let result = ToolResult {
        call_id: word(block.get("toolUseId"), &format!("{path}.toolUseId"), site),
        is_error: status.as_deref() == Some("error"),
        ..ToolResult::default()
    };
    let answer = ResultText {
        is_json: has_json && texts.len() == 1,
        ..ResultText::of(&texts)
    };
    turn.parts.extend(result_of(result, (answer, inner.parts)));
    turn.rest.extend(inner.rest);
    let known: &[&str] = match status.as_deref() {
        Some("error" | "success") | None => &["toolUseId", "content", "status"],
        Some(_) => &["toolUseId", "content"],
    };
    turn.keep_rest(block, path, known);
    true
}
