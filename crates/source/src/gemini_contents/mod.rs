//! Histories for Google's Gemini API, and gryag's, which are the same with a `[meta]` line in front of every message.
//!
//! A record is one captured request: an object with `contents`, maybe `systemInstruction` and `tools`, or a bare list of
//! turns, as gryag's document prints it. Field names are read in camel case and in snake case. The smallest example:
//!
//! ```json
//! {"contents": [{"role": "user", "parts": [{"text": "[meta] chat_id=-1 message_id=5 user_id=9 name=\"Ann\""},
//!                                          {"text": "Morning"}]},
//!               {"role": "model", "parts": [{"text": "Good morning."}]}]}
//! ```
//!
//! The `[meta]` line gives ids, names and replies, and is no text then ([`meta`]). Where lines are used, a user's first
//! turn without one is the system prompt that gryag puts there for models without a place for it. Calls and responses have
//! no ids in this format unless a part says so: linking pairs them by place and name. A file that is a bare list is cut into
//! its turns like every top-level array; gathered again, they are one conversation. A turn that is a record of its own is a
//! conversation of one message.

pub mod meta;
pub mod parts;
pub mod reply;
pub mod roster;
mod turns;

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_intake::json::{Document, Kind, Value, append_key};
use chatmill_intake::{Framing, RecordSketch, Sketch};
use chatmill_model::{Conversation, Customs, Extra, RawJson, Scene, TextArguments};

use crate::notes::{Notes, repeated_key};
use crate::times::Times;
use crate::{About, Evidence, FrameView, Reading, Row, RowLedger, Source};
use roster::Roster;
use turns::Reader;

const ID: &str = "gemini-contents";

/// The structure of gryag's prompts, and the form of their further fields.
const GRYAG: &str = "gryag";

/// Fields that hold system text; the index of a system message counts down from the largest number in this order.
const SYSTEM: [&str; 3] = ["systemInstruction", "system_instruction", "system_context"];

/// The index of a turn that is a record of its own.
const ALONE: u32 = u32::MAX - SYSTEM.len() as u32;

/// The source `gemini-contents`.
#[derive(Debug)]
pub struct GeminiContents;

static ABOUT: About = About {
    title: "Gemini histories",
    specification: "Gemini API GenerateContent requests, and gryag's conversation pattern (2025-10-17)",
    shapes: &["gemini", "gryag"],
    carries: "roles, text, thoughts, media, function calls and responses; with [meta] lines ids, names and replies",
    customs: Customs {
        pairs_by_place: true,
        text_arguments: TextArguments::None,
        ..Customs::USUAL
    },
};

impl Source for GeminiContents {
    fn id(&self) -> &'static str {
        ID
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
        let best = sketch
            .records
            .iter()
            .filter_map(recognise)
            .max_by_key(|(confidence, _)| *confidence);
        best.or_else(|| recognise_list_of_turns(sketch))
            .map(|(confidence, why)| Evidence {
                source: ID,
                confidence,
                why,
            })
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        let mut reading = Reading::of(&ABOUT, read(*frame, limits));
        let conversation = reading.conversation.as_mut();
        if let Some(prompt) = conversation.filter(|conversation| conversation.shape == GRYAG) {
            prompt.customs.kept_form = Some(GRYAG);
        }
        reading
    }

    fn message_path(&self, index: u32) -> String {
        message_path(index)
    }

    /// A file that is a bare list of turns is one history.
    fn gathers(&self, sketch: &Sketch) -> bool {
        sketch.framing == Framing::Array
            && sketch.records.iter().any(is_turn)
            && sketch
                .records
                .iter()
                .all(|record| is_turn(record) || !record.is_object)
    }

    /// Whatever stands in a bare list belongs to it; a whole request is read on its own.
    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        root.get("contents").is_none().then(|| {
            vec![Row {
                keys: vec![String::new()],
                span: root.span(),
            }]
        })
    }
}

fn message_path(index: u32) -> String {
    let system = usize::try_from(u32::MAX - index)
        .ok()
        .and_then(|place| SYSTEM.get(place));
    match system {
        Some(field) => format!("$.{field}"),
        None if index == ALONE => "$".to_owned(),
        None => format!("$.contents[{index}]"),
    }
}

/// What speaks for the format in one record.
fn recognise(record: &RecordSketch) -> Option<(u8, Vec<String>)> {
    let has = |wanted: &str| record.keys.iter().any(|key| key == wanted);
    let holds = |wanted: &str| {
        let mut inside = record.nested.iter();
        inside.any(|(key, inner)| key == "contents" && inner == wanted)
    };
    if !has("contents") || !holds("parts") {
        return None;
    }
    let mut why = vec!["the record has contents, and these have parts".to_owned()];
    for key in SYSTEM
        .into_iter()
        .chain(["generationConfig", "generation_config", "tools"])
    {
        if has(key) {
            why.push(format!("the record has {key}"));
        }
    }
    let confidence = if holds("role") { 90 } else { 75 };
    Some((confidence, why))
}

/// A turn, as far as a sketch shows it.
fn is_turn(record: &RecordSketch) -> bool {
    let has = |wanted: &str| record.keys.iter().any(|key| key == wanted);
    has("role") && has("parts")
}

/// Lists of turns without an object around them: the whole file, or one a record.
fn recognise_list_of_turns(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    let why = if GeminiContents.gathers(sketch) {
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

/// Whether a record is an array whose first object is a turn.
fn is_list_of_turns(record: &RecordSketch) -> bool {
    let holds = |wanted: &str| {
        let mut inside = record.nested.iter();
        inside.any(|(key, inner)| key.is_empty() && inner == wanted)
    };
    !record.is_object && holds("role") && holds("parts")
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let mut notes = Notes::new(frame.start);
    let root = frame.document.root();
    let turns = top_level(root, limits, &notes)?;
    let is_alone = turns.first().is_some_and(|turn| turn.span() == root.span());
    let (tools, extra) = if is_alone {
        Default::default()
    } else {
        beside(root, &mut notes)
    };
    let mut reader = Reader {
        frame,
        is_bare: root.kind() == Kind::Array,
        limits,
        roster: Roster::new("model"),
        notes,
        times: Times::default(),
        rejects: Vec::new(),
        messages: Vec::new(),
        lines: Vec::new(),
        has_front: turns::has_front(&turns),
        rows: RowLedger::default(),
        chat: None,
        thread: None,
    };
    for (place, field) in (0..).zip(SYSTEM) {
        if let Some(value) = root.get(field).filter(|value| !value.is_null()) {
            reader.read_system(u32::MAX - place, value);
        }
    }
    for (index, turn) in (0..).zip(turns) {
        reader.read(if is_alone { ALONE } else { index }, turn);
    }
    reader.note_unstated();
    reader.times.finish(&mut reader.notes);
    let has_lines = reader.lines.iter().any(|meta| *meta != meta::Meta::default());
    let source_id = reader.chat.map(|chat| match reader.thread {
        Some(thread) => format!("{chat}/{thread}"),
        None => chat,
    });
    Ok(Reading {
        conversation: Some(Conversation {
            source: ID,
            shape: if has_lines { GRYAG } else { "gemini" },
            source_id,
            scene: Scene::Unknown,
            participants: reader.roster.participants,
            tools,
            messages: reader.messages,
            extra,
            ..Conversation::default()
        }),
        fault: None,
        findings: reader.notes.findings,
        rejects: reader.rejects,
        rows: reader.rows,
    })
}

/// Checks what decides over the whole frame; gives the turns: those of the list, or the frame itself.
fn top_level<'d>(root: Value<'d>, limits: &Limits, notes: &Notes) -> Result<Vec<Value<'d>>, Box<Finding>> {
    let fault = |finding: Finding, path: &str, value: Value<'_>| {
        Box::new(notes.spanned(finding.with_severity(Severity::Error).at_path(path), value.span()))
    };
    if root.kind() == Kind::Array {
        return match too_large(root, limits) {
            Some(finding) => Err(fault(finding, "$", root)),
            None => Ok(root.items().collect()),
        };
    }
    if root.kind() != Kind::Object {
        let finding = Finding::new(
            &codes::WRONG_TYPE,
            "the record is neither an object nor a list of turns",
        );
        return Err(fault(finding, "$", root));
    }
    let path = "$.contents";
    let mut lists = root.fields().filter(|(key, _)| key == "contents");
    let Some((_, list)) = lists.next() else {
        if root.get("parts").is_some() {
            return Ok(vec![root]);
        }
        let finding = Finding::new(&codes::MISSING_FIELD, "the record has no contents");
        return Err(fault(finding, path, root));
    };
    if lists.next().is_some() {
        let text = "contents stands more than once in the record";
        return Err(fault(Finding::new(&codes::DUPLICATE_KEY, text), path, root));
    }
    if list.kind() != Kind::Array {
        let finding = Finding::new(&codes::WRONG_TYPE, "contents is no list");
        return Err(fault(finding, path, list));
    }
    match too_large(list, limits) {
        Some(finding) => Err(fault(finding, path, list)),
        None => Ok(list.items().collect()),
    }
}

/// What is to be said of a list with more turns than the limit allows.
fn too_large(list: Value<'_>, limits: &Limits) -> Option<Finding> {
    let limit = limits.messages_per_conversation;
    let turns = list.len() as u64;
    (turns > limit).then(|| {
        let text = format!("the conversation has {turns} turns, the limit is {limit}");
        Finding::new(&codes::CONVERSATION_TOO_LARGE, text)
    })
}

/// Tool definitions as written, and the other fields of the request.
fn beside(root: Value<'_>, notes: &mut Notes) -> (Vec<RawJson>, Extra) {
    let raw = |value: Value<'_>| RawJson(value.raw().to_owned());
    let mut tools = Vec::new();
    let mut extra = Extra::default();
    for (key, value) in root.fields() {
        match &*key {
            "contents" => {}
            "tools" if value.kind() == Kind::Array => tools.extend(value.items().map(raw)),
            "tools" if value.is_null() => {}
            key if SYSTEM.contains(&key) => {}
            key => extra.0.push((key.to_owned(), raw(value))),
        }
    }
    for key in root.duplicate_keys() {
        let mut path = "$".to_owned();
        append_key(&mut path, &key);
        let finding = repeated_key(SYSTEM.contains(&key.as_str())).at_path(path);
        notes.push(finding, root.get(&key));
    }
    (tools, extra)
}
