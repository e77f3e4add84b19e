//! The table `message_references`: one row per reference that a message makes.

use crate::column::Column;
use crate::table::Table;

/// A row of `message_references`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct ReferenceRow {
    pub conversation_id: String,
    pub position: u32,
    pub message_id: Option<String>,
    pub ordinal: u32,
    pub path: String,
    pub target_id: Option<String>,
    pub target_position: Option<u32>,
    pub status: String,
    pub same_sender: bool,
    pub preview: Option<String>,
}

impl Table for ReferenceRow {
    const NAME: &'static str = "message_references";
    const ABOUT: &'static str = "One row per reference that a message makes, and per reference that such a reference shows in its turn.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::key("conversation_id", "its conversation", |row| &row.conversation_id),
        Column::number("position", "place of the message that refers", |row| {
            row.position.into()
        }),
        Column::optional_text("message_id", "id of the message that refers", |row| {
            row.message_id.as_deref()
        }),
        Column::number(
            "ordinal",
            "place among the references of its message, from 0",
            |row| row.ordinal.into(),
        ),
        Column::key(
            "path",
            "its own place: the ordinal, then its place among those that this one shows, and so on: `0`, `0.1`",
            |row| &row.path,
        ),
        Column::optional_text("target_id", "id that it refers to", |row| {
            row.target_id.as_deref()
        }),
        Column::optional_number(
            "target_position",
            "place of the message that it resolves to",
            |row| row.target_position.map(u64::from),
        ),
        Column::key(
            "status",
            "`resolved`, `preview`, `dangling`, `itself`, `cyclic` or `pseudo`",
            |row| &row.status,
        ),
        Column::flag(
            "same_sender",
            "whether both messages have the same sender",
            |row| row.same_sender,
        ),
        Column::optional_json("preview", "what the source showed of the target", |row| {
            row.preview.as_deref()
        }),
    ];
}
