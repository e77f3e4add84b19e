//! Inputs with equal bytes. The hashes are computed during reading, or were computed before.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use chatmill_diag::{Finding, codes};

use crate::plan::PlannedInput;

/// The hashes of inputs that may repeat others: inputs with a unique length are not listed.
#[derive(Clone)]
pub(crate) struct Repeats {
    /// State shared by all readers of the same inputs, so that it is not computed again for each shard.
    planned: Arc<Planned>,
    /// The first input of each hash that was computed during reading.
    firsts: HashMap<blake3::Hash, usize>,
}

/// The lengths and hashes in the plan.
struct Planned {
    /// Lengths of several inputs, in bytes.
    lengths: BTreeSet<u64>,
    /// The first input of each hash.
    firsts: HashMap<blake3::Hash, usize>,
}

impl Repeats {
    /// Returns the state before any input is read. Hashes in the plan are included,
    /// so that the first of equal inputs does not depend on which shards are read.
    pub(crate) fn among(inputs: &[PlannedInput]) -> Self {
        let mut all: Vec<u64> = inputs.iter().map(|planned| planned.input.bytes).collect();
        all.sort_unstable();
        let shared = all
            .chunk_by(|one, other| one == other)
            .filter(|equal| equal.len() > 1);
        // Empty files, and inputs without a length, repeat nothing.
        let lengths = shared.filter_map(|equal| equal.first().copied().filter(|length| *length > 0));
        let lengths: BTreeSet<u64> = lengths.collect();
        let mut firsts = HashMap::new();
        for (index, planned) in inputs.iter().enumerate() {
            if let Some(hash) = planned.hash.filter(|_| lengths.contains(&planned.input.bytes)) {
                firsts.entry(hash).or_insert(index);
            }
        }
        Self {
            planned: Arc::new(Planned { lengths, firsts }),
            firsts: HashMap::new(),
        }
    }

    /// Returns whether an input with this length may repeat another.
    pub(super) fn may_have(&self, length: u64) -> bool {
        self.planned.lengths.contains(&length)
    }

    /// Returns the first input with this hash, if it is not this one.
    pub(super) fn first(&mut self, hash: blake3::Hash, input: usize) -> Option<usize> {
        let planned = self.planned.firsts.get(&hash);
        let first = planned
            .copied()
            .unwrap_or_else(|| *self.firsts.entry(hash).or_insert(input));
        (first != input).then_some(first)
    }
}

/// Returns the finding that an earlier input has the same bytes.
pub(super) fn repeated(first: &str) -> Finding {
    Finding::new(&codes::REPEATED_INPUT, "it has the same bytes as an earlier file").quoting(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_intake::discover::InputKind;

    #[test]
    fn only_inputs_of_a_shared_length_are_compared_and_the_first_is_named() {
        let inputs = [3, 0, 5, 3, 0].map(|bytes| {
            let mut planned = PlannedInput::of("a", InputKind::File);
            planned.input.bytes = bytes;
            planned
        });
        let mut repeats = Repeats::among(&inputs);
        assert_eq!(
            [0, 3, 5].map(|length| repeats.may_have(length)),
            [false, true, false]
        );
        let (one, other) = (blake3::hash(b"one"), blake3::hash(b"other"));
        assert_eq!(repeats.first(one, 0), None);
        assert_eq!(repeats.first(other, 1), None);
        assert_eq!(repeats.first(one, 3), Some(0));
        assert_eq!(repeats.first(one, 4), Some(0));
    }
}
