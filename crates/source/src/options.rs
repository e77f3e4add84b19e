//! Options of reading beside the limits: choices of a pipeline file or a check for single formats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What reading is told beside the limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions<'o> {
    /// Which branches of a tree of messages are conversations.
    pub branches: Branches,
    /// What of a channel is a conversation.
    pub division: Division,
    /// The zone of times without an offset where a conversation names none: an IANA name or an offset. Only a check takes one, and
    /// writes no instant by it.
    pub zone: Option<&'o str>,
}

/// Which branches of a tree of messages are conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Branches {
    /// The one that people see.
    #[default]
    Visible,
    /// The one with the most messages; of several the one that people see, else the last.
    Longest,
    /// Every one, that which people see first.
    All,
}

/// What of a channel is a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Division {
    /// All of it.
    #[default]
    Channel,
    /// Each thread; what stands in none is one conversation for each day.
    Thread,
    /// Each day, in UTC; a thread belongs to the day on which it began.
    Day,
}
