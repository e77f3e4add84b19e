//! `[table_map]`: which table of a database holds messages, and which column is what.

use std::collections::BTreeMap;

use chatmill_model::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One `[table_map.NAME]` section. Columns are named as the table names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableMapSection {
    /// Name of the table, with its schema (`public.posts`) where only that one is meant.
    pub table: String,
    /// Source that reads the rows.
    #[serde(default = "table_rows")]
    pub source: String,
    /// Column with the id of a message.
    #[serde(default)]
    pub id: Option<String>,
    /// Column that says to which conversation a row belongs.
    #[serde(default)]
    pub conversation: Option<String>,
    /// Column by which the rows of a conversation are ordered; without it, `created_at`, then the order of the input.
    #[serde(default)]
    pub order: Option<String>,
    /// Column that says who speaks: a person, the assistant, the system or a tool.
    #[serde(default)]
    pub role: Option<String>,
    /// Column with the id of the sender.
    #[serde(default)]
    pub sender: Option<String>,
    /// Column with the name of the sender.
    #[serde(default)]
    pub sender_name: Option<String>,
    /// Column with the text, or with JSON that holds it.
    #[serde(default)]
    pub content: Option<String>,
    /// Column with JSON that says more about the message.
    #[serde(default)]
    pub metadata: Option<String>,
    /// Column with the id of the message that is answered.
    #[serde(default)]
    pub reply_to: Option<String>,
    /// Column with the time of the message.
    #[serde(default)]
    pub created_at: Option<String>,
    /// Further columns: what the source calls them, and their names in the table.
    #[serde(default)]
    pub columns: BTreeMap<String, String>,
    /// All columns of the table in their order, for dumps that name them nowhere (`--inserts --data-only`).
    #[serde(default)]
    pub definition: Vec<String>,
    /// Columns whose text is JSON; without it, those of content and metadata.
    #[serde(default)]
    pub json: Option<Vec<String>>,
    /// Values of the role column, and the roles that they mean: `{ visitor = "user", operator = "assistant" }`. A truth value
    /// is written as `true` or `false`.
    #[serde(default)]
    pub roles: BTreeMap<String, Role>,
    /// Rows to read: columns, and the texts of which the cell must be one. Other rows are passed over.
    #[serde(default)]
    pub filter: BTreeMap<String, Vec<String>>,
}

fn table_rows() -> String {
    "table-rows".to_owned()
}
