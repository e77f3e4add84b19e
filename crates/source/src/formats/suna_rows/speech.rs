//! Messages of people and agents: text, thoughts and calls, from the content and the metadata of a row.

use chatmill_diag::{Limits, codes};
use chatmill_intake::json::{Mark, Value};
use chatmill_model::{ArgumentForm, Arguments, Part, RawJson, Role, ToolCall};

use super::metadata::Metadata;
use super::types::{Content, Era, Extent, MessageContent};
use super::xml;
use crate::base::{Keep as _, Site, quoted, raw};
use crate::grammar::openai::{self, MessageObject};

/// Reads the text of a person or an agent; if the row has no content, the text is in the metadata `beside`.
pub(super) fn read_speech(
    content: &Content<'_>,
    turn: MessageObject,
    (extent, beside): (Extent, Value<'_>),
    metadata: &mut Metadata<'_>,
    draft: &mut MessageContent,
    limits: &Limits,
    site: &mut Site<'_>,
) {
    thoughts(turn.thoughts, metadata, draft);
    let mut rest = turn.rest;
    let words_from = draft.parts.len();
    match content {
        Content::Turn(object) => {
            let content = openai::content(*object);
            let read = content.map(|value| openai::content_parts(value, "content", &mut rest, site));
            draft.parts.extend(read.into_iter().flatten());
        }
        Content::Parts(list) => {
            let read = openai::content_parts(*list, "content", &mut draft.rest, site);
            draft.parts.extend(read);
        }
        Content::Text(text) => {
            if !metadata.is_compressed() {
                plain_text(text, site);
            }
            draft.parts.push(Part::Text(text.clone()));
        }
        Content::Other(value, text) => {
            value.mark(Mark::Taken);
            if !metadata.is_compressed() {
                let text = "the content is not a message and is read as its JSON text";
                site.note(&codes::BEARABLE_TYPE, text, "", site.message);
            }
            draft.parts.push(Part::Text(text.clone()));
        }
        Content::Absent => match metadata.take_word("text_content") {
            Some(text) => draft.parts.push(Part::Text(text)),
            None if metadata.get("tool_calls").is_none() => site.missing("content"),
            None => {}
        },
    }
    draft.parts.extend(turn.refusal.map(Part::Text));
    let is_agents = draft.role == Role::Assistant;
    let may_call = is_agents && extent == Extent::Whole && turn.calls.is_empty();
    let (suffix, holder) = match content {
        Content::Absent => (".metadata", beside),
        _ => ("", site.message),
    };
    let mut place = Site {
        notes: &mut *site.notes,
        message: holder,
        ..*site
    };
    if may_call && find_calls(draft, place.id, limits, suffix, &mut place) {
        let stored = match content {
            Content::Turn(object) => openai::content(*object).map(|value| ("content.content", raw(value))),
            Content::Parts(list) => Some(("content", raw(*list))),
            Content::Text(text) | Content::Other(_, text) => Some(("content", quoted(text))),
            Content::Absent => None,
        };
        draft
            .rest
            .extend(stored.map(|(path, raw)| (path.to_owned(), raw)));
    }
    if !turn.calls.is_empty() {
        draft.era = Era::Native;
    }
    draft.parts.extend(turn.calls.into_iter().map(Part::ToolCall));
    if let Some(copy) = metadata.get("text_content").and_then(Value::as_str) {
        let texts = draft.parts.iter().skip(words_from).filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        if texts.flat_map(str::split_whitespace).eq(copy.split_whitespace()) {
            metadata.take("text_content");
        }
    }
    // The other fields of the message object.
    let fields = rest.into_iter();
    draft
        .rest
        .extend(fields.map(|(path, raw)| (format!("content.{path}"), raw)));
    let words = [
        ("content.name", turn.name),
        ("content.tool_call_id", turn.call_id),
        (
            "content.message_id",
            turn.message_id.filter(|id| site.id != Some(id)),
        ),
    ];
    for (path, word) in words.into_iter().filter_map(|(path, word)| Some((path, word?))) {
        draft.keep_text(path, &word);
    }
}

fn thoughts(mut own: Vec<String>, metadata: &mut Metadata<'_>, draft: &mut MessageContent) {
    let copy = metadata.get("reasoning_content").and_then(Value::as_str);
    let is_copy = copy.is_some_and(|copy| own.iter().any(|thought| *thought == copy));
    if own.is_empty() || is_copy {
        let taken = metadata.take_word("reasoning_content");
        own.extend(taken.filter(|_| !is_copy));
    }
    draft.parts.extend(own.into_iter().map(Part::Reasoning));
}

/// Reports plain text in a column for messages. Suna's own reader skips such rows, unless they are compressed.
fn plain_text(text: &str, site: &mut Site<'_>) {
    let text = if text.trim_start().starts_with(['{', '[']) {
        "the content begins like JSON but is not valid JSON: it is read as text"
    } else {
        "the content is plain text, which Suna's own reader skips"
    };
    site.note(&codes::BEARABLE_TYPE, text, "", site.message);
}

/// Reads calls that are XML in the text of the site's message, at `suffix` below its row. They are numbered from 0 in each
/// row, and a row's results name them by that number.
pub(super) fn find_calls(
    draft: &mut MessageContent,
    id: Option<&str>,
    limits: &Limits,
    suffix: &str,
    site: &mut Site<'_>,
) -> bool {
    let mut number = 0_usize;
    for part in std::mem::take(&mut draft.parts) {
        let Part::Text(text) = part else {
            draft.parts.push(part);
            continue;
        };
        let cut = xml::cut(&text, limits.depth);
        if cut.is_open {
            let text = "a block of calls begins in the text and does not end: it stays text";
            site.note(&codes::UNFINISHED_STREAM, text, suffix, site.message);
        }
        if cut.unread > 0 {
            let text = "a block of calls in the text holds something else than calls";
            site.note(&codes::BEARABLE_TYPE, text, suffix, site.message);
        }
        for piece in cut.pieces {
            match piece {
                xml::Piece::Text(text) => draft.parts.push(Part::Text(xml::unescaped(text))),
                xml::Piece::Call(call) => {
                    if call.repeats {
                        let text = "duplicate parameter of a call in the text: the last value is used";
                        site.note(&codes::REPEATED_PARAMETER, text, suffix, site.message);
                    }
                    draft.parts.push(Part::ToolCall(ToolCall {
                        id: None,
                        name: Some(call.name.to_owned()),
                        arguments: Arguments::Object(RawJson(call.arguments)),
                        form: ArgumentForm::Embedded,
                        metadata_id: id.map(|id| format!("xml_tool_index{number}_{id}")),
                        own: None,
                    }));
                    number += 1;
                }
            }
        }
    }
    if number > 0 {
        draft.era = draft.era.max(Era::Xml);
    }
    number > 0
}

/// Adds the calls that only the metadata has.
pub(super) fn calls_of_metadata<'m>(
    list: Value<'m>,
    metadata: &mut Metadata<'m>,
    draft: &mut MessageContent,
    site: &mut Site<'_>,
) {
    draft.era = Era::Metadata;
    let own = draft.parts.iter_mut().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    });
    let more = metadata.add_calls(list, &mut own.collect::<Vec<_>>(), site);
    draft.parts.extend(more.into_iter().map(Part::ToolCall));
}
