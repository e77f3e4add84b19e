//! The structure of `report.json`: the figures of a finished dataset.
//!
//! Every part contains a query on the tables of the dataset, in DuckDB's SQL, which gives its rows when it is run in the folder of the
//! dataset; its columns have the names of the fields here. Nothing in a report depends on time, host or place.

mod changes;
mod most_expensive;
pub(crate) mod queries;
mod talk;
mod time;

use chatmill_diag::finding::with_known_keys;
use chatmill_model::{ComponentCounts, target_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use chatmill_dataset::overview::{
    CallCount, EvaluationCount, LargeConversation, LossCount, Mix, MixSection, ReferenceCount, RoleCount,
    ToolCount,
};
pub use chatmill_dataset::statistics::{FrequentTurns, SourceCount, TrainedPart};

use crate::cells::GroupKey;
use crate::checked::CheckedFile;

pub use changes::{
    Change, Comparison, ConversationChanges, FindingChange, Grown, LossChange, TokenChange, TokenCount,
};
pub use most_expensive::{Amount, Costly, MoneyBasis, MoneyCell, MoneyFigure, MostExpensive};
pub use talk::{Bin, Clusters, DayCount, Distribution, SlowConversation};
pub use time::RunTime;

/// The version of the format, which changes with the structure of a report.
pub const FORMAT: u32 = 1;

/// A report on one dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Version of this document's shape.
    pub format: u32,
    /// The run that the report describes.
    pub run: Run,
    /// The outcome of every record and every byte.
    pub balance: Balance,
    /// The inputs, those with the most findings first if there are many.
    pub inputs: Queried<InputTotals>,
    /// Findings by code, the worst first.
    pub findings: Queried<FindingCode>,
    /// The bill: one row per dialect, profile, coverage and encoding.
    pub tokens: Queried<TokenCell>,
    /// The cost of the renderings; empty if no prices are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub money: Vec<MoneyCell>,
    /// The most expensive conversations, rooms and participants; null if nothing is counted, or the dataset has no messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dearest: Option<MostExpensive>,
    /// The losses of each dialect, by kind.
    pub losses: Queried<LossCount>,
    /// The distributions of lengths.
    pub distributions: Vec<Distribution>,
    /// Messages by the day on which they were written, in UTC; without those that have no time.
    #[serde(default)]
    pub days: Queried<DayCount>,
    /// Messages and notices by role.
    pub roles: Queried<RoleCount>,
    /// References by status.
    pub references: Queried<ReferenceCount>,
    /// Tool calls by how they were paired.
    pub tool_calls: Queried<CallCount>,
    /// The tools that are called most often; empty if the run quotes no content.
    pub tools: Queried<ToolCount>,
    /// Conversations by source.
    #[serde(default)]
    pub sources: Queried<SourceCount>,
    /// The trained parts of the renderings of each dialect, in bytes.
    #[serde(default, rename = "learned")]
    pub trained: Queried<TrainedPart>,
    /// The turns that begin and end conversations most often; null if content is not quoted, or if there is too much text for a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequent: Option<FrequentTurns>,
    /// The conversations with the most text.
    pub largest: Queried<LargeConversation>,
    /// The conversations that took longest; null if times were not requested.
    pub slowest: Option<Queried<SlowConversation>>,
    /// Conversations that repeat, fork or continue others; null if the run did not compare them.
    pub clusters: Option<Clusters>,
    /// The changes since an earlier run, if one was given.
    pub comparison: Option<Comparison>,
    /// The time of the run; for the page only.
    #[serde(skip)]
    pub time: Option<RunTime>,
    /// Findings of the inputs that are listed; for the page only, since the table `findings` has them all.
    #[serde(skip)]
    pub found: Vec<CheckedFile>,
}

impl Report {
    /// Adds the conversations that took longest, the slowest first.
    pub fn add_slowest(&mut self, slowest: Vec<SlowConversation>) {
        self.slowest = Some(Queried::new(queries::SLOWEST, slowest, usize::MAX));
    }

    /// Removes text that may quote a chat: messages of findings, versions, unknown keys in paths, and names of tools; `mask` replaces ids.
    /// Places, codes and counts are kept.
    pub fn leave_out_content(&mut self, mask: &mut dyn FnMut(&str) -> String) {
        self.mask_ids(mask);
        self.run.quotes = false;
        self.frequent = None;
        for cell in &mut self.money {
            cell.figure.mask_model(mask);
        }
        self.tools.rows.clear();
        self.tools.left_out = 0;
        for input in &mut self.inputs.rows {
            input.shapes.retain(|shape| !shape.starts_with("version "));
        }
        for finding in &mut self.findings.rows {
            for sample in &mut finding.samples {
                sample.message.clear();
                sample.json_path = sample.json_path.as_deref().map(with_known_keys);
            }
        }
        for finding in self.found.iter_mut().flat_map(|file| &mut file.findings) {
            finding.message.clear();
            finding.json_path = finding.json_path.as_deref().map(with_known_keys);
        }
    }

    /// Replaces every id of a conversation.
    pub(crate) fn mask_ids(&mut self, mask: &mut dyn FnMut(&str) -> String) {
        for file in &mut self.found {
            file.shown_by = None;
        }
        let samples = self.findings.rows.iter_mut().flat_map(|row| &mut row.samples);
        let samples = samples.filter_map(|sample| sample.conversation_id.as_mut());
        let largest = self.largest.rows.iter_mut().map(|row| &mut row.conversation_id);
        let slowest = self.slowest.iter_mut().flat_map(|slowest| &mut slowest.rows);
        let slowest = slowest.map(|row| &mut row.conversation_id);
        let found = self.found.iter_mut().flat_map(|file| &mut file.findings);
        let found = found.filter_map(|finding| finding.conversation.as_mut());
        for id in samples.chain(largest).chain(slowest).chain(found) {
            *id = mask(id);
        }
        if let Some(dearest) = &mut self.dearest {
            dearest.mask_ids(mask);
        }
        if let Some(comparison) = &mut self.comparison {
            comparison.mask_ids(mask);
        }
    }
}

/// Rows of a report, and the query for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queried<T> {
    /// The query in DuckDB's SQL, to be run in the dataset's folder; empty if it needs a table that is left out.
    pub query: String,
    /// The rows.
    pub rows: Vec<T>,
    /// Rows that were left out because there are too many for a page.
    pub left_out: u64,
}

impl<T> Queried<T> {
    /// The first `limit` of these rows, with their query.
    pub fn new(query: impl Into<String>, mut rows: Vec<T>, limit: usize) -> Self {
        let left_out = rows.len().saturating_sub(limit) as u64;
        rows.truncate(limit);
        Self {
            query: query.into(),
            rows,
            left_out,
        }
    }
}

/// The run that a report describes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Name of the pipeline.
    pub name: String,
    /// Version of the program that wrote the dataset.
    pub version: String,
    /// Hash of everything that determines the bytes of the dataset.
    pub fingerprint: String,
    /// The verdict of the run: `complete`, `too-many-rejects`, `nothing-read`, `refused-inputs` or
    /// `too-many-errors`.
    pub verdict: String,
    /// The speaker of the assistant's messages: the plan's `perspective.as`.
    pub perspective: String,
    /// The amount of history that a rendering shows: the plan's `window.history`.
    pub history: String,
    /// Dialects that were rendered, as `ID@PROFILE`.
    pub dialects: Vec<String>,
    /// Encodings that were counted.
    pub encodings: Vec<String>,
    /// The earliest usable time of a message, RFC 3339 in UTC.
    pub first_message: Option<String>,
    /// The latest usable time of a message, RFC 3339 in UTC.
    pub last_message: Option<String>,
    /// Conversations.
    pub conversations: u64,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Renderings.
    pub renderings: u64,
    /// The handling of personal data and secrets: the plan's `redact.mode`; empty if redaction was off.
    pub redaction: String,
    /// Whether texts of chats may be quoted: the plan's `output.quote`.
    pub quotes: bool,
    /// Tables that the plan's `output.tables` leaves out: queries on them are empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_tables: Vec<String>,
}

/// The outcome of every record and every byte of the inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Balance {
    /// The query for the sums over all inputs.
    pub query: String,
    /// Whether every input's ledger balances.
    pub balanced: bool,
    /// Records cut from the inputs.
    pub framed: u64,
    /// Records that became conversations, or rows of them.
    pub accepted: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Records left out by the request.
    pub filtered: u64,
    /// Records left out, by reason.
    pub filtered_by: Queried<Reason>,
    /// The shares that a mix of the inputs asked for, and the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// The evaluations with which conversations were compared, and the matches; empty if the pipeline names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluations: Vec<EvaluationCount>,
    /// Bytes of the decoded inputs.
    pub decoded_bytes: u64,
    /// Bytes of accepted records.
    pub accepted_bytes: u64,
    /// Bytes of rejected records.
    pub rejected_bytes: u64,
    /// Bytes of records left out by the request.
    pub filtered_bytes: u64,
    /// Bytes between records.
    pub separator_bytes: u64,
    /// Bytes of rows that no table map reads.
    pub skipped_bytes: u64,
    /// Rows inside accepted records.
    pub rows: u64,
    /// Rows that became messages.
    pub row_messages: u64,
    /// Rows that became notices.
    pub row_notices: u64,
    /// Rows that became alternative answers.
    pub row_alternatives: u64,
    /// Rows dropped as repeats.
    pub row_repeated: u64,
    /// Rows that were merged into the message of another row or into the roster.
    pub row_merged: u64,
    /// Rows that could not be kept.
    pub row_rejected: u64,
}

/// Records left out for one reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Key of the plan's `[select]` section, or one of `[dedup]`, `[[input]]` or `[mix]` with its section.
    pub reason: String,
    /// Records.
    pub records: u64,
}

/// One input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputTotals {
    /// The name of the input.
    pub path: String,
    /// The source that read it; null if no source could.
    pub source: Option<String>,
    /// Shapes and versions of the format that were recognised in it.
    pub shapes: Vec<String>,
    /// Length of the raw file in bytes.
    pub bytes: u64,
    /// Records cut from it.
    pub framed: u64,
    /// Records that became conversations, or rows of them.
    pub accepted: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Records left out by the request.
    pub filtered: u64,
    /// Conversations.
    pub conversations: u64,
    /// Rows of the findings table.
    pub findings: u64,
}

/// The findings of one code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingCode {
    /// Two letters and three digits.
    pub code: String,
    /// Name of the code.
    pub name: String,
    /// Occurrences as errors.
    pub errors: u64,
    /// Occurrences as warnings.
    pub warnings: u64,
    /// Occurrences as notes.
    pub notes: u64,
    /// The meaning of the code; empty for a code that this version does not know.
    pub what: String,
    /// The remedy at the source.
    pub fix: String,
    /// The first findings of this code.
    pub samples: Vec<Sample>,
}

/// One finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Name of the input.
    pub input: String,
    /// Member of an archive, empty for the file itself.
    pub entry: String,
    /// Line, from 1.
    pub line_number: Option<u64>,
    /// Column in code points, from 1.
    pub column_number: Option<u64>,
    /// Path inside the record.
    pub json_path: Option<String>,
    /// The conversation of the finding.
    pub conversation_id: Option<String>,
    /// The message of the finding; empty if no content is quoted.
    pub message: String,
}

/// The price of a dialect in an encoding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenCell {
    /// Id of the dialect.
    pub dialect: String,
    /// The profile of the dialect.
    pub profile: String,
    /// The coverage of its renderings: `whole`, `window` or `single-turn`. Compare within one coverage only.
    pub coverage: String,
    /// Encoding; empty when the run counted nothing.
    pub encoding: String,
    /// Renderings.
    pub renderings: u64,
    /// Messages that they show.
    pub messages_rendered: u64,
    /// The bytes of the renderings.
    pub bytes: u64,
    /// The tokens of the renderings.
    pub tokens: u64,
    /// The tokens by component.
    #[serde(flatten)]
    pub parts: ComponentCounts,
    /// Tokens of the assistant's content; they are included in `content`.
    pub assistant_content: u64,
    /// The number of times that the renderings are sent as requests: once per answer; 0 for an archive.
    pub requests: u64,
    /// Estimate: tokens of all requests, each with everything before its answer. The answers themselves are
    /// not included.
    pub tokens_sent: u64,
    /// Tokens of the assistant's text and calls in answer to these requests; for text that no dialect
    /// renders, those of agents.
    pub written: u64,
    /// Requests with a count by the provider.
    pub logged_requests: u64,
    /// Input tokens that the provider logged.
    pub logged_input: u64,
    /// The part of them that was read from a cache.
    pub logged_cached_input: u64,
    /// The part of them that was written to a cache for minutes.
    pub logged_cache_write: u64,
    /// The part of them that was written to a cache for an hour.
    pub logged_cache_write_1h: u64,
    /// Output tokens that the provider logged.
    pub logged_output: u64,
    /// Web searches that the provider logged.
    pub logged_searches: u64,
    /// Requests with a logged cost.
    pub logged_cost_requests: u64,
    /// The sum of the logged costs in US dollars; null if no request has one.
    pub logged_cost: Option<f64>,
    /// Tokens per rendering, rounded to thousandths.
    pub mean: f64,
    /// Median of tokens per rendering: the smallest count that half of the renderings do not exceed.
    pub p50: u64,
    /// 95th percentile of tokens per rendering.
    pub p95: u64,
    /// 99th percentile of tokens per rendering.
    pub p99: u64,
    /// Tokens per message shown, rounded to thousandths.
    pub per_message: f64,
    /// `per_message` over that of the cheapest dialect of this coverage and encoding, rounded to thousandths.
    pub ratio: f64,
    /// Renderings that break a rule of their dialect.
    pub invalid: u64,
    /// The losses: the sum of `amount` in the losses table.
    pub losses: u64,
}

impl TokenCell {
    /// The key of the cell.
    pub(crate) fn key(&self) -> GroupKey<&str> {
        GroupKey::of([&self.dialect, &self.profile, &self.coverage, &self.encoding])
    }

    /// The dialect, with its profile if that is not the default.
    pub fn target(&self) -> String {
        target_name(&self.dialect, &self.profile)
    }
}
