//! Histories for Google's Gemini API, and gryag's, which are the same with a `[meta]` line before every
//! message.
//!
//! A record is one captured request: an object with `contents`, maybe `systemInstruction` and `tools`, or a
//! bare list of turns, as gryag's document prints it. Field names are read in camel case and in snake case.
//! The smallest example:
//!
//! ```json
//! {"contents": [{"role": "user", "parts": [{"text": "[meta] chat_id=-1 message_id=5 user_id=9 name=\"Ann\""},
//!                                          {"text": "Morning"}]},
//!               {"role": "model", "parts": [{"text": "Good morning."}]}]}
//! ```
//!
//! The `[meta]` line gives ids, names and replies, and is then no part of the text ([`meta`]). Where such lines
//! are used, a user's first turn without one is the system prompt, which gryag puts there for models without a
//! system role. Calls and responses have no ids in this format unless a part names one: linking pairs them by
//! place and name. A file that is a bare list is cut into its turns like every top-level array; grouping makes
//! them one conversation again. Neighbouring contents of the model are one answer, as google-genai's chats keep the pieces of
//! a stream, unless the history is a bare list or has `[meta]` lines. A turn that is a separate record is a conversation of one message. The captured
//! answer of a request ends the conversation ([`answers`]).

mod answers;
pub(crate) mod meta;
pub(crate) mod reply;
pub(crate) mod roster;
mod turns;

use answers::Candidates;
use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Conversation, Extra, FormatTraits, RawJson, Records};
use roster::Roster;
use turns::Reader;

use crate::base::{Keep as _, Notes, Times, present, raw};
use crate::frame::{FrameView, Reading, Row};
use crate::grammar::usage;
use crate::layout::{ListReader, exchange::logged, has, holds, is_bare_list, list, reading, surest};
use crate::rust_format::{Read, RustFormat};
use crate::source::{About, NO_TEXT_ARGUMENTS};

/// The structure of gryag's prompts, and the form of their further fields.
const GRYAG: &str = "gryag";

/// Fields that hold system text; the index of a system message counts down from the largest number in this order.
const SYSTEM: [&str; 3] = ["systemInstruction", "system_instruction", "system_context"];

/// The index of a turn that is a whole record.
const ALONE: u32 = u32::MAX - SYSTEM.len() as u32;

/// The index of the answer that was captured with its request, below `response`.
const ANSWER: u32 = ALONE - 1;

/// The index of the captured answer if it is next to `contents`.
const ANSWER_BESIDE: u32 = ALONE - 2;

static ABOUT: About = About {
    id: "gemini-contents",
    title: "Gemini histories",
    specification: "Gemini API GenerateContent requests, and gryag's conversation pattern (2025-10-17)",
    verified: "google-genai 3.6.1, 2026-11",
    shapes: &["gemini", "gryag"],
    carries: "roles, text, thoughts, media, function calls and responses; with [meta] lines ids, names and replies",
    traits: FormatTraits {
        pairs_by_place: true,
        records: Records::Requests,
        ..NO_TEXT_ARGUMENTS
    },
};

/// The source `gemini-contents`.
pub static GEMINI_CONTENTS: RustFormat = RustFormat {
    message_path: Some(|index| Some(message_path(index))),
    // A file that is a bare list of turns is one history.
    groups_rows: Some(is_list_cut),
    // All elements of a bare list are rows of one history; a whole request is read by itself.
    rows: Some(|root| root.get("contents").is_none().then(|| vec![Row::of(None, root)])),
    ..RustFormat::of(
        &ABOUT,
        |sketch| surest(sketch, recognise).or_else(|| recognise_list_of_turns(sketch)),
        Read::Own(|frame, limits| {
            let mut reading = reading(&ABOUT, read(frame, limits));
            let conversation = reading.conversation.as_mut();
            if let Some(prompt) = conversation.filter(|conversation| conversation.shape == GRYAG) {
                prompt.traits.extra_format = Some(GRYAG);
            }
            reading
        }),
    )
};

fn is_list_cut(sketch: &Sketch) -> bool {
    is_bare_list(sketch, is_turn)
}

fn message_path(index: u32) -> String {
    match SYSTEM.get((u32::MAX - index) as usize) {
        Some(field) => format!("$.{field}"),
        None if index == ALONE => "$".to_owned(),
        None if index == ANSWER => "$.response.candidates[0].content".to_owned(),
        None if index == ANSWER_BESIDE => "$.candidates[0].content".to_owned(),
        None => format!("$.contents[{index}]"),
    }
}

/// Recognises the format in one record.
fn recognise(record: &RecordSketch) -> Option<(u8, Vec<String>)> {
    let has = |wanted: &str| has(record, wanted);
    let holds = |wanted: &str| holds(record, "contents", wanted);
    if !has("contents") || !holds("parts") {
        return None;
    }
    let mut why = vec!["the record has contents, and these have parts".to_owned()];
    let others = ["generationConfig", "generation_config", "tools"];
    let seen = SYSTEM.into_iter().chain(others).filter(|key| has(key));
    why.extend(seen.map(|key| format!("the record has {key}")));
    let confidence = if holds("role") { 90 } else { 75 };
    Some((confidence, why))
}

/// Whether a record is a turn, as far as a sketch shows it. Turns with typed parts, or with `content` as well,
/// belong to another format.
fn is_turn(record: &RecordSketch) -> bool {
    has(record, "role") && has(record, "parts") && !has(record, "content") && !record.names("parts[].type")
}

/// Recognises lists of turns without an object around them: the whole file, or one for each record.
fn recognise_list_of_turns(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    let why = if is_list_cut(sketch) {
        "the top-level array is a bare list of turns: one history"
    } else if sketch.records.iter().any(is_list_of_turns) {
        "the record is a bare list of turns"
    } else if sketch.records.iter().any(is_turn) {
        "the record is a turn alone"
    } else {
        return None;
    };
    Some((85, vec![why.to_owned()]))
}

/// Whether a record is an array with a turn as its first object.
fn is_list_of_turns(record: &RecordSketch) -> bool {
    let is_typed = record.names("[].parts[].type");
    !record.is_object && !is_typed && holds(record, "", "role") && holds(record, "", "parts")
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    let turns = top_level(frame, limits)?;
    let is_alone = turns.first().is_some_and(|turn| turn.span() == root.span());
    let mut reader = Reader {
        list: ListReader::new(frame, limits),
        is_bare: root.kind() == Kind::Array,
        roster: Roster::new("model"),
        times: Times::new(frame.options),
        lines: Vec::new(),
        begins_with_system_text: turns::begins_with_system_text(&turns),
        // gryag's prompts are bare lists, and may have no lines.
        joins_answers: root.kind() == Kind::Object && turns::joins_answers(&turns),
        chat: None,
        thread: None,
    };
    let (tools, mut extra) = if is_alone {
        Default::default()
    } else {
        beside(root, &mut reader.list.notes)
    };
    for (place, field) in (0..).zip(SYSTEM) {
        if let Some(value) = present(root, field) {
            reader.read_system(u32::MAX - place, value);
        }
    }
    for (index, turn) in (0..).zip(turns) {
        reader.read(if is_alone { ALONE } else { index }, turn);
    }
    if let Some(candidates) = Candidates::of(root).filter(|_| !is_alone) {
        extra.0.retain(|(key, _)| key != candidates.field);
        candidates.read(&mut reader, &mut extra);
    }
    logged::answer(root, &mut reader.list.messages);
    reader.note_unstated();
    reader.times.finish(&mut reader.list.notes);
    let has_lines = reader.lines.iter().any(|meta| *meta != meta::Meta::default());
    let source_id = reader.chat.map(|chat| match reader.thread {
        Some(thread) => format!("{chat}/{thread}"),
        None => chat,
    });
    Ok(reader.list.finish(Conversation {
        shape: if has_lines { GRYAG } else { "gemini" },
        source_id,
        participants: reader.roster.participants,
        tools,
        model: usage::model(root),
        extra,
        ..Conversation::default()
    }))
}

/// The turns of a list, or the frame itself as the only turn; an error if the whole frame is rejected.
fn top_level<'d>(frame: FrameView<'d>, limits: &Limits) -> Result<Vec<Value<'d>>, Box<Finding>> {
    let root = frame.root();
    let has = |key: &str| root.get(key).is_some();
    let list = match root.kind() {
        Kind::Array => list::bare(frame, "turns", limits)?,
        Kind::Object if has("parts") && !has("contents") => return Ok(vec![root]),
        Kind::Object => list::named(frame, "contents", "turns", limits)?,
        _ => {
            let text = "the record is neither an object nor a list of turns";
            return Err(frame.error(&codes::WRONG_TYPE, text, "$", root));
        }
    };
    Ok(list.items().collect())
}

/// Tool definitions as written, and the other fields of the request.
fn beside(root: Value<'_>, notes: &mut Notes) -> (Vec<RawJson>, Extra) {
    let mut tools = Vec::new();
    let mut extra = Extra::default();
    for (key, value) in root.fields() {
        match &*key {
            "contents" => {}
            "tools" if value.kind() == Kind::Array => tools.extend(value.items().map(raw)),
            "tools" if value.is_null() => {}
            key if SYSTEM.contains(&key) => {}
            key => extra.keep(key, value),
        }
    }
    notes.repeated_keys(root, "$", |key| SYSTEM.contains(&key));
    (tools, extra)
}
