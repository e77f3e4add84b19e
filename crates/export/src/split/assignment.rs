//! The part of a divided export that each conversation goes to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;

use chatmill_dataset::Dataset;
use chatmill_diag::{Reason, cut};

use crate::error::ExportError;
use crate::filter::reasons::{NGRAM_LEAKS, NO_TIME};
use crate::split::earlier;
use crate::split::groups::{Groups, groups};
use crate::split::leaks::Division;
use crate::split::strata::{Strata, StrataSummary};
use crate::split::texts::ConversationTexts;
use crate::split::{Split, SplitBy, SplitPart};

/// The assignment of conversations to parts.
#[derive(Debug)]
pub(crate) struct Assignment {
    /// The conversations in the order of the dataset.
    order: Vec<String>,
    numbers: HashMap<String, usize>,
    places: Vec<Destination>,
    /// For a division by time: the instant at which each part begins.
    pub(crate) begins: Vec<Option<i64>>,
    /// Whether each conversation shares words with a part before its own, or why that was not counted.
    leaks: Result<Vec<bool>, String>,
    /// Conversations that went to another part because of words that they share.
    pub(crate) moved: u64,
    /// Groups with members in several parts, which only an earlier export divides; none where there are none.
    pub(crate) divided_groups: Option<u64>,
    /// How near the parts come to their shares of the strata.
    pub(crate) strata: Option<StrataSummary>,
}

/// Where a conversation goes.
#[derive(Clone, Copy, Debug)]
enum Destination {
    Part(usize),
    /// Into no part of a division by time, for it has no time.
    Timeless,
    /// Into no part, for it shares words with another.
    Dropped,
}

impl Assignment {
    /// The file that a later export reads: conversations in their order, each with its part.
    pub(crate) fn remembered(&self, parts: &[SplitPart]) -> String {
        let named = self.order.iter().filter_map(|id| {
            let part = parts.get(self.part(id).ok()?)?;
            Some((id.as_str(), part.name.as_str()))
        });
        earlier::text(named)
    }

    /// The index of a conversation's part, or why it is in none.
    pub(crate) fn part(&self, conversation: &str) -> Result<usize, Reason> {
        let number = self.numbers.get(conversation);
        match number.map(|number| cut::at(&self.places, *number)) {
            Some(Destination::Part(part)) => Ok(*part),
            Some(Destination::Dropped) => Err(NGRAM_LEAKS),
            Some(Destination::Timeless) | None => Err(NO_TIME),
        }
    }

    /// Why it was not counted which conversations share words.
    pub(crate) fn why_unknown(&self) -> Option<&str> {
        self.leaks.as_ref().err().map(String::as_str)
    }

    /// Whether a conversation is known to share words with a part before its own.
    pub(crate) fn leaks(&self, conversation: &str) -> bool {
        let number = self.numbers.get(conversation).zip(self.leaks.as_ref().ok());
        number.is_some_and(|(number, leaks)| *cut::at(leaks, *number))
    }
}

/// Divides the conversations of a dataset.
pub(crate) fn assign(dataset: &Dataset, split: &Split, stop: &AtomicBool) -> Result<Assignment, ExportError> {
    if split.stratify.is_some() && split.by == SplitBy::Time {
        return Err(ExportError::request(
            "`split.stratify` divides by a hash, and `--split-by time` by the time",
            "take another --split-by, or leave `split.stratify` out and run the pipeline again",
        ));
    }
    let grouped = groups(dataset, split, stop)?;
    let begins = begins(&grouped, split);
    let assigned = assigned(&grouped, split)?;
    // A new conversation goes to the part of the first earlier one of its group.
    let mut firsts: BTreeMap<usize, usize> = BTreeMap::new();
    for (group, part) in grouped.of.iter().zip(&assigned) {
        if let Some(part) = part {
            firsts.entry(*group).or_insert(*part);
        }
    }
    let group_parts = group_parts(&grouped, split, &begins, &assigned, &firsts);
    let part =
        |(group, assigned): (&usize, &Option<usize>)| assigned.or_else(|| group_parts.get(group).copied());
    let mut division = Division {
        split,
        texts: ConversationTexts {
            dataset,
            numbers: &grouped.numbers,
            stop,
        },
        groups: &grouped.of,
        assigned: &assigned,
        is_bound: &|group| firsts.contains_key(&group),
        parts: grouped.of.iter().zip(&assigned).map(part).collect(),
    };
    let leaks = division.resolve()?;
    let place = |(part, dropped): (&Option<usize>, &bool)| match part {
        Some(_) if *dropped => Destination::Dropped,
        Some(part) => Destination::Part(*part),
        None => Destination::Timeless,
    };
    let places: Vec<Destination> = division.parts.iter().zip(&leaks.dropped).map(place).collect();
    let strata = split.stratify.as_deref();
    Ok(Assignment {
        strata: strata.and_then(|by| strata_summary(by, &grouped, split, &places)),
        divided_groups: divided_groups(&grouped.of, &places),
        order: grouped.ids,
        numbers: grouped.numbers,
        places,
        begins,
        leaks: leaks.left,
        moved: leaks.moved,
    })
}

/// The number of groups with members in several parts; none where there are none.
fn divided_groups(groups: &[usize], places: &[Destination]) -> Option<u64> {
    let mut group_parts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut divided: BTreeSet<usize> = BTreeSet::new();
    for (group, place) in groups.iter().zip(places) {
        if let Destination::Part(part) = place
            && *group_parts.entry(*group).or_insert(*part) != *part
        {
            divided.insert(*group);
        }
    }
    (!divided.is_empty()).then_some(divided.len() as u64)
}

/// The part of each conversation in the earlier export, where there is one.
fn assigned(grouped: &Groups, split: &Split) -> Result<Vec<Option<usize>>, ExportError> {
    let Some(folder) = &split.like else {
        return Ok(vec![None; grouped.ids.len()]);
    };
    let earlier = earlier::read(folder, &split.parts)?;
    Ok(grouped.ids.iter().map(|id| earlier.get(id).copied()).collect())
}

/// The instants at which the parts begin, for a division by time.
fn begins(grouped: &Groups, split: &Split) -> Vec<Option<i64>> {
    if split.by != SplitBy::Time {
        return vec![None; split.parts.len()];
    }
    let dated: Option<Vec<i64>> = split.parts.iter().map(|part| part.share.begins()).collect();
    let begins = dated.unwrap_or_else(|| {
        boundaries(
            grouped.members().filter_map(|group| group.began).collect(),
            &split.weights(),
        )
    });
    begins.into_iter().map(Some).collect()
}

/// The part of each group; none in a division by time where the group has no time.
fn group_parts(
    grouped: &Groups,
    split: &Split,
    begins: &[Option<i64>],
    assigned: &[Option<usize>],
    firsts: &BTreeMap<usize, usize>,
) -> BTreeMap<usize, usize> {
    let weights = split.weights();
    let mut group_parts = firsts.clone();
    if split.stratify.is_some() {
        let mut strata = Strata::new(grouped.strata.iter().map(String::as_str), &weights);
        let mut free: BTreeMap<usize, (u64, Vec<usize>)> = BTreeMap::new();
        for (member, (group, assigned)) in grouped.of.iter().zip(assigned).enumerate() {
            if let Some(part) = assigned.or_else(|| firsts.get(group).copied()) {
                strata.put(member, part);
            } else {
                let hash = grouped.deciding(*group).hash;
                free.entry(*group).or_insert((hash, Vec::new())).1.push(member);
            }
        }
        group_parts.extend(strata.place(&free));
        return group_parts;
    }
    for (group, deciding) in grouped.of.iter().zip(grouped.members()) {
        let part = match split.by {
            SplitBy::Hash | SplitBy::Room => by_hash(deciding.hash, &weights),
            SplitBy::Time => deciding.began.and_then(|began| {
                let has_begun = |begins: &Option<i64>| begins.is_some_and(|begins| begins <= began);
                begins.iter().rposition(has_begun)
            }),
        };
        if let Some(part) = part {
            group_parts.entry(*group).or_insert(part);
        }
    }
    group_parts
}

/// How near the parts come to their shares of the strata, of what is in a part.
fn strata_summary(
    by: &str,
    grouped: &Groups,
    split: &Split,
    places: &[Destination],
) -> Option<StrataSummary> {
    let (strata, parts): (Vec<&str>, Vec<usize>) = grouped
        .strata
        .iter()
        .zip(places)
        .filter_map(|(stratum, place)| match place {
            Destination::Part(part) => Some((stratum.as_str(), *part)),
            Destination::Timeless | Destination::Dropped => None,
        })
        .unzip();
    let names: Vec<&str> = split.parts.iter().map(|part| part.name.as_str()).collect();
    Strata::new(strata.into_iter(), &split.weights()).summary(by, &names, &parts)
}

/// The part whose range of hashes has this one; each range is as wide as the weight of its part.
fn by_hash(hash: u64, weights: &[u64]) -> Option<usize> {
    let total: u128 = weights.iter().copied().map(u128::from).sum();
    let point = (u128::from(hash) * total) >> 64;
    let mut end = 0;
    weights.iter().position(|weight| {
        end += u128::from(*weight);
        point < end
    })
}

/// The instants at which the parts begin: each part gets conversations in proportion to its weight. Conversations that began at
/// the same time stay in one part.
fn boundaries(mut began: Vec<i64>, weights: &[u64]) -> Vec<i64> {
    began.sort_unstable();
    let total: u128 = weights.iter().copied().map(u128::from).sum();
    let mut before: u128 = 0;
    weights
        .iter()
        .map(|weight| {
            let at = began.len() as u128 * before / total.max(1);
            before += u128::from(*weight);
            if at == 0 && before == u128::from(*weight) {
                return i64::MIN;
            }
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            // A part after the last conversation begins at the end of time and stays empty.
            began.get(at).copied().unwrap_or(i64::MAX)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_fall_into_parts_by_weight() {
        assert_eq!(by_hash(0, &[95, 5]), Some(0));
        assert_eq!(by_hash(u64::MAX, &[95, 5]), Some(1));
        let step = u64::MAX / 1000;
        let first = (0..1000)
            .filter(|n| by_hash(n * step + step / 2, &[3, 1]) == Some(0))
            .count();
        assert_eq!(first, 750);
    }

    #[test]
    fn a_group_in_two_parts_is_divided_and_one_that_lost_members_is_not() {
        let places = [
            Destination::Part(0),
            Destination::Part(1),
            Destination::Part(0),
            Destination::Dropped,
            Destination::Timeless,
        ];
        assert_eq!(divided_groups(&[7, 7, 7, 7, 7], &places), Some(1));
        assert_eq!(divided_groups(&[7, 8, 7, 8, 8], &places), None);
    }

    #[test]
    fn boundaries_follow_the_weights_and_keep_equal_times_together() {
        assert_eq!(boundaries((0..100).collect(), &[9, 1]), [i64::MIN, 90]);
        assert_eq!(boundaries(vec![1, 1, 1, 2], &[1, 1]), [i64::MIN, 1]);
        assert_eq!(boundaries(Vec::new(), &[1, 1]), [i64::MIN, i64::MAX]);
    }
}
