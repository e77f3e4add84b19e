//! Options of reading that are not limits: choices of a pipeline file or a check for single formats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of reading that are not limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions<'o> {
    /// The branches of a tree of messages that become conversations.
    pub branches: Branches,
    /// The part of a channel that becomes one conversation.
    pub division: Division,
    /// The zone of times without an offset, for conversations that name none: an IANA name or an offset. Only a check takes this option; it
    /// changes no stored instant.
    pub zone: Option<&'o str>,
}

/// The branches of a tree of messages that become conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Branches {
    /// The branch that people see.
    #[default]
    Visible,
    /// The branch with the most messages; of several the one that people see, else the last.
    Longest,
    /// All branches; the one that people see is first.
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
