//! Content parts as OpenAI's APIs write them: text, pictures, sound, files, refusals, thoughts, cache marks.
//!
//! Fields of a part without a place in the model go into the message's extra fields under their paths, for
//! example `content[1].image_url.detail`, so that nothing is lost. Parts of other vendors' formats are kept
//! whole in the same way.

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part};

use crate::base::media::{located, upload};
use crate::base::{Keep as _, Site, Turn, compact, present, text};
use crate::grammar::blocks::at_address;
use crate::grammar::openai::{calls::spelled, mistral};
use crate::grammar::{BlockForm, IN_OPENAI, IN_RESULTS, Read, When, only, typed};

/// The deepest JSON that is read inside the text of a part, in levels.
const MAX_SPELLED_DEPTH: u32 = 128;

/// The plain cache mark, without any options.
const PLAIN_MARK: &str = "{\"type\":\"ephemeral\"}";

/// Whether a list consists of parts: an element is an object with a `type` or a `text`, or all are strings.
pub(crate) fn is_parts(list: Value<'_>) -> bool {
    let is_part = |part: Value<'_>| {
        part.kind() == Kind::Object && part.get("type").or_else(|| part.get("text")).is_some()
    };
    list.items().any(is_part) || list.items().all(|part| part.kind() == Kind::String)
}

/// Whether a list has elements, and all have a type that is a kind of block here.
pub(crate) fn are_known(list: Value<'_>) -> bool {
    let is_known = |part: Value<'_>| {
        let kind = part.get("type").and_then(Value::as_str);
        let mut forms = IN_OPENAI.iter().flat_map(|grammar| grammar.blocks);
        kind.is_some_and(|kind| forms.any(|form| form.is_of(part, Some(&kind))))
    };
    list.kind() == Kind::Array && !list.is_empty() && list.items().all(is_known)
}

/// Reads the parts of the field `field`.
pub(crate) fn read(list: Value<'_>, field: &str, site: &mut Site<'_>) -> Turn {
    let mut turn = Turn::default();
    for (index, value) in list.items().enumerate() {
        let path = format!("{field}[{index}]");
        part(&mut turn, &path, value, site);
    }
    turn
}

/// Reads a part at its path.
pub(crate) fn part(turn: &mut Turn, path: &str, value: Value<'_>, site: &mut Site<'_>) {
    match value.kind() {
        Kind::Object => object(value, path, turn, site),
        Kind::String => {
            site.warn(path, "a part is a bare string and is read as text", value);
            turn.parts.extend(text(Some(value)).map(Part::Text));
        }
        _ => {
            let message = "a part is neither a string nor an object and is kept as it is";
            site.error(path, message, value);
            turn.keep(path, value);
        }
    }
}

/// Reads a list of texts and media, as in results; `None` if an element is anything else, because results may be any list.
pub(super) fn shown(list: Value<'_>, field: &str, site: &mut Site<'_>) -> Option<Turn> {
    let mut turn = Turn::default();
    let is_list = list.kind() == Kind::Array;
    let mut all = list.items().enumerate();
    let is_shown = is_list
        && all.all(|(index, part)| {
            let path = format!("{field}[{index}]");
            part.get("type").is_some()
                && IN_RESULTS
                    .iter()
                    .any(|grammar| grammar.marked_block(&mut turn, &path, part, site))
        });
    is_shown.then_some(turn)
}

fn object(value: Value<'_>, path: &str, turn: &mut Turn, site: &mut Site<'_>) {
    if !IN_OPENAI
        .iter()
        .any(|grammar| grammar.block(turn, path, value, site))
    {
        let text = "the part has no form that is known here and is kept as it is";
        let place = value.get("type").unwrap_or(value);
        site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, format!(".{path}"), place);
        turn.keep_unread(path, value);
    }
}

/// The kinds of parts.
pub(super) const PARTS: &[BlockForm] = &[
    typed("text", TEXT),
    typed("input_text", TEXT),
    only(typed("output_text", TEXT)),
    BlockForm::of(When::Untyped, TEXT),
    only(typed("refusal", Read::Own(refusal))),
    typed("thinking", Read::Reasoning(&["thinking"])),
    mistral::THOUGHTS,
    mistral::REFERENCE,
    typed("reasoning", Read::Reasoning(&["text", "value"])),
    typed("tool_call", Read::Own(calls)),
    typed("tool_calls", Read::Own(calls)),
    only(typed(
        "image_url",
        Read::Address(MediaKind::Image, &["image_url", "value"]),
    )),
    typed(
        "input_image",
        Read::Address(MediaKind::Image, &["image_url", "value"]),
    ),
    only(typed(
        "audio_url",
        Read::Address(MediaKind::Audio, &["audio_url", "value"]),
    )),
    only(typed(
        "video_url",
        Read::Address(MediaKind::Video, &["video_url", "value"]),
    )),
    typed("image", Read::Media(MediaKind::Image, plain_media_item)),
    typed("audio", Read::Media(MediaKind::Audio, plain_media_item)),
    typed("video", Read::Media(MediaKind::Video, plain_media_item)),
    only(typed("input_audio", Read::Media(MediaKind::Audio, sound))),
    typed("file", Read::Media(MediaKind::File, file)),
    typed("input_file", Read::Media(MediaKind::File, file)),
];

/// A part of text; some programs write the text as `value`.
const TEXT: Read = Read::Text(&["text", "value"]);

/// Reads the mark of a cache; the plain mark needs no extra field.
pub(super) fn cache_mark(turn: &mut Turn, path: &str, part: Value<'_>) {
    if let Some(mark) = present(part, "cache_control") {
        turn.parts.push(Part::CacheMark);
        if compact(mark) != PLAIN_MARK {
            turn.keep(format!("{path}.cache_control"), mark);
        }
    }
}

/// Reads a refusal as text; its type is kept, because it distinguishes it from other text.
fn refusal(turn: &mut Turn, path: &str, value: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(words) = text(value.get("refusal")) else {
        return false;
    };
    turn.parts.push(Part::Text(words));
    turn.keep_rest(value, path, &["refusal", "cache_control"]);
    true
}

/// A media item as training files write it: by address or path, or as a mark for one that is listed next to the messages.
fn plain_media_item(
    turn: &mut Turn,
    path: &str,
    value: Value<'_>,
    kind: MediaKind,
    _: &mut Site<'_>,
) -> bool {
    let own = match kind {
        MediaKind::Audio => "audio",
        MediaKind::Video => "video",
        _ => "image",
    };
    if at_address(turn, path, value, kind, &[own, "url", "path", "value"]) {
        return true;
    }
    let is_mark = value
        .fields()
        .all(|(field, inside)| inside.is_null() || matches!(&*field, "type" | "cache_control"));
    if is_mark {
        turn.parts.push(upload(kind, None));
    }
    is_mark
}

/// Reads calls in the JSON text that a model is to write: an object with name and arguments, or a list of such objects.
fn calls(turn: &mut Turn, path: &str, value: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(words) = text(value.get("value")) else {
        return false;
    };
    let calls = spelled(words, MAX_SPELLED_DEPTH);
    turn.parts.extend(calls.into_iter().map(Part::ToolCall));
    turn.keep_rest(value, path, &["type", "value", "cache_control"]);
    true
}

fn sound(turn: &mut Turn, path: &str, value: Value<'_>, kind: MediaKind, _: &mut Site<'_>) -> bool {
    let Some(field) = value.get("input_audio") else {
        return false;
    };
    let Some(bytes) = text(field.get("data")) else {
        return false;
    };
    let format = text(field.get("format"));
    turn.parts.push(Part::Media(Media {
        kind,
        source: MediaSource::Inline(bytes),
        media_type: format.map(|format| format!("audio/{format}")),
        name: None,
    }));
    turn.keep_rest(value, path, &["type", "input_audio", "cache_control"]);
    turn.keep_rest(field, &format!("{path}.input_audio"), &["data", "format"]);
    true
}

/// Reads a file: its bytes, or the id of its upload, which then also serves as its name.
fn file(turn: &mut Turn, path: &str, value: Value<'_>, kind: MediaKind, _: &mut Site<'_>) -> bool {
    let nested = value.get("file").filter(|file| file.kind() == Kind::Object);
    let holder = nested.unwrap_or(value);
    let field = |key: &str| text(holder.get(key));
    let name = field("filename");
    let mut known = vec!["type", "file", "cache_control", "filename"];
    let mut sources = ["file_data", "file_url"].into_iter();
    let part = if let Some((key, url)) = sources.find_map(|key| Some((key, field(key)?))) {
        known.push(key);
        Part::Media(located(kind, url, name))
    } else if let Some(id) = field("file_id") {
        if name.is_none() {
            known.push("file_id");
        }
        upload(kind, name.or(Some(id)))
    } else {
        return false;
    };
    turn.parts.push(part);
    if nested.is_some() {
        turn.keep_rest(value, path, &["type", "file", "cache_control"]);
        turn.keep_rest(holder, &format!("{path}.file"), &known);
    } else {
        turn.keep_rest(holder, path, &known);
    }
    true
}
