//! The table `conversations`: one row per conversation, with its roster.

use crate::column::{Column, Structs};
use crate::table::Table;

/// A row of `conversations`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct ConversationRow {
    pub conversation_id: String,
    pub source_conversation_id: Option<String>,
    pub source: String,
    pub format_version: Option<String>,
    pub format_shape: Option<String>,
    pub input: String,
    pub entry: String,
    pub record: u64,
    pub title: Option<String>,
    pub description: Option<String>,
    pub scene: String,
    pub message_count: u32,
    pub participant_count: u32,
    pub started_at: Option<i64>,
    pub ended_at: Option<i64>,
    pub participants: Vec<ParticipantCell>,
    pub tools: Option<String>,
    pub extra: Option<String>,
    pub content_hash: String,
    pub cluster: Option<String>,
    pub duplicate: Option<String>,
}

/// One participant in the column `participants`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct ParticipantCell {
    pub id: String,
    pub name: Option<String>,
    pub alias: Option<String>,
    pub role: Option<String>,
    pub kind: String,
    pub custom_role: Option<String>,
    pub department: Option<String>,
    pub email: Option<String>,
    pub extra: Option<String>,
}

impl Table for ConversationRow {
    const NAME: &'static str = "conversations";
    const ABOUT: &'static str = "One row per conversation.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::key("conversation_id", "id in this dataset, unique", |row| {
            &row.conversation_id
        }),
        Column::optional_text("source_conversation_id", "id that the source wrote", |row| {
            row.source_conversation_id.as_deref()
        }),
        Column::key("source", "id of the source that read it", |row| &row.source),
        Column::optional_key("format_version", "version that the record claims", |row| {
            row.format_version.as_deref()
        }),
        Column::optional_key("format_shape", "shape that was recognised by structure", |row| {
            row.format_shape.as_deref()
        }),
        Column::key("input", "name of the input", |row| &row.input),
        Column::key("entry", "archive member, empty for the file itself", |row| {
            &row.entry
        }),
        Column::number("record", "number of the record in its entry, from 0", |row| {
            row.record
        }),
        Column::optional_text("title", "title", |row| row.title.as_deref()),
        Column::optional_text("description", "description", |row| row.description.as_deref()),
        Column::key("scene", "`assistant`, `group_chat` or `unknown`", |row| {
            &row.scene
        }),
        Column::number("message_count", "messages, notices not counted", |row| {
            row.message_count.into()
        }),
        Column::number("participant_count", "participants in the roster", |row| {
            row.participant_count.into()
        }),
        Column::time("started_at", "earliest usable time", |row| row.started_at),
        Column::time("ended_at", "latest usable time", |row| row.ended_at),
        Column::structs(
            "participants",
            "the roster, in its own order",
            &Structs {
                columns: PARTICIPANT,
                repeats: true,
                cell: |row: &Self| &row.participants,
            },
        ),
        Column::optional_json("tools", "array of tool definitions", |row| row.tools.as_deref()),
        Column::optional_json("extra", "fields without a column, as they were read", |row| {
            row.extra.as_deref()
        }),
        Column::text("content_hash", "BLAKE3 of the canonical content", |row| {
            &row.content_hash
        }),
        Column::optional_key(
            "cluster",
            "what repeats, forks or continues it shares this name; null where nothing does, or was not looked for",
            |row| row.cluster.as_deref(),
        ),
        Column::optional_key(
            "duplicate",
            "`exact` or `near` where it repeats an earlier conversation",
            |row| row.duplicate.as_deref(),
        ),
    ];
}

/// The fields of a participant.
const PARTICIPANT: &[Column<ParticipantCell>] = &[
    Column::key("id", "id in its conversation", |cell| &cell.id),
    Column::optional_key("name", "name", |cell| cell.name.as_deref()),
    Column::optional_key("alias", "second name or user name", |cell| cell.alias.as_deref()),
    Column::optional_key("role", "role that the roster gives", |cell| cell.role.as_deref()),
    Column::key("kind", "human, agent or another kind", |cell| &cell.kind),
    Column::optional_key("custom_role", "free-form role", |cell| {
        cell.custom_role.as_deref()
    }),
    Column::optional_key("department", "department", |cell| cell.department.as_deref()),
    Column::optional_key("email", "mail address", |cell| cell.email.as_deref()),
    Column::optional_json("extra", "fields without a column, as they were read", |cell| {
        cell.extra.as_deref()
    }),
];
