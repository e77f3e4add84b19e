//! The table `token_counts`: the price of each rendering in each encoding, and what it consists of.

use std::sync::Arc;

use crate::column::Column;
use crate::table::Table;

/// A row of `token_counts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct TokenCountRow {
    pub conversation_id: Arc<str>,
    pub dialect: Arc<str>,
    pub profile: Arc<str>,
    pub perspective: Arc<str>,
    pub ordinal: u32,
    pub encoding: Arc<str>,
    pub tokens: u64,
    pub content: u64,
    pub names: u64,
    pub framing: u64,
    pub tools: u64,
    pub replies: u64,
    pub meta: u64,
    pub assistant_content: u64,
}

impl Table for TokenCountRow {
    const NAME: &'static str = "token_counts";
    const ABOUT: &'static str = "One row per rendering and encoding; content, names, framing, tools, replies and meta \
                                 add up to tokens.";
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
        Column::key("encoding", "name of the encoding", |row| &row.encoding),
        Column::number("tokens", "tokens of the rendering", |row| row.tokens),
        Column::number("content", "tokens of what was said", |row| row.content),
        Column::number("names", "tokens of names", |row| row.names),
        Column::number("framing", "tokens of the dialect's own syntax", |row| row.framing),
        Column::number("tools", "tokens of tool definitions, calls and results", |row| {
            row.tools
        }),
        Column::number("replies", "tokens of quoted references", |row| row.replies),
        Column::number("meta", "tokens of ids, times and other marks", |row| row.meta),
        Column::number(
            "assistant_content",
            "the share of content that the assistant says",
            |row| row.assistant_content,
        ),
    ];
}
