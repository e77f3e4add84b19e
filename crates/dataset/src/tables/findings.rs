//! The table `findings`: every diagnostic with its place.

use crate::column::Column;
use crate::table::Table;

/// A row of `findings`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct FindingRow {
    pub code: String,
    pub name: String,
    pub severity: String,
    pub count: u64,
    pub key: String,
    pub input: String,
    pub entry: String,
    pub record: Option<u64>,
    pub conversation_id: Option<String>,
    pub position: Option<u32>,
    pub message_id: Option<String>,
    pub line_number: Option<u64>,
    pub column_number: Option<u64>,
    pub byte_start: Option<u64>,
    pub byte_end: Option<u64>,
    pub json_path: Option<String>,
    pub message: String,
    pub help: String,
}

impl Table for FindingRow {
    const NAME: &'static str = "findings";
    const ABOUT: &'static str = "One row per finding: what was seen, where, and what to do.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::key("code", "two letters and three digits", |row| &row.code),
        Column::key("name", "name of the code", |row| &row.name),
        Column::key("severity", "`error`, `warning` or `note`", |row| &row.severity),
        Column::number("count", "occurrences that this row stands for", |row| row.count),
        Column::text("key", "hash that stays the same when lines shift", |row| &row.key),
        Column::key("input", "name of the input", |row| &row.input),
        Column::key("entry", "archive member, empty for the file itself", |row| {
            &row.entry
        }),
        Column::optional_number("record", "number of the record in its entry, from 0", |row| {
            row.record
        }),
        Column::optional_key("conversation_id", "its conversation", |row| {
            row.conversation_id.as_deref()
        }),
        Column::optional_number("position", "place of the message, from 0", |row| {
            row.position.map(u64::from)
        }),
        Column::optional_text("message_id", "id of the message", |row| row.message_id.as_deref()),
        Column::optional_number("line_number", "line, from 1", |row| row.line_number),
        Column::optional_number("column_number", "column in code points, from 1", |row| {
            row.column_number
        }),
        Column::optional_number("byte_start", "first byte in the decompressed entry", |row| {
            row.byte_start
        }),
        Column::optional_number("byte_end", "one past its last byte", |row| row.byte_end),
        Column::optional_text("json_path", "path inside the record", |row| {
            row.json_path.as_deref()
        }),
        Column::key("message", "what was seen", |row| &row.message),
        Column::key("help", "how to mend it at the source", |row| &row.help),
    ];
}
