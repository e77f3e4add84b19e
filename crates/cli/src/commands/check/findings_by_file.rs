//! Findings by file, buffered for reports that are written at the end, up to a limit of bytes.

use std::collections::BTreeMap;

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, Files};
use chatmill_report::check::{CheckedFile, ShownFinding};

use super::report::place_inside;

/// Bytes of findings that are buffered; later ones are only counted.
const BUFFER_BYTES: usize = 64 << 20;

/// Findings that are shown, by file.
pub(super) struct FindingsByFile {
    by_file: BTreeMap<usize, Vec<ShownFinding>>,
    /// Findings of a code in a file, shown or not.
    seen: BTreeMap<(usize, &'static str), usize>,
    /// Findings of a code in a file that are shown; 0 shows all.
    most: usize,
    /// Bytes that may still be buffered.
    free_bytes: usize,
}

impl FindingsByFile {
    /// An empty buffer that shows at most `most` findings of each code in each file, or all with 0.
    pub(super) fn new(most: usize) -> Self {
        Self {
            by_file: BTreeMap::new(),
            seen: BTreeMap::new(),
            most,
            free_bytes: BUFFER_BYTES,
        }
    }

    /// Adds a finding.
    pub(super) fn add(&mut self, checked: &Checked, row: &FindingRow) {
        let finding = &checked.located.finding;
        let seen = self.seen.entry((checked.file, finding.code.code)).or_default();
        *seen += 1;
        let shown = ShownFinding {
            code: finding.code,
            severity: finding.severity,
            count: row.count,
            key: row.key.to_owned(),
            place: place_inside(checked, row),
            json_path: row.json_path.map(str::to_owned),
            conversation: row.conversation_id.map(str::to_owned),
            message: row.message.to_owned(),
        };
        let texts = [&shown.json_path, &shown.conversation].into_iter().flatten();
        let lengths = texts.map(String::len).sum::<usize>() + shown.place.len() + shown.message.len();
        let bytes = size_of::<ShownFinding>() + lengths;
        if self.most > 0 && *seen > self.most || bytes > self.free_bytes {
            return;
        }
        self.free_bytes -= bytes;
        self.by_file.entry(checked.file).or_default().push(shown);
    }

    /// The files with their shown findings.
    pub(super) fn files(&mut self, files: &Files) -> Vec<CheckedFile> {
        let checked_files = files.iter().enumerate().map(|(index, file)| CheckedFile {
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

    fn shown(most: usize, free_bytes: usize, number: usize) -> usize {
        let mut findings = FindingsByFile::new(most);
        findings.free_bytes = free_bytes;
        let checked = dangling();
        for _ in 0..number {
            findings.add(&checked, &checked.row(&checked.texts(Quoting::All)));
        }
        findings.by_file.values().map(Vec::len).sum()
    }

    #[test]
    fn findings_are_buffered_up_to_both_limits() {
        assert_eq!([shown(2, BUFFER_BYTES, 2), shown(2, BUFFER_BYTES, 3)], [2, 2]);
        assert_eq!(shown(0, BUFFER_BYTES, 3), 3);
        let one = {
            let mut findings = FindingsByFile::new(0);
            let checked = dangling();
            findings.add(&checked, &checked.row(&checked.texts(Quoting::All)));
            BUFFER_BYTES - findings.free_bytes
        };
        assert_eq!([shown(0, 2 * one, 3), shown(0, 2 * one - 1, 3)], [2, 1]);
    }
}
