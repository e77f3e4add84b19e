//! Conversation ids that occur more than once: who keeps the id, and what the others are called.
//!
//! Occurrences are judged in canonical order. The first keeps its id; one from another input gets `~` and six hexadecimal
//! digits of that input's name; repeats inside one input get `~2`, `~3` and so on.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::SliceId;

use crate::slice::Slice;
use crate::work::receipt::SliceReceipt;

/// What a run keeps of a slice's receipt in memory: enough to see that no id occurs twice, and to know the receipt again.
#[derive(Debug)]
pub struct Ids {
    /// Digest of the slice.
    slice: String,
    /// Of each id.
    hashes: Vec<u64>,
    /// Whether one of them was qualified.
    is_renamed: bool,
}

impl Ids {
    /// Those of a slice.
    pub fn of(receipt: &SliceReceipt) -> Self {
        Self {
            slice: receipt.slice.clone(),
            hashes: receipt.ids.iter().map(|(_, id)| hash_of(id)).collect(),
            is_renamed: !receipt.renamed.is_empty(),
        }
    }

    /// Whether they are those of this very slice.
    pub fn are_of(&self, slice: &Slice) -> bool {
        self.slice == slice.digest()
    }

    /// Whether a receipt that was read back can be the one that they were taken from.
    pub fn agree_with(&self, receipt: &SliceReceipt) -> bool {
        self.slice == receipt.slice
            && self.hashes.len() == receipt.ids.len()
            && self.is_renamed != receipt.renamed.is_empty()
    }
}

/// Whether an id may occur twice among some slices, or was taken to.
pub fn may_collide<'i>(slices: impl Iterator<Item = &'i Ids>) -> bool {
    let mut hashes = Vec::new();
    let mut is_renamed = false;
    for ids in slices {
        hashes.extend_from_slice(&ids.hashes);
        is_renamed |= ids.is_renamed;
    }
    is_renamed || !repeated(hashes).is_empty()
}

/// What is kept of an id until all are known.
pub fn hash_of(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// The hashes that occur more than once.
pub fn repeated(mut hashes: Vec<u64>) -> BTreeSet<u64> {
    hashes.sort_unstable();
    let equal = hashes
        .chunk_by(|one, other| one == other)
        .filter(|equal| equal.len() > 1);
    equal.filter_map(|equal| equal.first().copied()).collect()
}

/// One conversation of a run, in canonical order.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// Slice.
    pub slice: SliceId,
    /// Index among the slice's conversations.
    pub index: usize,
    /// Index of its input.
    pub input: usize,
    /// Id before qualification.
    pub id: &'a str,
}

/// The new ids, per slice and index.
pub type Renames = BTreeMap<SliceId, BTreeMap<usize, String>>;

/// Gives the new ids, or nothing when `stop` was set. `name` is that of an input: no two have the same.
pub fn renames<'a>(
    occurrences: impl Iterator<Item = Occurrence<'a>> + Clone,
    name: &dyn Fn(usize) -> Cow<'a, str>,
    stop: &AtomicBool,
) -> Option<Renames> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for occurrence in occurrences.clone() {
        *counts.entry(occurrence.id).or_default() += 1;
    }
    let mut renames = Renames::new();
    let mut given: BTreeSet<String> = BTreeSet::new();
    let mut first_input: BTreeMap<&str, usize> = BTreeMap::new();
    // A number that was taken stays so: to look for a free one, nobody begins at the first again.
    let mut next: BTreeMap<String, u32> = BTreeMap::new();
    for occurrence in occurrences {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        if counts.get(occurrence.id).is_none_or(|count| *count < 2) {
            continue;
        }
        let Some(first) = first_input.get(occurrence.id) else {
            first_input.insert(occurrence.id, occurrence.input);
            continue;
        };
        let stem = if *first == occurrence.input {
            occurrence.id.to_owned()
        } else {
            let hash = blake3::hash(name(occurrence.input).as_bytes()).to_hex();
            format!("{}~{}", occurrence.id, hash.chars().take(6).collect::<String>())
        };
        let free = |candidate: &str| !counts.contains_key(candidate) && !given.contains(candidate);
        let number = next.entry(stem.clone()).or_insert(1);
        let candidate = loop {
            let candidate = match *number {
                1 => stem.clone(),
                number => format!("{stem}~{number}"),
            };
            *number += 1;
            if free(&candidate) {
                break candidate;
            }
        };
        given.insert(candidate.clone());
        renames
            .entry(occurrence.slice)
            .or_default()
            .insert(occurrence.index, candidate);
    }
    Some(renames)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(list: &[(u32, usize, &str, &str)]) -> Vec<String> {
        let occurrences = list.iter().map(|(slice, index, input, id)| Occurrence {
            slice: (*slice).into(),
            index: *index,
            input: usize::from(*input == "b"),
            id,
        });
        let name = |input: usize| ["a", "b"][input].into();
        let renames = renames(occurrences, &name, &AtomicBool::new(false)).unwrap();
        list.iter()
            .map(|(slice, index, _, id)| {
                renames
                    .get(&(*slice).into())
                    .and_then(|slice| slice.get(index))
                    .map_or((*id).to_owned(), Clone::clone)
            })
            .collect()
    }

    #[test]
    fn unique_ids_stay() {
        assert_eq!(named(&[(0, 0, "a", "x"), (0, 1, "a", "y")]), ["x", "y"]);
    }

    #[test]
    fn repeats_in_one_input_are_numbered_and_other_inputs_are_marked() {
        let ids = named(&[
            (0, 0, "a", "x"),
            (0, 1, "a", "x"),
            (1, 0, "a", "x"),
            (1, 1, "b", "x"),
            (2, 0, "b", "x"),
        ]);
        assert_eq!(ids[..3], ["x", "x~2", "x~3"]);
        assert!(ids[3].starts_with("x~") && ids[3].len() == 8, "{}", ids[3]);
        assert_eq!(ids[4], format!("{}~2", ids[3]));
    }

    #[test]
    fn a_given_id_never_takes_one_that_exists() {
        assert_eq!(
            named(&[(0, 0, "a", "x"), (0, 1, "a", "x~2"), (0, 2, "a", "x")]),
            ["x", "x~2", "x~3"]
        );
    }
    #[test]
    fn equal_ids_cost_no_more_than_different_ones() {
        let ids: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
        let renamed = |id: &dyn Fn(usize) -> usize| {
            let occurrences = (0..ids.len()).map(|index| Occurrence {
                slice: 0.into(),
                index,
                input: 0,
                id: &ids[id(index)],
            });
            let never = AtomicBool::new(false);
            renames(occurrences, &|_| "a".into(), &never)
                .unwrap()
                .into_values()
                .map(|slice| slice.len())
                .sum::<usize>()
        };
        assert_eq!(renamed(&|index| index), 0);
        // With every search from the beginning, this would be two hundred million tries.
        assert_eq!(renamed(&|_| 0), 19_999);
        assert_eq!(renamed(&|index| index / 2), 10_000);
    }

    #[test]
    fn giving_ids_ends_when_it_is_told_to() {
        let occurrences = [Occurrence {
            slice: 0.into(),
            index: 0,
            input: 0,
            id: "x",
        }];
        let name = |_| "a".into();
        assert_eq!(
            renames(occurrences.iter().copied(), &name, &AtomicBool::new(true)),
            None
        );
    }
}
