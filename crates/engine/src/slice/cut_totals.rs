//! The totals of cutting: counts for every input, and a digest for every slice.
//!
//! Both are taken where the bytes come in, so that the accounts
//! of the workers are verified against independent counts.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use chatmill_dataset::SliceId;
use chatmill_diag::cut;
use chatmill_source::Source;

use super::{EntryRef, Slice, Step};

/// The totals that were cut from the inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct CutTotals {
    /// The number of slices of each shard, by the number of the shard.
    pub shards: BTreeMap<u32, u32>,
    /// The counts for each input, by its index in the plan.
    pub inputs: Vec<CutCounts>,
}

/// The counts for one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CutCounts {
    /// Entries that were read to their end.
    pub entries: u64,
    /// The number of records and framing errors.
    pub records: u64,
    /// Bytes of the decoded entries.
    pub bytes: u64,
}

impl CutTotals {
    pub(crate) fn of(inputs: usize) -> Self {
        Self {
            shards: BTreeMap::new(),
            inputs: vec![CutCounts::default(); inputs],
        }
    }

    /// Returns the ids of all slices that were cut, in order.
    pub(crate) fn each(&self) -> impl Iterator<Item = SliceId> + '_ {
        let shards = self.shards.iter();
        shards.flat_map(|(shard, slices)| (0..*slices).map(|slice| SliceId { shard: *shard, slice }))
    }

    /// Returns whether this slice was cut.
    pub(crate) fn has(&self, slice: SliceId) -> bool {
        self.shards
            .get(&slice.shard)
            .is_some_and(|slices| slice.slice < *slices)
    }

    pub(super) fn record(&mut self, input: usize, records: u64) {
        cut::at_mut(&mut self.inputs, input).records += records;
    }

    pub(super) fn entry(&mut self, input: usize, ends: u64, bytes: u64) {
        let cut_totals = cut::at_mut(&mut self.inputs, input);
        cut_totals.entries += ends;
        cut_totals.bytes += bytes;
    }
}

impl Slice {
    /// Returns BLAKE3 of the complete slice, in hexadecimal: slices
    /// with equal digests give the same files and the same receipt.
    pub(crate) fn digest(&self) -> String {
        let mut digest = Digest(blake3::Hasher::new());
        self.buffer.hash(&mut digest);
        self.entries.hash(&mut digest);
        self.steps.hash(&mut digest);
        digest.0.finalize().to_hex().to_string()
    }
}

/// Feeds what `Hash` writes into BLAKE3. Machines that hash numbers differently
/// (byte order, width) get other digests, and process the slices again.
struct Digest(blake3::Hasher);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        self.0
            .finalize()
            .as_bytes()
            .first_chunk()
            .map_or(0, |first| u64::from_le_bytes(*first))
    }
}

impl Hash for Step {
    fn hash<H: Hasher>(&self, digest: &mut H) {
        std::mem::discriminant(self).hash(digest);
        match self {
            Self::Entry(entry) => entry.hash(digest),
            Self::Frame(frame) | Self::Filtered(frame) => frame.hash(digest),
            Self::Separator(bytes) | Self::EntryEnd(bytes) | Self::RangeEnd(bytes) => bytes.hash(digest),
            Self::Group(group) | Self::FilteredGroup(group) => {
                (group.source.id(), &group.key, &group.rows, &group.buffer).hash(digest);
            }
            Self::Skipped { table, rows, bytes } => (table, rows, bytes).hash(digest),
            Self::SkippedEntry { kind, bytes } => (kind, bytes).hash(digest),
            Self::FramingError(error) => {
                (error.record, error.start, error.end, error.line).hash(digest);
                (error.column, error.code.code, &error.hash, &error.message).hash(digest);
            }
            Self::Note(finding) => (finding.code.code, &finding.message, finding.count).hash(digest),
        }
    }
}

impl Hash for EntryRef {
    fn hash<H: Hasher>(&self, digest: &mut H) {
        (self.input, &self.entry, &self.table).hash(digest);
        (self.source.map(Source::id), &self.refusal).hash(digest);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn slice(buffer: &[u8], steps: Vec<Step>) -> String {
        let slice = Slice {
            input_bytes: 0,
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
