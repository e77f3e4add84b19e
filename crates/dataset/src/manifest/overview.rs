//! The figures of a report about the tables, summed up while they were written: the manifest has them as `totals.overview`.
//!
//! The overview of a large run is as small as that of a small one: of lists that grow with the input, it has what a report shows.
//!
//! Why: docs/decisions/2026-11-22-report-from-manifest-totals.md.

use std::collections::BTreeMap;

use chatmill_model::ComponentCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spread::SpreadTotals;
use crate::manifest::InputEntry;

/// Inputs that a report lists one by one.
pub const INPUTS: usize = 200;
/// Shapes and versions that are named for an input.
pub const SHAPES: usize = 8;
/// Tools that a report lists.
pub const TOOLS: usize = 20;
/// Conversations that are named as the largest.
pub const LARGEST: usize = 10;
/// Characters of a text in a report; longer ones are cut.
const CHARACTERS: usize = 240;

/// The figures of a report about the tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Earliest usable time of a message, microseconds since 1970 in UTC.
    pub first_message: Option<i64>,
    /// Latest usable time of a message.
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
    /// The tools that are called most; none where the run quotes no content.
    pub tools: Vec<ToolCount>,
    /// Tools beside these.
    pub tools_left_out: u64,
    /// The conversations with the most text, the largest first.
    pub largest: Vec<LargeConversation>,
    /// Conversations that repeat, fork or continue others.
    pub clusters: ClusterCount,
    /// The evaluations that the conversations were compared with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluations: Vec<EvaluationCount>,
    /// Shapes and versions of the formats that were recognised in the inputs that are [`listed`], by their names.
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
    /// Clusters.
    pub clusters: u64,
    /// Conversations that are in one.
    pub conversations: u64,
    /// Conversations of the largest.
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
    /// Its name.
    pub name: String,
    /// Its rows that hold words.
    pub rows: u64,
    /// Those of its rows that conversations met.
    pub rows_met: u64,
    /// Conversations that were left out because they met one of its rows; one may have met several evaluations.
    pub conversations: u64,
    /// That it was read as plain text, or that no question is known in it: then its short texts do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a mix of the inputs asked for, and what came of it: `totals.mix` of the manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// The unit of all amounts.
    pub unit: String,
    /// The most that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The sections of inputs, in the order of their first ones.
    pub sections: Vec<MixSection>,
}

/// One section of a mix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixSection {
    /// The name of its first input.
    pub first: String,
    /// The weight that was asked for, where any section has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// What there was after selection and deduplication.
    pub found: u64,
    /// What stayed.
    pub retained: u64,
}

/// Renderings of one dialect and coverage in one encoding, over all sources.
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

/// The losses of one dialect of one kind.
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
    /// Renderings that have it.
    pub renderings: u64,
    /// Occurrences.
    pub amount: u64,
}

/// A text that fits into a report. A text that was cut stays as it is.
pub fn cut(text: &str) -> String {
    chatmill_diag::cut::beginning(text, CHARACTERS)
}

/// The inputs that a report lists one by one, with their figures: those with most rejects, errors or findings.
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
