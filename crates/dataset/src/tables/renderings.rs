//! The table `renderings`: one row per conversation, dialect, perspective and ordinal; the rows of one conversation
//! are adjacent, so that a page holds the same text many times and compresses well.

use std::ops::Range;
use std::sync::Arc;

use crate::column::{Column, SPAN, Structs};
use crate::table::Table;

/// A row of `renderings`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct RenderingRow {
    pub conversation_id: Arc<str>,
    pub dialect: Arc<str>,
    pub profile: Arc<str>,
    pub perspective: Arc<str>,
    pub ordinal: u32,
    pub media_type: &'static str,
    pub content: Option<String>,
    pub bytes: u64,
    /// One count per encoding, in the order of [`TableOptions::encodings`](crate::TableOptions::encodings).
    pub tokens: Vec<u64>,
    pub requests: u64,
    /// As many as `tokens`.
    pub sent_tokens: Vec<u64>,
    pub coverage: &'static str,
    pub first_position: Option<u32>,
    pub last_position: Option<u32>,
    pub messages_rendered: u32,
    pub last_role: Option<&'static str>,
    pub assistant_messages: u32,
    pub assistant_spans: Vec<Range<u64>>,
    pub loss_count: u64,
    pub loss_codes: Vec<String>,
    pub valid: bool,
    pub violations: Vec<String>,
}

impl Table for RenderingRow {
    const NAME: &'static str = "renderings";
    const ABOUT: &'static str =
        "One row per rendering: a conversation in a dialect, seen from a perspective.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::key("conversation_id", "its conversation", |row| &row.conversation_id),
        Column::key("dialect", "id of the dialect", |row| &row.dialect),
        Column::key("profile", "profile of the dialect", |row| &row.profile),
        Column::key(
            "perspective",
            "participant who is the assistant, empty for none",
            |row| &row.perspective,
        ),
        Column::number(
            "ordinal",
            "place among the renderings of this key, from 0",
            |row| row.ordinal.into(),
        ),
        Column::key("media_type", "media type of the content", |row| row.media_type),
        Column::optional_text("content", "the rendering; null when it was not kept", |row| {
            row.content.as_deref()
        }),
        Column::number("bytes", "bytes of the rendering", |row| row.bytes),
        Column::per_encoding("tokens of the rendering", |row| &row.tokens),
        Column::number(
            "requests",
            "how often it is sent as it is served: once per answer",
            |row| row.requests,
        ),
        Column::sent_per_encoding(
            "estimate: tokens of all requests, each with what stands before its answer",
            |row| &row.sent_tokens,
        ),
        Column::key("coverage", "`whole`, `window` or `single-turn`", |row| {
            row.coverage
        }),
        Column::optional_number(
            "first_position",
            "place of the first message that it shows, system text in front of a window aside",
            |row| row.first_position.map(u64::from),
        ),
        Column::optional_number(
            "last_position",
            "place of the last message that it shows",
            |row| row.last_position.map(u64::from),
        ),
        Column::number("messages_rendered", "messages that it shows", |row| {
            row.messages_rendered.into()
        }),
        Column::optional_key("last_role", "role of its last turn", |row| row.last_role),
        Column::number("assistant_messages", "messages that the assistant says", |row| {
            row.assistant_messages.into()
        }),
        Column::structs(
            "assistant_spans",
            "bytes of `content` that the perspective says; empty where `content` is null",
            &Structs {
                columns: SPAN,
                repeats: false,
                cell: |row: &Self| &row.assistant_spans,
            },
        ),
        Column::number(
            "loss_count",
            "what it lost: the sum of `amount` in `losses`",
            |row| row.loss_count,
        ),
        Column::text_list("loss_codes", "codes of its losses, each once", |row| {
            &row.loss_codes
        }),
        Column::flag("valid", "whether the dialect's consumer accepts it", |row| {
            row.valid
        }),
        Column::text_list("violations", "rules that it breaks", |row| &row.violations),
    ];

    fn dialect(row: &Self) -> Option<&str> {
        Some(&row.dialect)
    }
}
