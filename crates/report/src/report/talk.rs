//! The parts of a report about the conversations themselves: lengths, roles, references, tools, the largest, repeats.

use chatmill_dataset::overview::ClusterCount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The distribution of one quantity's values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// The name of the quantity, for example `messages per conversation`.
    pub name: String,
    /// The query for the bins.
    pub query: String,
    /// The number of values.
    pub count: u64,
    /// The sum of the values.
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
    /// The number of values in this range.
    pub count: u64,
}

/// A day on which messages were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DayCount {
    /// The day, `2026-03-02`.
    pub day: String,
    /// Messages, notices not counted.
    pub messages: u64,
}

/// A conversation, and the time that it took.
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
    /// The number of clusters.
    #[serde(flatten)]
    pub count: ClusterCount,
}
