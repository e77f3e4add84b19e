//! gryag's database: the table `messages` of a Telegram bot, in SQLite or PostgreSQL, in a dump or row by row
//! as JSON.
//!
//! A conversation is the rows of one chat, or of one thread of a chat, in the order of the row ids.
//! Telegram's metadata of a message is JSON in the column `media`, next to its pictures, and since October 2025 also in
//! separate columns:
//!
//! ```json
//! {"id": 71, "chat_id": -100, "thread_id": null, "user_id": 9, "role": "user", "text": "Morning", "ts": 1760688000,
//!  "media": {"media": [], "meta": {"chat_id": -100, "message_id": 5, "user_id": 9, "name": "Ann", "username": "@ann"}}}
//! ```
//!
//! The id of a message is Telegram's, because replies name that one; the id of the row stays in the extra
//! fields. Rows that the bot wrote twice (every one since November 2025) are read once. Three things are
//! misleading: replies that the bot invented, texts that only count the attachments, and metadata in the
//! bot's own texts.
//!
//! The query that gryag's document shows, `SELECT role, text, media FROM messages ORDER BY id DESC`, gives
//! rows without ids: the chat and message ids are taken from their metadata.
//!
//! Values that the database computes from the texts (embeddings, search vectors) are left out.

mod cells;
mod column;
mod reader;
mod row;
mod stored;
mod tables;

use chatmill_diag::{Finding, Limits};
use chatmill_intake::json::{Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::FormatTraits;

use crate::frame::{FrameView, Reading, Row};
use crate::layout::{has, list};
use crate::rust_format::{Read, RustFormat};
use crate::source::{About, NO_TEXT_ARGUMENTS};

const ID: &str = "gryag-db";

static ABOUT: About = About {
    id: ID,
    title: "gryag database",
    specification: "gryag, db/schema.sql (October 2025 to January 2026) and migrations of 2026",
    verified: "2026-11",
    shapes: &["nine-columns", "normalized", "external-ids", "senders", "2026"],
    carries: "text, media, names, replies, times of storing; not the embeddings and search vectors computed from texts",
    traits: FormatTraits {
        extra_format: Some("gryag"),
        pairs_by_place: true,
        ..NO_TEXT_ARGUMENTS
    },
};

/// The source `gryag-db`.
pub static GRYAG_DB: RustFormat = RustFormat {
    tables: Some(tables::presets),
    rows: Some(rows),
    can_merge: true,
    ..RustFormat::of(&ABOUT, recognise, Read::Thoughts(read))
};

fn recognise(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    let (confidence, why) = sketch.records.iter().find_map(recognise_row)?;
    Some((confidence, vec![why.to_owned()]))
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let no_row = cells::place(frame.root()).is_none().then_some(cells::NO_CHAT);
    let neither = "the record is not a row of a table";
    let rows = list::rows(frame, "the conversation", no_row, neither, limits)?;
    Ok(reader::read(frame, limits, rows))
}

fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    if root.kind() != Kind::Array {
        return cells::place(root).map(|key| vec![Row::of(Some(key), root)]);
    }
    let rows = root.items().map(|row| Row::of(cells::place(row), row));
    Some(rows.collect())
}

/// Recognises the table in one row.
fn recognise_row(record: &RecordSketch) -> Option<(u8, &'static str)> {
    let has = |wanted: &str| has(record, wanted);
    if ["role", "text", "media"].into_iter().all(has) && record.keys.len() == 3 {
        let texts = record.strings.iter().chain(&record.starts);
        let mut quoted = texts.filter(|(key, _)| key == "media").map(|(_, text)| text);
        let mut inside = record.nested.iter();
        let is_gryags = quoted.any(|text| text.starts_with("{\"media\":") || text.starts_with("{\"meta\":"))
            || inside.any(|(key, inner)| key == "media" && inner == "meta");
        let why = "the record is a row with role, text and media, as gryag's document queries it";
        return is_gryags.then_some((90, why));
    }
    if !has("chat_id") || !has("text") {
        return None;
    }
    if has("role") && has("media") && (has("ts") || has("created_at")) {
        let why = "the record is a row with chat_id, role, text, media and a time";
        return Some((95, why));
    }
    let why = "the record is a row with chat_id, text, is_bot_reply and created_at";
    (has("is_bot_reply") && has("created_at")).then_some((90, why))
}
