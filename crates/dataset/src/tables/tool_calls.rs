//! The table `tool_calls`: one row per call and per result that answers no call or answers it again.

use crate::column::Column;
use crate::table::Table;

/// A row of `tool_calls`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns below say what each field holds")]
pub struct ToolCallRow {
    pub conversation_id: String,
    pub call_id: Option<String>,
    pub name: Option<String>,
    pub arguments: Option<String>,
    pub arguments_valid: Option<bool>,
    pub call_position: Option<u32>,
    pub result_position: Option<u32>,
    pub result: Option<String>,
    pub is_error: Option<bool>,
    pub status: String,
    pub paired_by: Option<String>,
}

impl Table for ToolCallRow {
    const NAME: &'static str = "tool_calls";
    const ABOUT: &'static str =
        "One row per tool call, and per result that answers no call or answers it again.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::key("conversation_id", "its conversation", |row| &row.conversation_id),
        Column::optional_text("call_id", "id that binds call and result", |row| {
            row.call_id.as_deref()
        }),
        Column::optional_key("name", "name of the tool", |row| row.name.as_deref()),
        Column::optional_text(
            "arguments",
            "arguments as the source wrote them, JSON or not",
            |row| row.arguments.as_deref(),
        ),
        Column::optional_flag(
            "arguments_valid",
            "whether the arguments are a JSON object",
            |row| row.arguments_valid,
        ),
        Column::optional_number("call_position", "place of the message that calls", |row| {
            row.call_position.map(u64::from)
        }),
        Column::optional_number("result_position", "place of the message that answers", |row| {
            row.result_position.map(u64::from)
        }),
        Column::optional_text("result", "content of the result", |row| row.result.as_deref()),
        Column::optional_flag("is_error", "whether the result reports an error", |row| {
            row.is_error
        }),
        Column::key(
            "status",
            "`paired`, `late`, `early`, `unanswered`, `orphaned` or `duplicate`",
            |row| &row.status,
        ),
        Column::optional_key("paired_by", "`id`, `metadata`, `position` or `name`", |row| {
            row.paired_by.as_deref()
        }),
    ];
}
