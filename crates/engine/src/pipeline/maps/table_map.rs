//! `[table_map]`: the table of a database that contains messages, and the meaning of its columns.

use std::collections::BTreeMap;

use chatmill_model::Role;
use chatmill_source::TableMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One `[table_map.NAME]` section. Columns are named as the table names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableMapSection {
    /// The name of the table, with its schema (`public.posts`) if other schemas
    /// have a table of this name; a list names tables that are read as one.
    pub table: TableNames,
    /// The source that reads the rows.
    #[serde(default = "table_rows")]
    pub source: String,
    /// The column with the id of a message.
    #[serde(default)]
    pub id: Option<String>,
    /// The column with the id of the conversation that a row belongs to.
    #[serde(default)]
    pub conversation: Option<String>,
    /// The column that orders the rows of a conversation; the default is `created_at`, then the order of the input.
    #[serde(default)]
    pub order: Option<String>,
    /// The column with the role of the speaker: a person, the assistant, the system or a tool.
    #[serde(default)]
    pub role: Option<String>,
    /// The column with the id of the sender.
    #[serde(default)]
    pub sender: Option<String>,
    /// The column with the name of the sender.
    #[serde(default)]
    pub sender_name: Option<String>,
    /// The table that has the names of senders.
    #[serde(default)]
    pub sender_from: Option<SenderTableSection>,
    /// The column with the text, or with JSON that contains it.
    #[serde(default)]
    pub content: Option<String>,
    /// The column with JSON metadata of the message.
    #[serde(default)]
    pub metadata: Option<String>,
    /// The column with the id of the message that is answered.
    #[serde(default)]
    pub reply_to: Option<String>,
    /// The column with the time of the message.
    #[serde(default)]
    pub created_at: Option<String>,
    /// Further columns: the source's name of each, and its name in the table.
    #[serde(default)]
    pub columns: BTreeMap<String, String>,
    /// All columns of the table in their order, for dumps that do not name them (`--inserts --data-only`).
    #[serde(default)]
    pub definition: Vec<String>,
    /// The columns with JSON text, in addition to those that the table
    /// declares as JSON; the default is the column of `metadata`.
    #[serde(default)]
    pub json: Option<Vec<String>>,
    /// The roles that values of the role column mean: `{ visitor = "user", operator = "assistant" }`. A boolean is written as
    /// `true` or `false`.
    #[serde(default)]
    pub roles: BTreeMap<String, Role>,
    /// The rows that are read: for each column, the accepted values. Other rows are skipped.
    #[serde(default)]
    pub filter: BTreeMap<String, Vec<String>>,
}

/// A table with the names of senders: in the same database or
/// dump, or a CSV file of this name in the same `[[input]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SenderTableSection {
    /// The name of the table.
    pub table: String,
    /// The column with the id that other rows have in their column `sender`.
    pub id: String,
    /// The column with the name.
    #[serde(default)]
    pub name: Option<String>,
    /// The column with a truth value: whether the sender is an agent.
    #[serde(default)]
    pub agent: Option<String>,
}

/// A table, or several tables that are read as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "the name of a table or a list of names")]
pub enum TableNames {
    /// One table.
    One(String),
    /// Several tables that are read as one.
    Many(Vec<String>),
}

impl Default for TableNames {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl TableNames {
    /// Returns these tables and one more, which replaces a name for any table.
    pub(crate) fn with(&self, name: String) -> Self {
        let named = self.names().iter().filter(|known| *known != TableMap::ANY);
        Self::Many(named.cloned().chain([name]).collect())
    }

    /// Returns the names as written.
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

fn table_rows() -> String {
    "table-rows".to_owned()
}
