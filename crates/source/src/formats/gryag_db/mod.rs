//! gryag's database: the table `messages` of a Telegram bot, in SQLite or PostgreSQL, in a dump or row by row as JSON.
//!
//! A conversation is what one chat, or one thread of a chat, has in the table, in the order of the row ids. What Telegram
//! knew of a message stands as JSON in the column `media`, beside its pictures, and since October 2025 in columns of its
//! own as well:
//!
//! ```json
//! {"id": 71, "chat_id": -100, "thread_id": null, "user_id": 9, "role": "user", "text": "Morning", "ts": 1760688000,
//!  "media": {"media": [], "meta": {"chat_id": -100, "message_id": 5, "user_id": 9, "name": "Ann", "username": "@ann"}}}
//! ```
//!
//! The id of a message is Telegram's, because replies name that one; the id of the row stays in the extra fields. Rows
//! that the bot wrote twice (every one since November 2025) are read once. Three things look like what they are not:
//! replies that the bot made up, texts that only count the attachments, and metadata in the bot's own texts.
//!
//! The query that gryag's document shows, `SELECT role, text, media FROM messages ORDER BY id DESC`, gives rows without ids: what
//! their metadata says of chat and message has to do.
//!
//! Left out are what the database computes from the texts: embeddings and search vectors.

mod cells;
mod column;
mod reader;
mod row;
mod stored;
mod tables;

use chatmill_diag::Limits;
use chatmill_intake::json::{Document, Kind};
use chatmill_intake::table::TableMap;
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::Customs;

use crate::frame::{FrameView, Reading, Row};
use crate::reader::{has, list, reading};
use crate::source::{About, NO_TEXT_ARGUMENTS, Source};

const ID: &str = "gryag-db";

/// The source `gryag-db`.
#[derive(Debug)]
pub struct GryagDb;

static ABOUT: About = About {
    id: ID,
    title: "gryag database",
    specification: "gryag, db/schema.sql (October 2025 to January 2026) and migrations of 2026",
    shapes: &["nine-columns", "normalized", "external-ids", "senders", "2026"],
    carries: "text, media, names, replies, times of storing; not the embeddings and search vectors computed from texts",
    customs: Customs {
        kept_form: Some("gryag"),
        pairs_by_place: true,
        ..NO_TEXT_ARGUMENTS
    },
};

impl Source for GryagDb {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        let (confidence, why) = sketch.records.iter().find_map(recognise)?;
        Some((confidence, vec![why.to_owned()]))
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        let no_row = cells::place(frame.root()).is_none().then_some(cells::NO_CHAT);
        let neither = "the record is not a row of a table";
        let rows = list::rows(*frame, "the conversation", no_row, neither, limits);
        reading(ABOUT.customs, rows.map(|rows| reader::read(*frame, limits, rows)))
    }

    fn tables(&self) -> Vec<TableMap> {
        tables::presets()
    }

    fn gathers(&self, _sketch: &Sketch) -> bool {
        true
    }

    fn can_merge(&self) -> bool {
        true
    }

    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        if root.kind() == Kind::Array {
            let rows = root.items().map(|row| Row::of(cells::place(row), row));
            return Some(rows.collect());
        }
        cells::place(root).map(|key| vec![Row::of(Some(key), root)])
    }
}

/// Recognises the table in one row.
fn recognise(record: &RecordSketch) -> Option<(u8, &'static str)> {
    let has = |wanted: &str| has(record, wanted);
    if ["role", "text", "media"].into_iter().all(has) && record.keys.len() == 3 {
        let texts = record.strings.iter().chain(&record.starts);
        let mut quoted = texts.filter(|(key, _)| key == "media").map(|(_, text)| text);
        let mut inside = record.nested.iter();
        let is_gryags = quoted.any(|text| text.starts_with("{\"media\":") || text.starts_with("{\"meta\":"))
            || inside.any(|(key, inner)| key == "media" && inner == "meta");
        return is_gryags.then_some((
            90,
            "the record is a row with role, text and media, as gryag's document queries it",
        ));
    }
    if !has("chat_id") || !has("text") {
        return None;
    }
    if has("role") && has("media") && (has("ts") || has("created_at")) {
        return Some((
            95,
            "the record is a row with chat_id, role, text, media and a time",
        ));
    }
    if has("is_bot_reply") && has("created_at") {
        return Some((
            90,
            "the record is a row with chat_id, text, is_bot_reply and created_at",
        ));
    }
    None
}
