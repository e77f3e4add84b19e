//! Findings of the inputs that a report lists, as its page shows them.

use std::collections::HashMap;

use chatmill_dataset::overview::cut;
use chatmill_diag::{Code, Severity, codes};

use crate::judged::{JudgedFile, ShownFinding};
use crate::report::InputTotals;

/// Findings of one code that are shown of an input.
const OF_A_CODE: usize = 5;

/// Findings that are shown of all inputs together.
const OF_ALL: usize = 2_000;

/// A row of `findings`.
pub(super) struct FindingRow<'b> {
    pub(super) code: &'b str,
    pub(super) name: &'b str,
    pub(super) severity: &'b str,
    pub(super) count: u64,
    pub(super) input: &'b str,
    pub(super) entry: &'b str,
    pub(super) line: Option<u64>,
    pub(super) column: Option<u64>,
    pub(super) json_path: Option<&'b str>,
    pub(super) conversation: Option<&'b str>,
    pub(super) message: &'b str,
}

/// The listed inputs that have findings, in the order of the list.
pub(super) struct Found {
    files: Vec<JudgedFile>,
    /// Places in the list, by path.
    places: HashMap<String, usize>,
    /// Findings that are shown so far.
    shown: usize,
}

impl Found {
    /// The inputs as they are before a finding was read.
    pub(super) fn of(inputs: &[InputTotals]) -> Self {
        let listed = inputs.iter().filter(|input| input.findings > 0);
        let files: Vec<JudgedFile> = listed.map(judged).collect();
        let paths = files.iter().map(|file| file.path.clone());
        Self {
            places: paths.zip(0..).collect(),
            files,
            shown: 0,
        }
    }

    pub(super) fn add(&mut self, row: &FindingRow<'_>) {
        let place = self.places.get(&cut(row.input));
        let file = place.and_then(|place| self.files.get_mut(*place));
        let (Some(file), Some(code)) = (file, codes::find(row.code)) else {
            return;
        };
        let severity = severity(row.severity);
        *match severity {
            Severity::Error => &mut file.errors,
            Severity::Warning => &mut file.warnings,
            Severity::Note => &mut file.notes,
        } += row.count;
        count_code(file, code, row.count);
        let shown = file.findings.iter().filter(|finding| finding.code == code);
        if shown.count() == OF_A_CODE || self.shown == OF_ALL {
            return;
        }
        self.shown += 1;
        file.findings.push(ShownFinding {
            code,
            severity,
            count: row.count,
            key: self.shown.to_string(),
            place: position(row.entry, row.line, row.column),
            json_path: row.json_path.map(cut),
            conversation: row.conversation.map(cut),
            message: cut(row.message),
        });
    }

    pub(super) fn into_files(self) -> Vec<JudgedFile> {
        self.files
    }
}

fn judged(input: &InputTotals) -> JudgedFile {
    JudgedFile {
        path: input.path.clone(),
        bytes: Some(input.bytes),
        conversations: input.conversations,
        ..JudgedFile::default()
    }
}

fn severity(word: &str) -> Severity {
    match word {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => Severity::Note,
    }
}

fn count_code(file: &mut JudgedFile, code: &'static Code, count: u64) {
    match file.codes.iter_mut().find(|(known, _)| *known == code) {
        Some((_, sum)) => *sum += count,
        None => file.codes.push((code, count)),
    }
}

/// Where a finding is inside its input, as far as is known.
fn position(entry: &str, line: Option<u64>, column: Option<u64>) -> String {
    let mut text = cut(entry);
    for number in [line, column].into_iter().flatten() {
        if !text.is_empty() {
            text.push(':');
        }
        text.push_str(&number.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_as_exact_as_the_finding() {
        assert_eq!(position("b.json", Some(3), Some(9)), "b.json:3:9");
        assert_eq!(position("", Some(3), None), "3");
        assert_eq!(position("", None, None), "");
    }
}
