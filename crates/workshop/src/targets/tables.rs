//! Tables: the guarantees of the reader hold for dumps and CSV with selected rows, and each row is a JSON object.

use std::sync::Arc;

use chatmill_intake::table::{TableFilter, TableMap};

use super::reader;

/// The presets of every source, and maps that select as many rows as possible.
fn maps() -> Arc<[TableMap]> {
    let text = |text: &str| text.to_owned();
    let wide = TableMap {
        source: text("any"),
        table: text("messages"),
        columns: vec![(text("body"), text("content"))],
        json: vec![text("content"), text("metadata")],
        ..TableMap::default()
    };
    let notes = TableMap {
        source: text("any"),
        table: text("notes"),
        requires: vec![text("id"), text("text")],
        filters: vec![TableFilter {
            column: text("id"),
            one_of: vec![None, Some(text("1")), Some(text("2"))],
        }],
        ..TableMap::default()
    };
    let presets = chatmill_source::SOURCES.iter().flat_map(|source| source.tables());
    presets.chain([wide, notes]).collect()
}

pub(super) fn check(bytes: &[u8]) {
    reader::check(bytes, &maps());
}

/// Whether bytes look like a dump or a table.
pub(super) fn is_table(bytes: &[u8]) -> bool {
    let starts = |beginning: &[u8]| bytes.starts_with(beginning);
    let holds = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    starts(b"PGDMP")
        || starts(b"SQLite format 3")
        || holds(b"INSERT INTO")
        || holds(b"COPY ")
        || holds(b"id,text\n")
        || holds(b"message_id,")
}
