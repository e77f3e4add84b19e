//! Findings by file, for reports that are written at the end: as many as a page can hold.

use std::collections::BTreeMap;

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, Files};
use chatmill_report::check::{JudgedFile, ShownFinding};

use super::report::place_inside;

/// Bytes of findings that are held; what comes behind them is counted.
const HELD_BYTES: usize = 64 << 20;

/// Findings that are shown, by file.
pub(super) struct Gathered {
    by_file: BTreeMap<usize, Vec<ShownFinding>>,
    /// Findings of a code in a file, shown or not.
    told: BTreeMap<(usize, &'static str), usize>,
    /// Findings of a code in a file that are shown; 0 shows all.
    most: usize,
    /// Bytes that may still be held.
    room: usize,
}

impl Gathered {
    /// Nothing yet; of each code in each file at most so many are shown, with 0 all.
    pub(super) fn new(most: usize) -> Self {
        Self {
            by_file: BTreeMap::new(),
            told: BTreeMap::new(),
            most,
            room: HELD_BYTES,
        }
    }

    /// Takes a finding in.
    pub(super) fn add(&mut self, checked: &Checked, row: &FindingRow) {
        let finding = &checked.located.finding;
        let told = self.told.entry((checked.file, finding.code.code)).or_default();
        *told += 1;
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
        if self.most > 0 && *told > self.most || bytes > self.room {
            return;
        }
        self.room -= bytes;
        self.by_file.entry(checked.file).or_default().push(shown);
    }

    /// The files with what is shown of them.
    pub(super) fn files(&mut self, files: &Files) -> Vec<JudgedFile> {
        let judged = files.iter().enumerate().map(|(index, file)| JudgedFile {
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
        judged.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::dangling;
    use super::*;
    use chatmill_engine::check::Quoting;

    fn held(most: usize, room: usize, number: usize) -> usize {
        let mut gathered = Gathered::new(most);
        gathered.room = room;
        let checked = dangling();
        for _ in 0..number {
            gathered.add(&checked, &checked.row(&checked.texts(Quoting::All)));
        }
        gathered.by_file.values().map(Vec::len).sum()
    }

    #[test]
    fn findings_are_held_up_to_both_limits() {
        assert_eq!([held(2, HELD_BYTES, 2), held(2, HELD_BYTES, 3)], [2, 2]);
        assert_eq!(held(0, HELD_BYTES, 3), 3);
        let one = {
            let mut gathered = Gathered::new(0);
            let checked = dangling();
            gathered.add(&checked, &checked.row(&checked.texts(Quoting::All)));
            HELD_BYTES - gathered.room
        };
        assert_eq!([held(0, 2 * one, 3), held(0, 2 * one - 1, 3)], [2, 1]);
    }
}
