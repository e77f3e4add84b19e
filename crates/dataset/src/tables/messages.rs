//! The table `messages`: one row per message and notice, in canonical order.

use crate::column::Column;
use crate::table::Table;

/// A row of `messages`.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct MessageRow {
    pub conversation_id: String,
    pub position: u32,
    pub message_id: Option<String>,
    pub sender_id: Option<String>,
    pub sender_name: Option<String>,
    pub role: String,
    pub kind: String,
    pub source_type: Option<String>,
    pub created_at: Option<i64>,
    pub created_at_raw: Option<String>,
    pub text: String,
    pub parts: Option<String>,
    pub mentions: Vec<String>,
    pub weight: Option<f64>,
    pub extra: Option<String>,
    pub byte_start: u64,
    pub byte_end: u64,
    /// One count per encoding, in the order of [`TableOptions::encodings`](crate::TableOptions::encodings).
    pub tokens: Vec<u64>,
}

impl Table for MessageRow {
    const NAME: &'static str = "messages";
    const ABOUT: &'static str = "One row per message or notice, in canonical order.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::key("conversation_id", "its conversation", |row| &row.conversation_id),
        Column::number("position", "place in the conversation, from 0", |row| {
            row.position.into()
        }),
        Column::optional_text("message_id", "id, unique in its conversation", |row| {
            row.message_id.as_deref()
        }),
        Column::optional_key("sender_id", "participant who sent it", |row| {
            row.sender_id.as_deref()
        }),
        Column::optional_key("sender_name", "name that it was sent under", |row| {
            row.sender_name.as_deref()
        }),
        Column::key("role", "role of the sender", |row| &row.role),
        Column::key("kind", "`message` or `notice`", |row| &row.kind),
        Column::optional_key("source_type", "type that the source wrote", |row| {
            row.source_type.as_deref()
        }),
        Column::time("created_at", "when it was sent", |row| row.created_at),
        Column::optional_text("created_at_raw", "the time as the source wrote it", |row| {
            row.created_at_raw.as_deref()
        }),
        Column::text("text", "text parts, joined by a line break", |row| &row.text),
        Column::optional_json(
            "parts",
            "array of parts, each with its `type`; null where the message is one text part and `text` says all of it",
            |row| row.parts.as_deref(),
        ),
        Column::text_list("mentions", "participants or names that it mentions", |row| {
            &row.mentions
        }),
        Column::optional_real(
            "weight",
            "how much it counts in training, where the source says: 0 is context only, 1 is learned from",
            |row| row.weight,
        ),
        Column::optional_json("extra", "fields without a column, as they were read", |row| {
            row.extra.as_deref()
        }),
        Column::number("byte_start", "first byte in the decompressed entry", |row| {
            row.byte_start
        }),
        Column::number("byte_end", "one past its last byte", |row| row.byte_end),
        Column::per_encoding("tokens of `text`", |row| &row.tokens),
    ];
}
