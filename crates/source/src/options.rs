//! Options of reading beside the limits: choices of a pipeline file or a check for single formats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of reading, beside the limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions<'o> {
    /// The branches of a tree of messages that become conversations.
    pub branches: Branches,
    /// The part of a channel that becomes one conversation.
    pub division: Division,
    /// The zone of times without an offset where a conversation names none: an IANA name or an offset. Only a check takes one, and
    /// writes no instant by it.
    pub zone: Option<&'o str>,
}

/// The branches of a tree of messages that become conversations.
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

/// The part of a channel that becomes one conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Division {
    /// The whole channel.
    #[default]
    Channel,
    /// Each thread; messages outside threads form one conversation for each day.
    Thread,
    /// Each day, in UTC; a thread belongs to the day on which it began.
    Day,
}
