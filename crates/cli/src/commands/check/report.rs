//! The trait of all reports of `check`, and the counts at the end of a report.

use std::collections::BTreeMap;
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::{Finding, Severity};
use chatmill_engine::check::{Checked, Files, Judgement};
use serde::Serialize;

use crate::figures::{count, counted};
use crate::output::Output;

/// A report that is being written.
pub(super) trait Report: Send {
    /// Writes a finding, unless the report lists only files. `row` is its row of the findings table.
    fn finding(&mut self, _out: &mut dyn Write, _checked: &Checked, _row: &FindingRow) -> io::Result<()> {
        Ok(())
    }

    /// Writes the end of the report: verdicts and counts.
    fn end(&mut self, _out: &mut dyn Write, _files: &Files, _totals: &Totals) -> io::Result<()> {
        Ok(())
    }
}

/// A report with its destination. It may list only some of the findings; its verdicts and counts include all.
pub(super) struct Sent {
    /// The report.
    pub report: Box<dyn Report>,
    /// The stream or file to which it is written.
    pub out: Output,
    /// The least severity of the listed findings.
    pub least: Severity,
    /// The greatest number of listed findings per code and file; `None` without a limit.
    pub most: Option<u64>,
    /// Number of findings so far, by file and code.
    pub seen: BTreeMap<(usize, &'static str), u64>,
}

impl Sent {
    /// Writes a finding, unless the limits of the report leave it out.
    pub(super) fn finding(&mut self, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        let finding = &checked.located.finding;
        if finding.severity < self.least {
            return Ok(());
        }
        if let Some(most) = self.most {
            let seen = self.seen.entry((checked.file, finding.code.code)).or_default();
            *seen += 1;
            if *seen > most {
                return Ok(());
            }
        }
        self.report.finding(&mut self.out, checked, row)
    }

    /// Writes the end of the report.
    pub(super) fn end(&mut self, files: &Files, totals: &Totals) -> io::Result<()> {
        self.report.end(&mut self.out, files, totals)?;
        self.out.flush()
    }
}

/// The place of a finding as text: path, member of an archive, line and column, or the row of a table.
pub(super) fn place(checked: &Checked, row: &FindingRow) -> String {
    let inside = place_inside(checked, row);
    // The separator is part of the place of a member, a colon before a line, and a blank before the row of a table.
    let between = match inside.chars().next() {
        Some('0'..='9') if row.entry.is_empty() => ":",
        Some('(') if row.entry.is_empty() => " ",
        _ => "",
    };
    format!("{}{between}{inside}", row.input)
}

/// A message, with the number of its occurrences if it is not one.
pub(super) fn with_times(message: &str, number: u64) -> String {
    match number {
        ..=1 => message.to_owned(),
        number => format!("{message} ({} times)", count(number)),
    }
}

/// The place of a finding inside its file: `!member:4:9`, `4:9`, `4:9 (table messages)`, `(table messages, row 7)`.
pub(super) fn place_inside(checked: &Checked, row: &FindingRow) -> String {
    let mut place = String::new();
    if !row.entry.is_empty() {
        place.push('!');
        place.push_str(row.entry);
    }
    for number in [row.line_number, row.column_number].into_iter().flatten() {
        let between = if place.is_empty() { "" } else { ":" };
        place.push_str(&format!("{between}{number}"));
    }
    let table = match (checked.table.as_str(), row.record) {
        ("", _) => return place,
        // The row number identifies the place if the line is not known.
        (table, Some(record)) if row.line_number.is_none() => {
            format!("(table {table}, row {})", record + 1)
        }
        (table, _) => format!("(table {table})"),
    };
    let between = if place.is_empty() { "" } else { " " };
    format!("{place}{between}{table}")
}

/// The numbers of errors, warnings and notes in words, without zeros.
pub(super) fn by_severity(errors: u64, warnings: u64, notes: u64) -> impl Iterator<Item = String> {
    let numbers = [(errors, "error"), (warnings, "warning"), (notes, "note")];
    let there = numbers.into_iter().filter(|(number, _)| *number > 0);
    there.map(|(number, noun)| counted(number, noun))
}

/// The counts of each code.
pub(super) type Codes = BTreeMap<&'static str, CodeSummary>;

/// The counts of a check, by code.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals(pub Codes);

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
}

/// The codes, those with the most errors first, then the most warnings, then the most notes.
pub(super) fn worst_first(codes: &Codes) -> Vec<(&'static str, &CodeSummary)> {
    let mut sorted: Vec<_> = codes.iter().map(|(code, found)| (*code, found)).collect();
    sorted.sort_by_key(|(_, found)| std::cmp::Reverse((found.errors, found.warnings, found.notes)));
    sorted
}

/// The counts of a code.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct CodeSummary {
    /// Kebab name.
    pub name: &'static str,
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
    /// Files with the finding.
    pub files: u64,
    /// The file with the most findings of the code; of several, the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_file: Option<WorstFile>,
}

/// The file with the most findings of a code.
#[derive(Clone, Debug, Serialize)]
pub(super) struct WorstFile {
    /// The path as typed.
    pub path: String,
    /// Findings of the code in it.
    pub count: u64,
}

impl CodeSummary {
    /// The highest severity of its findings.
    pub(super) fn worst(&self) -> Severity {
        match (self.errors, self.warnings) {
            (1.., _) => Severity::Error,
            (0, 1..) => Severity::Warning,
            (0, 0) => Severity::Note,
        }
    }
}

/// The counts of a whole check.
#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
    /// Files checked.
    pub files: u64,
    /// Files without errors and warnings.
    pub valid: u64,
    /// Valid files that have notes.
    pub with_notes: u64,
    /// Files with warnings, but no errors.
    pub with_warnings: u64,
    /// Files with errors.
    pub with_errors: u64,
    /// Files from which nothing could be read.
    pub unreadable: u64,
    /// Files that are not chats.
    #[serde(skip_serializing_if = "chatmill_diag::is_zero")]
    pub skipped: u64,
    /// Empty files.
    pub empty: u64,
    /// Files with errors or warnings that are all in the baseline.
    #[serde(skip_serializing_if = "chatmill_diag::is_zero")]
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
    /// Findings that are left out because they are in the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<u64>,
    /// The judgement of each dialect of `--for` on all files.
    #[serde(rename = "for", skip_serializing_if = "Vec::is_empty")]
    pub judgements: Vec<Judgement>,
    /// Occurrences by code.
    pub codes: Codes,
}

impl Summary {
    /// Sums up the verdicts on all files.
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
                "valid" => {
                    summary.valid += 1;
                    summary.with_notes += u64::from(file.notes > 0);
                }
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
            summary.add_judgements(&file.judgements);
            for (code, count) in file.codes {
                summary.count(code.code, count, &file.path);
            }
        }
        summary
    }

    fn count(&mut self, code: &str, count: u64, path: &str) {
        let Some(summary) = self.codes.get_mut(code) else {
            return;
        };
        summary.files += 1;
        let worst = &mut summary.worst_file;
        if worst.as_ref().is_none_or(|worst| worst.count < count) {
            let path = path.to_owned();
            *worst = Some(WorstFile { path, count });
        }
    }

    fn add_judgements(&mut self, judgements: &[Judgement]) {
        if self.judgements.is_empty() {
            self.judgements = judgements.to_vec();
            return;
        }
        for (sum, judgement) in self.judgements.iter_mut().zip(judgements) {
            sum.accepted += judgement.accepted;
            sum.refused += judgement.refused;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    use chatmill_diag::{Span, codes};
    use chatmill_engine::record::Located;

    /// A finding at `chat.json` in `a.zip`.
    pub(crate) fn dangling() -> Checked {
        let mut located = Located::nowhere(Finding::new(&codes::DANGLING_REFERENCE, "no such message"));
        located.finding.count = 3;
        located.span = Some(Span { start: 70, end: 72 });
        located.line_column = Some((4, 9));
        located.json_path = Some("$.x".into());
        Checked {
            located,
            file: 0,
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
        let shown = |checked: &Checked| {
            let texts = checked.texts(chatmill_engine::check::Quoting::All);
            let row = checked.row(&texts);
            (place(checked, &row), place_inside(checked, &row))
        };
        let both = |inside: &str, between: &str| (format!("a.zip{between}{inside}"), inside.to_owned());
        assert_eq!(shown(&checked), both("!chat.json:4:9", ""));
        checked.table = "messages".into();
        assert_eq!(shown(&checked), both("!chat.json:4:9 (table messages)", ""));
        checked.entry = String::new();
        assert_eq!(shown(&checked), both("4:9 (table messages)", ":"));
        checked.located.line_column = None;
        assert_eq!(shown(&checked), both("(table messages, row 7)", " "));
        checked.table = String::new();
        assert_eq!(shown(&checked), both("", ""));
    }

    #[test]
    fn the_worst_file_of_a_code_is_the_first_with_most_of_it() {
        let mut totals = Totals::default();
        totals.add(&Finding::new(&codes::INVALID_JSON, "x"));
        let mut summary = Summary::new(&Files::default(), &totals);
        for (count, path) in [(1, "a"), (3, "b"), (3, "c"), (2, "d")] {
            summary.count("IN001", count, path);
        }
        let found = &summary.codes["IN001"];
        assert_eq!((found.files, found.worst()), (4, Severity::Error));
        let worst = found.worst_file.as_ref().unwrap();
        assert_eq!((worst.path.as_str(), worst.count), ("b", 3));
    }

    /// Records the counts of its findings.
    struct Listener(Arc<Mutex<Vec<u64>>>);

    impl Report for Listener {
        fn finding(&mut self, _: &mut dyn Write, _: &Checked, row: &FindingRow) -> io::Result<()> {
            self.0.lock().unwrap().push(row.count);
            Ok(())
        }
    }

    #[test]
    fn a_limit_holds_for_each_code_in_each_file() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut limited = Sent {
            report: Box::new(Listener(Arc::clone(&seen))),
            out: Box::new(io::sink()),
            least: Severity::Warning,
            most: Some(2),
            seen: BTreeMap::new(),
        };
        let mut report_finding = |file, count, severity| {
            let mut checked = dangling();
            checked.file = file;
            checked.located.finding.count = count;
            checked.located.finding.severity = severity;
            limited
                .finding(
                    &checked,
                    &checked.row(&checked.texts(chatmill_engine::check::Quoting::All)),
                )
                .unwrap();
        };
        for count in 1..=3 {
            report_finding(0, count, Severity::Warning);
        }
        report_finding(1, 4, Severity::Note);
        report_finding(1, 5, Severity::Error);
        report_finding(0, 6, Severity::Warning);
        assert_eq!(*seen.lock().unwrap(), [1, 2, 5]);
    }
}
