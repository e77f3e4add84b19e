//! The parts of a report that are about the conversations themselves: lengths, roles, references, tools, the largest, repeats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the values of one quantity are distributed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// What is measured, for example `messages per conversation`.
    pub name: String,
    /// The query for the bins.
    pub query: String,
    /// How many values there are.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The median.
    pub p50: u64,
    /// The 95th percentile.
    pub p95: u64,
    /// The largest value.
    pub max: u64,
    /// Values by size: 0, 1, 2–3, 4–7 and so on, without gaps up to the largest.
    pub bins: Vec<Bin>,
}

/// The values between two bounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bin {
    /// The smallest value that falls into it; a power of two, or 0. The largest is one less than twice as much.
    pub from: u64,
    /// How many values do.
    pub count: u64,
}

/// Messages or notices of one role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleTotals {
    /// Role of the sender.
    pub role: String,
    /// `message` or `notice`.
    pub kind: String,
    /// How many there are.
    pub messages: u64,
    /// Characters of their text.
    pub characters: u64,
}

/// References with one status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferenceStatus {
    /// What became of them.
    pub status: String,
    /// How many there are.
    pub count: u64,
    /// How many refer to a message of the same sender.
    pub same_sender: u64,
}

/// Tool calls and results with one status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallStatusTotals {
    /// How call and result stand to each other.
    pub status: String,
    /// The rule that paired them.
    pub paired_by: Option<String>,
    /// How many there are.
    pub count: u64,
}

/// Calls of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Name of the tool; none where the source wrote none.
    pub name: Option<String>,
    /// Rows of the table of tool calls.
    pub calls: u64,
    /// Calls without a result.
    pub unanswered: u64,
    /// Results that report an error.
    pub failed: u64,
}

/// A conversation with much text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Largest {
    /// Id of the conversation.
    pub conversation_id: String,
    /// Id of its source.
    pub source: String,
    /// Name of the input.
    pub input: String,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Participants in the roster.
    pub participants: u64,
    /// Characters of text.
    pub characters: u64,
}

/// A conversation and how long it took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowConversation {
    /// Id of the conversation.
    pub conversation_id: String,
    /// Name of the input.
    pub input: String,
    /// Bytes of its record, or of its rows.
    pub bytes: u64,
    /// Seconds from its bytes to its rows in the tables.
    pub seconds: f64,
}

/// Conversations that repeat, fork or continue others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clusters {
    /// The query that gives the figures.
    pub query: String,
    /// Clusters.
    pub clusters: u64,
    /// Conversations that are in one.
    pub conversations: u64,
    /// Conversations of the largest.
    pub largest: u64,
    /// Conversations that say the same as an earlier one.
    pub exact: u64,
    /// Conversations that say nearly the same as an earlier one.
    pub near: u64,
}
