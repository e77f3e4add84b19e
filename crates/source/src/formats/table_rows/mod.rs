//! Rows of any chat table. A table map of the pipeline gives its columns these names: `id`, `conversation`, `order`, `role`, `sender`,
//! `sender_name`, `content`, `metadata`, `reply_to`, `created_at`, and if a table has them `model`, and `tool_calls`, `tool_call_id` and
//! `name` with `OpenAI`'s meanings. Only `role` or `sender`, and `content`, are needed.
//!
//! A record is the list of all rows of one conversation. The smallest example:
//!
//! ```json
//! [{"conversation": "7", "role": "customer", "content": "Is it open?"},
//!  {"conversation": "7", "role": "bot", "content": "From nine to five."}]
//! ```
//!
//! Rows are sorted by `order`, if all have one, else by `created_at`, then by ids that are numbers, and then in input order. Content is
//! a text, or if its column is JSON a list of parts or a message object of `OpenAI`. Rows with these names need no map; other names of
//! the conversation are known as well (`conversation_id`, `thread_id` …).

pub(crate) mod content;
mod messages;
mod order;
mod row;

use chatmill_diag::{Finding, Limits};
use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_intake::table::TableMap;
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Conversation, FormatTraits};

use crate::base::conversations::{CONVERSATION_NAMES, names_conversation};
use crate::base::{Wire as _, id};
use crate::frame::{FrameView, Reading, Row};
use crate::layout::{Turns, list};
use crate::rust_format::{Read, RustFormat, table_map};
use crate::source::About;
use row::Columns;

const ID: &str = "table-rows";

static ABOUT: About = About {
    id: ID,
    title: "Rows of a mapped table",
    specification: "the columns that a [table_map] of the pipeline file names",
    verified: "2026-11",
    shapes: &["table"],
    carries: "roles, speakers, times, replies, text, pictures, sound and files, tool calls and results",
    traits: FormatTraits::USUAL,
};

/// The source `table-rows`.
pub static TABLE_ROWS: RustFormat = RustFormat {
    tables: Some(tables),
    rows: Some(rows),
    can_merge: true,
    ..RustFormat::of(&ABOUT, recognise, Read::Thoughts(read))
};

fn recognise(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    let is_row = |record: &RecordSketch| {
        let has = |name: &str| record.names(name) || record.names(&format!("[].{name}"));
        has("conversation") && has("content") && (has("role") || has("sender"))
    };
    let why = "rows name their conversation, the speaker and the content";
    if sketch.records.iter().any(is_row) {
        return Some((75, vec![why.to_owned()]));
    }
    // Rows with other names for the conversation may belong to a known system, so that the confidence is low.
    let is_named = |record: &RecordSketch| {
        let mut who = ["role", "sender"].into_iter();
        let names_one = || record.keys.iter().any(|key| names_conversation(key));
        record.is_object && record.names("content") && who.any(|name| record.names(name)) && names_one()
    };
    let is_known = !sketch.records.is_empty() && sketch.records.iter().all(is_named);
    is_known.then(|| (51, vec![why.to_owned()]))
}

/// Maps for rows that already have these names: files, and tables of any name if they name their conversation.
fn tables() -> Vec<TableMap> {
    let mut maps = Vec::new();
    for who in ["role", "sender"] {
        for table in [ID, TableMap::ANY] {
            let names = [TableMap::CONVERSATION, who, "content"];
            maps.push(TableMap {
                columns: names.map(|name| (name.to_owned(), name.to_owned())).to_vec(),
                conversation_names: &CONVERSATION_NAMES,
                ..table_map([ID, ID, table], &names, &[])
            });
        }
    }
    maps.extend(["role", "sender"].map(|who| table_map([ID; 3], &[who, "content"], &[])));
    maps
}

/// The rows, each with its conversation. A row with an empty column `conversation` is a separate conversation.
fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    let row = |value: Value<'_>| {
        let column = value.get("conversation");
        let key = column.and_then(id).filter(|key| !key.is_empty());
        Row {
            is_alone: key.is_none() && column.is_some_and(|cell| cell.is_null() || cell.as_str().is_some()),
            ..Row::of(key, value)
        }
    };
    match root.kind() {
        Kind::Array => Some(root.items().map(row).collect()),
        Kind::Object => Some(vec![row(root)]),
        _ => None,
    }
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let neither = "the record is neither a row nor a list of rows";
    let mut turns = Turns::new(frame, limits);
    let values = list::rows(frame, "the conversation", None, neither, limits)?;
    let mut rows = turns.list.rows(values, Columns::read, row::Row::of);
    order::arrange(&mut rows, &mut turns.list.notes);
    let of_rows = || rows.iter().find_map(|row| row.columns.conversation.and_then(id));
    let source_id = frame.key.map(str::to_owned).or_else(of_rows);
    for row in &rows {
        // Each row repeats the id of its conversation, which is that of the frame.
        let conversation = row.columns.conversation;
        if let Some(id) = conversation.filter(|id| matches!(id.kind(), Kind::String | Kind::Number)) {
            id.mark(Mark::Taken);
        }
        messages::accept(&mut turns, row);
    }
    Ok(turns.finish(Conversation {
        source_id,
        shape: "table",
        ..Conversation::default()
    }))
}
