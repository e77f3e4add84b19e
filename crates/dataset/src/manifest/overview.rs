//! The figures of a report about the tables, summed up while the tables were written. They are `totals.overview` in the manifest.
//!
//! The overview of a large run is as small as that of a small one: lists that would grow with the input contain only
//! what a report shows.
//!
//! Why: docs/decisions/2026-11-22-report-from-manifest-totals.md.

use std::collections::BTreeMap;

use chatmill_model::ComponentCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spread::SpreadTotals;
use crate::manifest::InputEntry;

/// The number of inputs that a report lists individually.
pub const INPUTS: usize = 200;
/// The number of shapes and versions that are named for an input.
pub const SHAPES: usize = 8;
/// The number of tools that a report lists.
pub const TOOLS: usize = 20;
/// The number of conversations that are named as the largest.
pub const LARGEST: usize = 10;
/// The maximum length of a text in a report, in characters; longer ones are cut.
const CHARACTERS: usize = 240;

/// The figures of a report about the tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The earliest usable time of a message, in microseconds since 1970 in UTC.
    pub first_message: Option<i64>,
    /// The latest usable time of a message, in the same unit.
    pub last_message: Option<i64>,
    /// Characters per message, notices not counted.
    pub message_lengths: SpreadTotals,
    /// Messages per conversation.
    pub turns: SpreadTotals,
    /// Participants per conversation.
    pub participants: SpreadTotals,
    /// Tool calls per conversation.
    pub calls: SpreadTotals,
    /// Messages and notices, by role and kind.
    pub roles: Vec<RoleCount>,
    /// References that messages make, by status.
    pub references: Vec<ReferenceCount>,
    /// Tool calls and results, by status and by the rule that paired them.
    pub tool_calls: Vec<CallCount>,
    /// The tools that are called most; empty where the run quotes no content.
    pub tools: Vec<ToolCount>,
    /// The number of tools that are not in this list.
    pub tools_left_out: u64,
    /// The conversations with the most text, the largest first.
    pub largest: Vec<LargeConversation>,
    /// Conversations that repeat, fork or continue others.
    pub clusters: ClusterCount,
    /// The evaluations that the conversations were compared with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluations: Vec<EvaluationCount>,
    /// The shapes and versions of the formats that were recognised, by input; only for the inputs that are [`listed`].
    pub shapes: BTreeMap<String, Vec<String>>,
    /// The renderings by dialect, profile, coverage and encoding, in the order of the dialects.
    pub renderings: Vec<RenderingCount>,
    /// The losses of each dialect, in the order of the dialects.
    pub losses: Vec<LossCount>,
}

/// Messages or notices of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RoleTotals")]
pub struct RoleCount {
    /// Role of the sender.
    pub role: String,
    /// `message` or `notice`.
    pub kind: String,
    /// The number of messages.
    pub messages: u64,
    /// Characters of their text.
    pub characters: u64,
}

/// References with one status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReferenceStatus")]
pub struct ReferenceCount {
    /// The status.
    pub status: String,
    /// The number of references.
    pub count: u64,
    /// The number of references to a message of the same sender.
    pub same_sender: u64,
}

/// Tool calls and results with one status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CallStatusTotals")]
pub struct CallCount {
    /// The status of a call or result.
    pub status: String,
    /// The rule that paired them.
    pub paired_by: Option<String>,
    /// The number of calls or results.
    pub count: u64,
}

/// Calls of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tool")]
pub struct ToolCount {
    /// Name of the tool; null where the source has none.
    pub name: Option<String>,
    /// Rows of the table of tool calls.
    pub calls: u64,
    /// Calls without a result.
    pub unanswered: u64,
    /// Results that report an error.
    pub failed: u64,
}

/// A conversation with much text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Largest")]
pub struct LargeConversation {
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

/// Conversations that repeat, fork or continue others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterCount {
    /// The number of clusters.
    pub clusters: u64,
    /// Conversations in clusters.
    pub conversations: u64,
    /// Conversations in the largest cluster.
    pub largest: u64,
    /// Conversations with the same content as an earlier one.
    pub exact: u64,
    /// Conversations with nearly the same content as an earlier one.
    pub near: u64,
}

/// An evaluation that the conversations were compared with: a file of `[select.decontaminate]`, or a member of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Evaluation")]
pub struct EvaluationCount {
    /// Name of the evaluation.
    pub name: String,
    /// Its rows that contain words.
    pub rows: u64,
    /// Its rows that occur in conversations.
    pub rows_met: u64,
    /// Conversations that were left out because they contain one of its rows; a conversation may be counted for several
    /// evaluations.
    pub conversations: u64,
    /// A note that it was read as plain text, or that no question was recognised in it; short texts are not compared then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The requested mix of the inputs and its result: `totals.mix` of the manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// The unit of all amounts.
    pub unit: String,
    /// The requested maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The sections of inputs, in the order of their first inputs.
    pub sections: Vec<MixSection>,
}

/// One section of a mix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixSection {
    /// The name of its first input.
    pub first: String,
    /// The requested weight, where any section has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The amount after selection and deduplication.
    pub found: u64,
    /// The amount in the dataset.
    pub retained: u64,
}

/// The renderings of one dialect and coverage in one encoding, over all sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the table of totals")]
pub struct RenderingCount {
    pub dialect: String,
    pub profile: String,
    pub coverage: String,
    pub encoding: String,
    /// The number of renderings.
    pub renderings: u64,
    pub messages_rendered: u64,
    pub bytes: u64,
    pub tokens: u64,
    #[serde(flatten)]
    pub parts: ComponentCounts,
    pub assistant_content: u64,
    pub requests: u64,
    pub tokens_sent: u64,
    pub written: u64,
    pub logged_requests: u64,
    pub logged_input: u64,
    pub logged_cached_input: u64,
    #[serde(default)]
    pub logged_cache_write: u64,
    #[serde(default)]
    pub logged_cache_write_1h: u64,
    pub logged_output: u64,
    #[serde(default)]
    pub logged_searches: u64,
    #[serde(default)]
    pub logged_cost_requests: u64,
    #[serde(default)]
    pub logged_cost: Option<f64>,
    pub p50: u64,
    pub p95: u64,
    pub p99: u64,
    pub invalid: u64,
    pub losses: u64,
}

/// The losses of one kind in one dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LossKind")]
pub struct LossCount {
    /// Id of the dialect.
    pub dialect: String,
    /// The profile of the dialect.
    pub profile: String,
    /// Kind of loss.
    pub code: String,
    /// Renderings with such losses.
    pub renderings: u64,
    /// Occurrences.
    pub amount: u64,
}

/// Cuts a text so that it fits into a report. A text that was already cut does not change.
pub fn cut(text: &str) -> String {
    chatmill_diag::cut::beginning(text, CHARACTERS)
}

/// The inputs that a report lists individually, with their figures: those with the most rejects, errors or findings.
pub fn listed<T>(inputs: impl Iterator<Item = (InputEntry, T)>) -> Vec<(InputEntry, T)> {
    let mut first = BTreeMap::new();
    for (input, beside) in inputs {
        let rank = std::cmp::Reverse((input.problems(), input.findings));
        first.insert((rank, input.path.clone()), (input, beside));
        if first.len() > INPUTS {
            first.pop_last();
        }
    }
    first.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_only_once() {
        assert_eq!(cut("привіт"), "привіт");
        let long = "і".repeat(CHARACTERS + 1);
        assert_eq!(cut(&long).chars().count(), CHARACTERS + 1);
        assert!(cut(&long).ends_with('…'));
        assert_eq!(cut(&cut(&long)), cut(&long));
    }

    #[test]
    fn inputs_with_the_most_rejects_are_listed_then_those_with_the_most_findings() {
        let input = |number: u64| InputEntry {
            path: format!("{number:04}"),
            rejected: number / 100,
            findings: number % 100,
            ..InputEntry::default()
        };
        let found = listed((0..500).map(|number| (input(number), number)));
        let numbers: Vec<u64> = found.into_iter().map(|(_, number)| number).collect();
        let expected: Vec<u64> = (300..500).rev().collect();
        assert_eq!(numbers, expected);
    }
}
