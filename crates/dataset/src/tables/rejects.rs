//! The table `rejects`: every record or message that could not be kept, with its byte range.

use crate::column::Column;
use crate::table::Table;

/// A row of `rejects`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct RejectRow {
    pub input: String,
    pub entry: String,
    pub record: u64,
    pub level: String,
    pub byte_start: u64,
    pub byte_end: u64,
    pub frame_hash: String,
    pub code: String,
    pub message: String,
    pub head: Vec<u8>,
}

impl Table for RejectRow {
    const NAME: &'static str = "rejects";
    const ABOUT: &'static str =
        "One row per record or message that could not be kept; enough to find it again.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::key("input", "name of the input", |row| &row.input),
        Column::key("entry", "archive member, empty for the file itself", |row| {
            &row.entry
        }),
        Column::number("record", "number of the record in its entry, from 0", |row| {
            row.record
        }),
        Column::key("level", "`frame` or `message`", |row| &row.level),
        Column::number("byte_start", "first byte in the decompressed entry", |row| {
            row.byte_start
        }),
        Column::number("byte_end", "one past its last byte", |row| row.byte_end),
        Column::text("frame_hash", "BLAKE3 of the rejected bytes", |row| {
            &row.frame_hash
        }),
        Column::key("code", "code of the finding that says why", |row| &row.code),
        Column::key("message", "what was seen", |row| &row.message),
        Column::bytes("head", "the first bytes, at most `limits.reject_head`", |row| {
            &row.head
        }),
    ];
}
