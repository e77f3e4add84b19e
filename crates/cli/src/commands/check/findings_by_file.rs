//! Findings by file, buffered up to a limit of bytes for reports that are written at the end.

use std::collections::BTreeMap;

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, Files};
use chatmill_report::check::{CheckedFile, ShownFinding};

use super::report::place_inside;
use super::text_report::snippet;

/// The greatest number of bytes that are buffered; findings beyond are only counted.
const BUFFER_BYTES: usize = 64 << 20;

/// The width of a source line on a page.
const EXCERPT_COLUMNS: usize = 96;

/// The findings of a page, by file.
pub(super) struct FindingsByFile {
    by_file: BTreeMap<usize, Vec<ShownFinding>>,
    /// Bytes that may still be buffered.
    free_bytes: usize,
    /// Whether source lines are shown.
    quotes: bool,
}

impl Default for FindingsByFile {
    fn default() -> Self {
        Self {
            by_file: BTreeMap::new(),
            free_bytes: BUFFER_BYTES,
            quotes: false,
        }
    }
}

impl FindingsByFile {
    /// An empty buffer; source lines are kept if they may be quoted.
    pub(super) fn quoting(quotes: bool) -> Self {
        Self {
            quotes,
            ..Self::default()
        }
    }

    /// Adds a finding.
    pub(super) fn add(&mut self, checked: &Checked, row: &FindingRow) {
        let finding = &checked.located.finding;
        let excerpt = checked.excerpt.as_ref().filter(|_| self.quotes);
        let drawn = excerpt.and_then(|excerpt| snippet::draw(excerpt, EXCERPT_COLUMNS));
        let shown = ShownFinding {
            code: finding.code,
            severity: finding.severity,
            count: row.count,
            key: row.key.to_owned(),
            place: place_inside(checked, row),
            json_path: row.json_path.map(str::to_owned),
            conversation: row.conversation_id.map(str::to_owned),
            message: row.message.to_owned(),
            excerpt: drawn.map(|lines| lines.join("\n")),
        };
        let texts = [&shown.json_path, &shown.conversation, &shown.excerpt]
            .into_iter()
            .flatten();
        let lengths = texts.map(String::len).sum::<usize>() + shown.place.len() + shown.message.len();
        let bytes = size_of::<ShownFinding>() + lengths;
        if bytes > self.free_bytes {
            return;
        }
        self.free_bytes -= bytes;
        self.by_file.entry(checked.file).or_default().push(shown);
    }

    /// The files with their shown findings.
    pub(super) fn files(&mut self, files: &Files) -> Vec<CheckedFile> {
        let checked_files = files.iter().enumerate().map(|(index, file)| CheckedFile {
            shown_by: None,
            path: file.path,
            supplier: file.supplier,
            verdict: file.verdict,
            bytes: file.bytes,
            hash: file.hash,
            conversations: file.conversations,
            errors: file.errors,
            warnings: file.warnings,
            notes: file.notes,
            codes: file.codes,
            findings: self.by_file.remove(&index).unwrap_or_default(),
        });
        checked_files.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::dangling;
    use super::*;
    use chatmill_engine::check::Quoting;

    fn shown(free_bytes: usize, number: usize) -> usize {
        let mut findings = FindingsByFile {
            free_bytes,
            ..FindingsByFile::default()
        };
        let checked = dangling();
        for _ in 0..number {
            findings.add(&checked, &checked.row(&checked.texts(Quoting::All)));
        }
        findings.by_file.values().map(Vec::len).sum()
    }

    #[test]
    fn findings_are_buffered_up_to_a_limit() {
        assert_eq!(shown(BUFFER_BYTES, 3), 3);
        let one = {
            let mut findings = FindingsByFile::default();
            let checked = dangling();
            findings.add(&checked, &checked.row(&checked.texts(Quoting::All)));
            BUFFER_BYTES - findings.free_bytes
        };
        assert_eq!([shown(2 * one, 3), shown(2 * one - 1, 3)], [2, 1]);
    }
}
