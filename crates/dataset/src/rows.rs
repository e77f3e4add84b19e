//! The rows of all tables, one struct a table; fields are named like the columns.

pub use crate::tables::{
    AlternativeRow, ConversationRow, FindingRow, LossRow, MessageRow, ParticipantCell, ReferenceRow,
    RejectRow, RenderingRow, TokenCountRow, ToolCallRow, TotalRow,
};
