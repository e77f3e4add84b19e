//! The receipt of a finished slice: enough to seal the run without reading the slice's files again.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_dataset::InputRows;
use chatmill_dataset::overview::SHAPES;
use chatmill_diag::{Finding, Ledger, RowLedger, Severity};
use serde::{Deserialize, Serialize};

use crate::work::overview::OverviewSums;
use crate::work::recognition::Recognition;
use crate::work::totals::Totals;

/// The receipt of a slice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SliceReceipt {
    /// Digest of the slice.
    pub slice: String,
    /// Counts of each input, by index in the plan.
    pub inputs: BTreeMap<usize, InputCounts>,
    /// Ids of its conversations before qualification, in order, each with its input.
    pub ids: Vec<(usize, String)>,
    /// New ids of conversations with duplicate ids, by index in `ids`.
    pub renamed: BTreeMap<usize, String>,
    /// Messages in the dataset, notices not counted.
    pub messages: u64,
    /// Findings by code, with their severity.
    pub findings: BTreeMap<String, FindingCount>,
    /// Token totals.
    pub totals: Totals,
    /// The figures for a report on its conversations and renderings.
    pub overview: OverviewSums,
    /// Renderings that are missing because a configured participant is absent.
    pub unrenderable: u64,
    /// Participants of conversations without any configured one, for the error of a run that renders nothing.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub participants: BTreeSet<String>,
    /// Perspectives of conversations without a turn to render, when each turn is rendered separately.
    pub without_turns: u64,
    /// Assistant turns that no rendering trains, by reason, summed over perspectives;
    /// only counted in modes with renderings that end with the trained turn.
    #[serde(rename = "untaught")]
    pub skipped_targets: BTreeMap<String, u64>,
    /// The number of perspectives that get no prompt, by the field that the conversation lacks.
    pub unprompted: BTreeMap<String, u64>,
    /// Renderings without reasoning because `policy` excludes it.
    pub without_reasoning: u64,
    /// The number of renderings.
    pub renderings: u64,
}

/// Counts of one input in a slice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct InputCounts {
    /// Whether stored and decoded bytes are equal.
    pub plain: bool,
    /// Entries that ended in this slice.
    pub entries: u64,
    /// Records and bytes.
    #[serde(flatten)]
    pub ledger: Ledger,
    /// Rows of the accepted records.
    pub rows: RowLedger,
    /// Conversations in the dataset.
    pub conversations: u64,
    /// The rows that were written, counted during writing: their number must equal that of the accounted rows.
    pub written: InputRows,
    /// Rows of the findings table.
    pub findings: u64,
    /// Errors among the findings.
    pub errors: u64,
    /// Whether its source fits, and its unread fields.
    #[serde(flatten)]
    pub recognition: Recognition,
    /// Sources that read the input.
    pub sources: Vec<String>,
    /// Shapes and versions of the recognised formats, as many as a report names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<String>,
    /// Records left out, by reason.
    pub filtered_by: BTreeMap<String, u64>,
    /// Rows of tables that are not read, by table.
    pub skipped_tables: BTreeMap<String, u64>,
    /// Files, and members of archives, that are not chats, by kind.
    pub skipped_files: BTreeMap<String, u64>,
}

/// The shapes of a receipt's inputs; the rest of the receipt is not parsed.
#[derive(Debug, Deserialize)]
pub(crate) struct SliceShapes {
    /// By index in the plan.
    pub inputs: BTreeMap<usize, InputShapes>,
}

/// Shapes and versions that were recognised in an input, and its unread fields.
#[derive(Debug, Deserialize)]
pub(crate) struct InputShapes {
    /// In the order of their first occurrence.
    #[serde(default)]
    pub shapes: Vec<String>,
    /// Whether its source fits, and its unread fields.
    #[serde(flatten)]
    pub recognition: Recognition,
}

/// Adds new shapes, up to the number that a report names.
pub(crate) fn add_shapes(known: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for shape in more {
        if known.len() < SHAPES && !known.contains(&shape) {
            known.push(shape);
        }
    }
}

/// Counts a finding under its code.
pub(crate) fn count_finding(findings: &mut BTreeMap<String, FindingCount>, finding: &Finding) {
    let count = findings.entry(finding.code.code.to_owned()).or_default();
    finding.code.name.clone_into(&mut count.name);
    count.add(finding.severity, finding.count);
}

/// The number of findings of a code.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FindingCount {
    /// The name of the code, in kebab case.
    pub name: String,
    /// Errors, including those of rejects.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
    /// Errors that are the reason of a reject.
    #[serde(default, skip_serializing_if = "chatmill_diag::is_zero")]
    pub of_rejects: u64,
}

impl FindingCount {
    /// Adds `count` findings of a severity.
    pub fn add(&mut self, severity: Severity, count: u64) {
        match severity {
            Severity::Error => self.errors += count,
            Severity::Warning => self.warnings += count,
            Severity::Note => self.notes += count,
        }
    }

    /// Returns the number of all findings.
    pub fn total(&self) -> u64 {
        self.errors + self.warnings + self.notes
    }
}
