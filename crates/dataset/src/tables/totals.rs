//! The table `totals`: the bill, per source, dialect, profile, encoding and coverage.

use crate::column::Column;
use crate::table::Table;

/// A row of `totals`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct TotalRow {
    pub source: String,
    pub dialect: String,
    pub profile: String,
    pub encoding: String,
    pub coverage: String,
    pub conversations: u64,
    pub messages_rendered: u64,
    pub bytes: u64,
    pub tokens: u64,
    pub content: u64,
    pub names: u64,
    pub framing: u64,
    pub tools: u64,
    pub replies: u64,
    pub meta: u64,
    pub assistant_content: u64,
    pub requests: u64,
    pub tokens_sent: u64,
    pub p50: u64,
    pub p95: u64,
    pub p99: u64,
    pub invalid: u64,
    pub losses: u64,
}

impl Table for TotalRow {
    const NAME: &'static str = "totals";
    const ABOUT: &'static str = "One row per source, dialect, profile, encoding and coverage.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::key("source", "id of the source", |row| &row.source),
        Column::key("dialect", "id of the dialect", |row| &row.dialect),
        Column::key("profile", "profile of the dialect", |row| &row.profile),
        Column::key("encoding", "name of the encoding", |row| &row.encoding),
        Column::key("coverage", "`whole`, `window` or `single-turn`", |row| {
            &row.coverage
        }),
        Column::number("conversations", "conversations", |row| row.conversations),
        Column::number("messages_rendered", "messages that the renderings show", |row| {
            row.messages_rendered
        }),
        Column::number("bytes", "bytes of the renderings", |row| row.bytes),
        Column::number("tokens", "tokens of the renderings", |row| row.tokens),
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
        Column::number(
            "requests",
            "how often the chats are sent as they are served: once per answer",
            |row| row.requests,
        ),
        Column::number(
            "tokens_sent",
            "estimate: tokens of all requests, each with what stands before its answer",
            |row| row.tokens_sent,
        ),
        Column::number("p50", "median of tokens per rendering", |row| row.p50),
        Column::number("p95", "95th percentile of tokens per rendering", |row| row.p95),
        Column::number("p99", "99th percentile of tokens per rendering", |row| row.p99),
        Column::number("invalid", "renderings that are not valid", |row| row.invalid),
        Column::number(
            "losses",
            "what they lost: the sum of `amount` in `losses`",
            |row| row.losses,
        ),
    ];
}
