//! The findings of the inputs that a report lists, for its page.

use std::collections::HashMap;

use chatmill_dataset::overview::cut;
use chatmill_dataset::{Numbers, Texts, columns};
use chatmill_diag::{Code, Severity, codes};

use crate::checked::{CheckedFile, ShownFinding};
use crate::report::InputTotals;

/// The number of findings of a code that are shown for an input.
const OF_A_CODE: usize = 5;

/// The number of findings that are shown for all inputs together.
const OF_ALL: usize = 2_000;

columns! {
    /// The columns of `findings` that are read.
    pub(super) struct FindingColumns {
        code: Texts,
        name: Texts,
        severity: Texts,
        count: Numbers,
        input: Texts,
        entry: Texts,
        line_number: Numbers,
        column_number: Numbers,
        json_path: Texts,
        conversation_id: Texts,
        message: Texts,
    }
}

/// The listed inputs that have findings, in the order of the list.
pub(super) struct Found {
    files: Vec<CheckedFile>,
    /// Positions in the list, by path.
    places: HashMap<String, usize>,
    /// Number of findings that are shown so far.
    shown: usize,
}

impl Found {
    /// The listed inputs, without findings.
    pub(super) fn of(inputs: &[InputTotals]) -> Self {
        let listed = inputs.iter().filter(|input| input.findings > 0);
        let files: Vec<CheckedFile> = listed.map(checked_file).collect();
        let paths = files.iter().map(|file| file.path.clone());
        Self {
            places: paths.zip(0..).collect(),
            files,
            shown: 0,
        }
    }

    pub(super) fn add(&mut self, found: &FindingColumns, row: usize) {
        let place = self.places.get(&cut(found.input.at(row)));
        let file = place.and_then(|place| self.files.get_mut(*place));
        let (Some(file), Some(code)) = (file, codes::find(found.code.at(row))) else {
            return;
        };
        let severity = found.severity.at(row).parse().unwrap_or(Severity::Note);
        let count = found.count.at(row);
        *match severity {
            Severity::Error => &mut file.errors,
            Severity::Warning => &mut file.warnings,
            Severity::Note => &mut file.notes,
        } += count;
        count_code(file, code, count);
        let shown = file.findings.iter().filter(|finding| finding.code == code);
        if shown.count() == OF_A_CODE || self.shown == OF_ALL {
            return;
        }
        self.shown += 1;
        let (line, column) = (found.line_number.get(row), found.column_number.get(row));
        file.findings.push(ShownFinding {
            code,
            severity,
            count,
            key: self.shown.to_string(),
            place: position(found.entry.at(row), line, column),
            json_path: found.json_path.get(row).map(cut),
            conversation: found.conversation_id.get(row).map(cut),
            message: cut(found.message.at(row)),
            excerpt: None,
        });
    }

    pub(super) fn into_files(self) -> Vec<CheckedFile> {
        self.files
    }
}

fn checked_file(input: &InputTotals) -> CheckedFile {
    CheckedFile {
        path: input.path.clone(),
        // The page is in the folder of the dataset.
        shown_by: Some(".".to_owned()),
        bytes: Some(input.bytes),
        conversations: input.conversations,
        ..CheckedFile::default()
    }
}

fn count_code(file: &mut CheckedFile, code: &'static Code, count: u64) {
    match file.codes.iter_mut().find(|(known, _)| *known == code) {
        Some((_, sum)) => *sum += count,
        None => file.codes.push((code, count)),
    }
}

/// The position of a finding inside its input, as far as it is known.
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
