//! Group Chat Format, the open exchange format of the `EverMemOS` project.
//!
//! A record is one conversation: `version`, the metadata with the roster, and the list of messages. Times are
//! ISO 8601, senders are ids of the roster, replies are in `refer_list`. Four structures have the version
//! 1.0.0 and are distinguished by their fields ([`shape`]). The smallest example:
//!
//! ```json
//! {"version": "1.0.0",
//!  "conversation_meta": {"name": "Team", "user_details": {"u1": {"full_name": "Ann", "role": "user"}}},
//!  "conversation_list": [{"message_id": "m1", "create_time": "2025-02-01T10:00:00Z", "sender": "u1", "type": "text",
//!                         "content": "Morning"}]}
//! ```
//!
//! Data that the format's importer (`validate_group_chat_format_input`) refuses is an error; data that only
//! its public validator refuses, or that is unusual, is a warning. Checks of the linked conversation (unknown
//! senders, dangling references, empty lists) are rules and not here.

mod media;
mod messages;
mod references;
mod roster;
mod shape;
mod times;
mod tools;
mod wire;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Conversation, Extra, FormatTraits};

use crate::base::{ExtraFields, FieldText, Keep as _, Notes, Wire as _, field_text};
use crate::frame::{FrameView, Reading};
use crate::layout::{ListReader, has, holds, list, surest};
use crate::rust_format::{Read, RustFormat};
use crate::source::About;
use messages::Reader;
use roster::Roster;
use shape::Meta;

use wire::Record;

const ID: &str = "group-chat";
const VERSION: &str = "1.0.0";

static ABOUT: About = About {
    id: ID,
    title: "Group Chat Format",
    specification: "Group Chat Format Specification, version 1.0.0 (EverMemOS, January 2026), and the three structures \
                    of October 2025, November 2025 and April 2026 that share its version number",
    verified: "2026-11",
    shapes: &["L1", "L2", "V1", "V2"],
    carries: "roster with roles and departments, replies with previews, media by name or address, notices, \
              tool calls and results in `extra`",
    traits: FormatTraits {
        extra_format: Some(ID),
        reference_list: Some("refer_list"),
        senders_everywhere: true,
        ..FormatTraits::USUAL
    },
};

/// The source `group-chat`.
pub static GROUP_CHAT: RustFormat = RustFormat {
    message_path: Some(|index| Some(message_path(index))),
    ..RustFormat::of(&ABOUT, |sketch| surest(sketch, recognise), Read::Stored(read))
};

fn message_path(index: u32) -> String {
    format!("$.conversation_list[{index}]")
}

/// Recognises the format in one record.
fn recognise(record: &RecordSketch) -> Option<(u8, Vec<String>)> {
    let has = |wanted: &str| has(record, wanted);
    let holds = |outer: &str, wanted: &str| holds(record, outer, wanted);
    if !has("conversation_list") {
        // The head of the file may end inside a roster of thousands, before the list begins.
        let mut others = ["scene", "scene_desc", "group_id", "conversation_id"].into_iter();
        let is_likely =
            holds("conversation_meta", "user_details") && others.any(|key| holds("conversation_meta", key));
        let why = "conversation_meta holds user_details, and the scene or an id";
        return is_likely.then(|| (60, vec![why.to_owned()]));
    }
    let mut metas = ["conversation_meta", "session_meta"].into_iter();
    let Some(meta) = metas.find(|key| has(key)) else {
        // The format's own importer refuses such a record, but no other format has a list of this name with such
        // messages.
        let is_likely = holds("conversation_list", "message_id") && holds("conversation_list", "create_time");
        let why = "conversation_list holds message_id and create_time, but there is no metadata";
        return is_likely.then(|| (50, vec![why.to_owned()]));
    };
    let mut why = vec![format!("the record has {meta} and conversation_list")];
    if holds(meta, "user_details") {
        why.push(format!("{meta} holds user_details"));
    }
    if holds("conversation_list", "message_id") {
        why.push("conversation_list holds message_id".to_owned());
    }
    let confidence = if why.len() > 1 { 95 } else { 80 };
    Some((confidence, why))
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    if root.kind() != Kind::Object {
        return Err(frame.error(&codes::WRONG_TYPE, "the record is not an object", "$", root));
    }
    let record = Record::read(root).map_err(|key| {
        let text = format!("duplicate key {key} in the record");
        frame.error(&codes::DUPLICATE_KEY, text, format!("$.{key}"), root)
    })?;
    let messages = list::named(frame, "conversation_list", "messages", limits)?;
    let mut list = ListReader::new(frame, limits);
    let notes = &mut list.notes;

    let version = version(&record, notes);
    let envelope = envelope(&record, root, notes);
    let mut meta = Meta::read(&record, notes);
    let shape = meta.shape(&record);
    let title = meta.title(notes);
    let scene = meta.scene(notes);
    let zone_path = format!("{}.default_timezone", meta.path);
    let clock = times::clock(meta.default_timezone, &zone_path, frame.options, notes);
    let roster = Roster::read(&mut meta, notes);

    let mut reader = Reader { list, roster, clock };
    for (index, message) in (0..).zip(messages.items()) {
        reader.read(index, message);
    }
    reader.clock.finish(&mut reader.list.notes);
    Ok(reader.list.finish(Conversation {
        source_id: meta.id,
        format_version: version,
        shape,
        scene,
        title,
        description: meta.description,
        participants: reader.roster.participants,
        extra: meta.extra,
        envelope,
        ..Conversation::default()
    }))
}

/// The version as written. The importer ignores it.
fn version(record: &Record<'_>, notes: &mut Notes) -> Option<String> {
    let (version, code, text) = match field_text(record.version) {
        FieldText::Text(version) if version == VERSION => return Some(version.into_owned()),
        FieldText::Text(version) => {
            let text = "the version is not 1.0.0: the record is read as what it looks like";
            (Some(version.into_owned()), &codes::UNKNOWN_VERSION, text)
        }
        FieldText::Absent | FieldText::Null => (None, &codes::SPARED_FIELD, "the record has no version"),
        FieldText::Number(version) => {
            let text = "the version is a number and is read as text";
            (Some(version.to_owned()), &codes::BEARABLE_TYPE, text)
        }
        FieldText::Other => {
            let text = "the version is not a string and is left out";
            (None, &codes::BEARABLE_TYPE, text)
        }
    };
    let finding = Finding::new(code, text);
    notes.push(finding.at_path("$.version"), record.version);
    version
}

/// Keeps the unknown fields of the top level. If a record has both kinds of metadata, `conversation_meta` is read and
/// the other is kept here.
fn envelope(record: &Record<'_>, root: Value<'_>, notes: &mut Notes) -> Extra {
    let mut fields = ExtraFields::new();
    for (key, value) in &record.others {
        fields.keep(&**key, *value);
    }
    if record.conversation_meta.is_some() {
        fields.keep_some("session_meta", record.session_meta);
    }
    if record.others.len() > 1 {
        notes.repeated_keys(root, "$", |_| false);
    }
    Extra(fields)
}
