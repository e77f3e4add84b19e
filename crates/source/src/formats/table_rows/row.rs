//! The columns of a row.

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::Value;

use crate::base::{Wire as _, id, wire};

wire! {
    /// The columns that are read. `source_type` is the table's own word for the role, if a map translated it.
    Columns {
        id: "id",
        conversation: "conversation",
        order: "order",
        role: "role",
        sender: "sender",
        sender_name: "sender_name",
        content: "content",
        metadata: "metadata",
        reply_to: "reply_to",
        created: "created_at",
        source_type: "source_type",
        tool_calls: "tool_calls",
        tool_call_id: "tool_call_id",
        name: "name",
        model: "model",
    }
}

/// A row; columns that are null are absent.
#[derive(Debug)]
pub(super) struct Row<'d> {
    /// The index of the row in the record.
    pub index: u32,
    /// The whole row.
    pub value: Value<'d>,
    /// Id of the message.
    pub id: Option<String>,
    /// The columns of the row.
    pub columns: Columns<'d>,
}

impl<'d> Row<'d> {
    /// The row with these columns; a finding if it is rejected.
    pub(super) fn of(index: u32, value: Value<'d>, columns: Columns<'d>) -> Result<Self, Box<Finding>> {
        let columns = columns.without_nulls();
        let used_columns = [columns.role, columns.sender, columns.content, columns.tool_calls];
        if used_columns.iter().all(Option::is_none) {
            let text = "the row has neither role, sender nor content and is rejected: the table map may name other columns";
            return Err(Box::new(Finding::new(&codes::MISSING_FIELD, text)));
        }
        Ok(Self {
            index,
            value,
            id: columns.id.and_then(id),
            columns,
        })
    }
}
