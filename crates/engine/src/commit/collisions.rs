//! Conversation ids that occur more than once: one conversation keeps the id, the others get new ones.
//!
//! Occurrences are compared in canonical order. The first keeps its id; one from another input gets `~` and
//! six hexadecimal digits of that input's name; repeats inside one input get `~2`, `~3` and so on.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::SliceId;
use serde::{Deserialize, Deserializer};

use crate::slice::Slice;
use crate::work::receipt::SliceReceipt;

/// The part of a slice's receipt that a run keeps in memory to find
/// duplicate ids. It is small because there may be a million slices.
#[derive(Debug)]
pub(crate) struct Ids {
    /// Hash of the slice's digest.
    slice: blake3::Hash,
    /// The number of ids.
    pub count: usize,
    /// Whether any of the ids was qualified.
    is_renamed: bool,
}

impl Ids {
    /// Takes the ids of a slice from its receipt.
    pub(crate) fn of(receipt: &SliceReceipt) -> Self {
        Self {
            slice: blake3::hash(receipt.slice.as_bytes()),
            count: receipt.ids.len(),
            is_renamed: !receipt.renamed.is_empty(),
        }
    }

    /// Returns whether the ids belong to this slice.
    pub(crate) fn are_of(&self, slice: &Slice) -> bool {
        self.slice == blake3::hash(slice.digest().as_bytes())
    }

    /// Returns whether a receipt that was read back agrees with these ids.
    pub(crate) fn agree_with(&self, receipt: &SliceReceipt) -> bool {
        self.slice == blake3::hash(receipt.slice.as_bytes())
            && self.count == receipt.ids.len()
            && self.is_renamed != receipt.renamed.is_empty()
    }
}

/// The ids of a receipt, reduced to hashes.
#[derive(Debug, Deserialize)]
pub(crate) struct SliceHashes {
    /// The hash of each id, with its input.
    ids: Vec<(usize, HashedId)>,
    /// Ids that replaced others.
    renamed: BTreeMap<usize, String>,
}

/// The hash of an id; its text is not kept.
#[derive(Clone, Copy, Debug)]
struct HashedId(u64);

impl<'de> Deserialize<'de> for HashedId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Id<'i>(#[serde(borrow)] Cow<'i, str>);
        Id::deserialize(deserializer).map(|Id(id)| Self(hash_of(&id)))
    }
}

/// The hashes of all ids of a run: eight bytes per conversation, in one list that is sorted in place.
#[derive(Debug, Default)]
pub(crate) struct IdHashes {
    hashes: Vec<u64>,
    is_renamed: bool,
}

impl IdHashes {
    /// Creates an empty list with this capacity.
    pub(crate) fn of(count: usize) -> Self {
        Self {
            hashes: Vec::with_capacity(count),
            is_renamed: false,
        }
    }

    /// Adds the hashes of a slice.
    pub(crate) fn add(&mut self, slice: &SliceHashes) {
        self.hashes.extend(slice.ids.iter().map(|(_, id)| id.0));
        self.is_renamed |= !slice.renamed.is_empty();
    }

    /// Ends the collection and returns the hashes that occur more than
    /// once, sorted; `None` if no id can be duplicate and none was renamed.
    pub(crate) fn close(&mut self) -> Option<Vec<u64>> {
        let repeated = repeated(&mut self.hashes);
        (self.is_renamed || !repeated.is_empty()).then_some(repeated)
    }

    /// Returns whether an id has the hash of one that was added before [`close`](Self::close).
    pub(crate) fn has(&self, id: &str) -> bool {
        self.hashes.binary_search(&hash_of(id)).is_ok()
    }
}

/// Returns the hash of an id, which must be the same in every build, since new ids depend on it.
pub(crate) fn hash_of(id: &str) -> u64 {
    let mut bytes = [0; 8];
    blake3::Hasher::new()
        .update(id.as_bytes())
        .finalize_xof()
        .fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// Sorts hashes and returns those that occur more than once, sorted.
pub(crate) fn repeated(hashes: &mut [u64]) -> Vec<u64> {
    hashes.sort_unstable();
    let equal = hashes
        .chunk_by(|one, other| one == other)
        .filter(|equal| equal.len() > 1);
    equal.filter_map(|equal| equal.first().copied()).collect()
}

/// One conversation of a run, in canonical order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occurrence<'a> {
    /// The slice.
    pub slice: SliceId,
    /// Index among the slice's conversations.
    pub index: usize,
    /// Index of its input.
    pub input: usize,
    /// Id before qualification.
    pub id: &'a str,
}

/// The new ids, per slice and index.
pub(crate) type Renames = BTreeMap<SliceId, BTreeMap<usize, String>>;

/// Returns the new ids; `None` if `stop` was set.
///
/// All occurrences of a duplicate id must be given; others may be left out. `is_taken` returns
/// whether a conversation of the run may have an id, and `name` returns the unique name of an input.
pub(crate) fn renames<'a>(
    occurrences: impl Iterator<Item = Occurrence<'a>> + Clone,
    is_taken: &dyn Fn(&str) -> bool,
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
    // A taken number stays taken, so the search continues after the
    // last one instead of at 2. Otherwise it would be quadratic.
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
        let free = |candidate: &str| !is_taken(candidate) && !given.contains(candidate);
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
        let (hashes, repeated) = hashes(list.iter().map(|(.., id)| *id));
        // Like a run, which keeps the text of an id only if its hash occurs twice.
        let occurrences = occurrences.filter(|one| repeated.contains(&hash_of(one.id)));
        let never = AtomicBool::new(false);
        let renames = renames(occurrences, &|id| hashes.has(id), &name, &never).unwrap();
        list.iter()
            .map(|(slice, index, _, id)| {
                renames
                    .get(&(*slice).into())
                    .and_then(|slice| slice.get(index))
                    .map_or((*id).to_owned(), Clone::clone)
            })
            .collect()
    }

    /// Returns the hashes of some ids, and those that occur more than once.
    fn hashes<'i>(ids: impl Iterator<Item = &'i str>) -> (IdHashes, Vec<u64>) {
        let mut hashes = IdHashes::of(0);
        hashes.add(&SliceHashes {
            ids: ids.map(|id| (0, HashedId(hash_of(id)))).collect(),
            renamed: BTreeMap::new(),
        });
        let repeated = hashes.close().unwrap_or_default();
        (hashes, repeated)
    }

    #[test]
    fn renamed_entries_are_checked_even_without_repeated_ids() {
        let slice = |renamed: &str| {
            let receipt =
                format!(r#"{{"slice": "s", "ids": [[0, "x"], [0, "y\u002d1"]], "renamed": {renamed}}}"#);
            serde_json::from_str::<SliceHashes>(&receipt).unwrap()
        };
        for (renamed, expected) in [("{}", None), (r#"{"1": "x~2"}"#, Some(Vec::new()))] {
            let mut hashes = IdHashes::of(2);
            hashes.add(&slice(renamed));
            assert_eq!(hashes.close(), expected);
            assert!(hashes.has("x") && hashes.has("y-1") && !hashes.has("z"));
        }
        let mut twice = IdHashes::of(2);
        twice.add(&slice("{}"));
        twice.add(&slice("{}"));
        let mut both = [hash_of("x"), hash_of("y-1")];
        both.sort_unstable();
        assert_eq!(twice.close(), Some(both.to_vec()));
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
        let known = hashes(ids.iter().map(String::as_str)).0;
        let renamed = |id: &dyn Fn(usize) -> usize| {
            let occurrences = (0..ids.len()).map(|index| Occurrence {
                slice: 0.into(),
                index,
                input: 0,
                id: &ids[id(index)],
            });
            let never = AtomicBool::new(false);
            renames(occurrences, &|id| known.has(id), &|_| "a".into(), &never)
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
    fn giving_ids_ends_when_stop_is_set() {
        let occurrences = [Occurrence {
            slice: 0.into(),
            index: 0,
            input: 0,
            id: "x",
        }];
        let name = |_| "a".into();
        assert_eq!(
            renames(
                occurrences.iter().copied(),
                &|_| true,
                &name,
                &AtomicBool::new(true)
            ),
            None
        );
    }
}
