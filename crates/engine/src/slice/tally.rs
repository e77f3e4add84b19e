//! What was cut: counts for every input, and a digest for every slice.
//!
//! Both are taken where the bytes come in, so that what the workers account for can be held against something that they
//! did not make themselves.

use std::collections::BTreeMap;

use chatmill_dataset::SliceId;
use chatmill_intake::{Frame, FramingError};
use chatmill_source::Source;

use super::{EntryRef, Slice, Step};
use crate::record::group::{Group, RowPlace};

/// What was cut from the inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct CutTotals {
    /// How many slices each lot was cut into, by the number of the lot.
    pub lots: BTreeMap<u32, u32>,
    /// Counts of each input, by its index in the plan.
    pub inputs: Vec<CutCounts>,
}

/// What was cut from one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CutCounts {
    /// Entries that were read to their end.
    pub entries: u64,
    /// Records and damages.
    pub records: u64,
    /// Bytes of the decoded entries.
    pub bytes: u64,
}

impl CutTotals {
    pub(crate) fn of(inputs: usize) -> Self {
        Self {
            lots: BTreeMap::new(),
            inputs: vec![CutCounts::default(); inputs],
        }
    }

    /// Every slice that was cut, in order.
    pub(crate) fn each(&self) -> impl Iterator<Item = SliceId> + '_ {
        let lots = self.lots.iter();
        lots.flat_map(|(lot, slices)| (0..*slices).map(|slice| SliceId { lot: *lot, slice }))
    }

    /// Whether this slice was cut.
    pub(crate) fn has(&self, slice: SliceId) -> bool {
        self.lots
            .get(&slice.lot)
            .is_some_and(|slices| slice.slice < *slices)
    }

    pub(super) fn record(&mut self, input: usize, records: u64) {
        if let Some(tally) = self.inputs.get_mut(input) {
            tally.records += records;
        }
    }

    pub(super) fn entry(&mut self, input: usize, ends: u64, bytes: u64) {
        if let Some(tally) = self.inputs.get_mut(input) {
            tally.entries += ends;
            tally.bytes += bytes;
        }
    }
}

impl Slice {
    /// BLAKE3 of all that the slice is made of, in hexadecimal: slices of one digest give the same files and the same receipt.
    pub(crate) fn digest(&self) -> String {
        let mut digest = Digest(blake3::Hasher::new());
        digest.bytes(&self.buffer);
        for entry in &*self.entries {
            digest.entry(entry);
        }
        for step in &self.steps {
            digest.step(step);
        }
        digest.0.finalize().to_hex().to_string()
    }
}

/// Hashes numbers and texts such that no two lists of them give the same bytes.
struct Digest(blake3::Hasher);

impl Digest {
    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn step(&mut self, step: &Step) {
        self.number(match step {
            Step::Entry(_) => 0,
            Step::Frame(_) => 1,
            Step::Filtered(_) => 2,
            Step::Separator(_) => 3,
            Step::Group(_) => 4,
            Step::FilteredGroup(_) => 5,
            Step::Skipped { .. } => 6,
            Step::FramingError(_) => 7,
            Step::Note(_) => 8,
            Step::EntryEnd(_) => 9,
            Step::PassedOver { .. } => 10,
            Step::StretchEnd(_) => 11,
        });
        match step {
            Step::Entry(entry) => self.entry(entry),
            Step::Frame(frame) | Step::Filtered(frame) => self.frame(frame),
            Step::Separator(bytes) | Step::EntryEnd(bytes) | Step::StretchEnd(bytes) => self.number(*bytes),
            Step::Group(group) | Step::FilteredGroup(group) => self.group(group),
            Step::Skipped { table, rows, bytes } => {
                self.text(table);
                self.number(*rows);
                self.number(*bytes);
            }
            Step::PassedOver { kind, bytes } => {
                self.text(kind);
                self.number(*bytes);
            }
            Step::FramingError(damage) => self.damage(damage),
            Step::Note(finding) => {
                self.text(finding.code.code);
                self.text(&finding.message);
                self.number(finding.count);
            }
        }
    }

    fn entry(&mut self, entry: &EntryRef) {
        self.number(entry.input as u64);
        self.text(&entry.entry);
        self.text(&entry.table);
        self.text(entry.source.map_or("", Source::id));
        self.text(entry.refusal.as_deref().unwrap_or_default());
    }

    fn frame(&mut self, frame: &Frame) {
        let Frame {
            record,
            start,
            end,
            line,
            column,
            buffer,
            form,
        } = frame;
        for number in [*record, *start, *end, *line, *column, *form as u64] {
            self.number(number);
        }
        self.number(buffer.start as u64);
        self.number(buffer.end as u64);
    }

    fn group(&mut self, group: &Group) {
        self.text(group.source.id());
        self.text(group.key.as_deref().unwrap_or_default());
        self.number(group.buffer.start as u64);
        self.number(group.rows.len() as u64);
        for row in &group.rows {
            let RowPlace {
                entry,
                record,
                start,
                end,
                line,
                column,
                form,
                counts,
            } = row.place;
            for number in [entry as u64, record, start, end, line, column] {
                self.number(number);
            }
            self.number(form.number() << 1 | u64::from(counts));
            self.number(row.inside.start as u64);
            self.number(row.inside.end as u64);
        }
    }

    fn damage(&mut self, damage: &FramingError) {
        for number in [
            damage.record,
            damage.start,
            damage.end,
            damage.line,
            damage.column,
        ] {
            self.number(number);
        }
        self.text(damage.code.code);
        self.text(&damage.hash);
        self.text(&damage.message);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn slice(buffer: &[u8], steps: Vec<Step>) -> String {
        let slice = Slice {
            id: 0.into(),
            buffer: buffer.to_vec(),
            steps,
            entries: Arc::default(),
        };
        slice.digest()
    }

    #[test]
    fn slices_that_differ_in_a_byte_or_a_step_have_other_digests() {
        let digests = [
            slice(b"ab", Vec::new()),
            slice(b"ac", Vec::new()),
            slice(b"ab", vec![Step::Separator(1)]),
            slice(b"ab", vec![Step::Separator(2)]),
            slice(b"ab", vec![Step::EntryEnd(1)]),
            slice(b"ab", vec![Step::Separator(1), Step::EntryEnd(1)]),
        ];
        for (at, digest) in digests.iter().enumerate() {
            assert!(!digests[..at].contains(digest), "{at}");
        }
        assert_eq!(slice(b"ab", Vec::new()), digests[0]);
    }
}
