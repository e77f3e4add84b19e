//! What every report of `check` is told, and the counts that end it.

use std::collections::BTreeMap;
use std::io;

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::{Finding, Severity};
use chatmill_engine::check::{Checked, Files};
use serde::Serialize;

/// A report in the making.
pub(super) trait Report: Send {
    /// Reports a finding. `row` holds the columns of the findings table.
    fn finding(&mut self, checked: &Checked, row: &FindingRow) -> io::Result<()>;

    /// Ends the report with the verdicts and the counts.
    fn end(&mut self, files: &Files, totals: &Totals) -> io::Result<()>;
}

/// Where a finding is, for people: path, member of an archive, line and column, and the row of a table.
pub(super) fn place(checked: &Checked, row: &FindingRow) -> String {
    let mut place = row.input.to_owned();
    if !row.entry.is_empty() {
        place.push('!');
        place.push_str(row.entry);
    }
    for number in [row.line_number, row.column_number].into_iter().flatten() {
        place.push_str(&format!(":{number}"));
    }
    match (checked.table.as_str(), row.record) {
        ("", _) => {}
        // Without a line, the number of the row says where to look.
        (table, Some(record)) if row.line_number.is_none() => {
            place.push_str(&format!(" (table {table}, row {})", record + 1));
        }
        (table, _) => place.push_str(&format!(" (table {table})")),
    }
    place
}

/// Occurrences of a code.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct CodeCount {
    /// Kebab name.
    pub name: &'static str,
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
}

impl CodeCount {
    /// All occurrences.
    pub(super) fn total(&self) -> u64 {
        self.errors + self.warnings + self.notes
    }
}

/// Occurrences by code.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals(pub BTreeMap<&'static str, CodeCount>);

impl Totals {
    /// Counts a finding.
    pub(super) fn add(&mut self, finding: &Finding) {
        let count = self.0.entry(finding.code.code).or_default();
        count.name = finding.code.name;
        match finding.severity {
            Severity::Error => count.errors += finding.count,
            Severity::Warning => count.warnings += finding.count,
            Severity::Note => count.notes += finding.count,
        }
    }

    /// Codes with the most errors first, then the most warnings, then the most notes.
    pub(super) fn worst_first(&self) -> Vec<(&'static str, CodeCount)> {
        let mut sorted: Vec<_> = self.0.iter().map(|(code, count)| (*code, *count)).collect();
        sorted.sort_by_key(|(_, count)| std::cmp::Reverse((count.errors, count.warnings, count.notes)));
        sorted
    }
}

/// The whole check in numbers.
#[derive(Debug, Default, Serialize)]
pub(super) struct RunSummary {
    /// Files checked.
    pub files: u64,
    /// Files without errors and warnings.
    pub valid: u64,
    /// Files with warnings, but no errors.
    pub with_warnings: u64,
    /// Files with errors.
    pub with_errors: u64,
    /// Files of which nothing could be read.
    pub unreadable: u64,
    /// Files that are not chats.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// Files with nothing in them.
    pub empty: u64,
    /// Files whose errors and warnings are all in the baseline.
    #[serde(skip_serializing_if = "is_zero")]
    pub with_known: u64,
    /// Records framed.
    pub records: u64,
    /// Conversations read.
    pub conversations: u64,
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
    /// Findings left out because the baseline has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<u64>,
    /// Occurrences by code.
    pub codes: BTreeMap<&'static str, CodeCount>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RunSummary {
    /// Sums up the verdicts.
    pub(super) fn new(files: &Files, totals: &Totals) -> Self {
        let mut summary = Self {
            codes: totals.0.clone(),
            ..Self::default()
        };
        for file in files.iter() {
            summary.files += 1;
            if file.known > 0 {
                *summary.known.get_or_insert_default() += file.known;
            }
            match file.verdict {
                "valid" => summary.valid += 1,
                "warnings" => summary.with_warnings += 1,
                "errors" => summary.with_errors += 1,
                "skipped" => summary.skipped += 1,
                "empty" => summary.empty += 1,
                "known" => summary.with_known += 1,
                _ => summary.unreadable += 1,
            }
            summary.records += file.records;
            summary.conversations += file.conversations;
            summary.errors += file.errors;
            summary.warnings += file.warnings;
            summary.notes += file.notes;
        }
        summary
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use chatmill_diag::{Span, codes};
    use chatmill_engine::record::locate::Located;

    /// A finding at `chat.json` in `a.zip`.
    pub(crate) fn dangling() -> Checked {
        let mut located = Located::nowhere(Finding::new(&codes::DANGLING_REFERENCE, "no such message"));
        located.finding.count = 3;
        located.span = Some(Span { start: 70, end: 72 });
        located.line_column = Some((4, 9));
        located.json_path = Some("$.x".into());
        Checked {
            located,
            path: "a.zip".into(),
            input: "a.zip".into(),
            entry: "chat.json".into(),
            table: String::new(),
            record: Some(6),
            conversation: None,
            target: None,
            excerpt: None,
        }
    }

    #[test]
    fn a_place_names_the_member_the_line_and_the_table() {
        let mut checked = dangling();
        let shown = |checked: &Checked| place(checked, &checked.row(&checked.texts(true)));
        assert_eq!(shown(&checked), "a.zip!chat.json:4:9");
        checked.table = "messages".into();
        assert_eq!(shown(&checked), "a.zip!chat.json:4:9 (table messages)");
        checked.located.line_column = None;
        assert_eq!(shown(&checked), "a.zip!chat.json (table messages, row 7)");
    }
}
