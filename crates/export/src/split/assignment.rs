//! The part of a divided export that each conversation goes to.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use chatmill_dataset::Dataset;
use chatmill_diag::{Reason, cut};

use crate::error::ExportError;
use crate::filter::reasons::{GAP, NGRAM_LEAKS, NO_TIME, SPANS};
use crate::split::earlier;
use crate::split::groups::{Groups, groups};
use crate::split::leaks::Division;
use crate::split::strata::{Strata, StrataSummary};
use crate::split::texts::ConversationTexts;
use crate::split::units::Units;
use crate::split::{Split, SplitBy};

/// The assignment of conversations to parts.
#[derive(Debug)]
pub(crate) struct Assignment {
    /// The id of each unit, in the order of the dataset.
    order: Vec<String>,
    units: Units,
    places: Vec<Destination>,
    /// For a division by time: the instant at which each part begins.
    pub(crate) begins: Vec<Option<i64>>,
    /// Whether each unit shares words with an earlier part, or the reason for which that was not counted.
    leaks: Result<Vec<bool>, String>,
    /// Conversations that moved to another part because of shared words.
    pub(crate) moved: u64,
    /// Groups with members in several parts, which only an earlier export can cause; `None` if there are none.
    pub(crate) divided_groups: Option<u64>,
    /// The distance of the parts from their shares of the strata.
    pub(crate) strata: Option<StrataSummary>,
}

/// The destination of a conversation.
#[derive(Clone, Copy, Debug)]
enum Destination {
    Part(usize),
    /// No part of a division by time, because it has no time.
    Timeless,
    /// No part, because it shares words with another part.
    Dropped,
    /// No part, because it follows an earlier part too soon.
    Near,
}

impl Assignment {
    /// The file that a later export reads: conversations in order, each with its part.
    pub(crate) fn remembered(&self, split: &Split) -> String {
        let named = self
            .order
            .iter()
            .zip(&self.places)
            .filter_map(|(id, place)| match place {
                Destination::Part(part) => Some((id.as_str(), split.parts.get(*part)?.name.as_str())),
                _ => None,
            });
        earlier::text(named, split.by)
    }

    /// The index of the part of a rendering with these positions of a conversation, or the reason for which it is in none.
    pub(crate) fn part(&self, conversation: &str, shown: Option<(u64, u64)>) -> Result<usize, Reason> {
        let mut units = self.shown(conversation, shown);
        let first = units.next().ok_or(NO_TIME)?;
        let part = self.part_of(first)?;
        if units.any(|unit| self.part_of(unit).ok() != Some(part)) {
            return Err(SPANS);
        }
        Ok(part)
    }

    fn part_of(&self, unit: usize) -> Result<usize, Reason> {
        match cut::at(&self.places, unit) {
            Destination::Part(part) => Ok(*part),
            Destination::Dropped => Err(NGRAM_LEAKS),
            Destination::Timeless => Err(NO_TIME),
            Destination::Near => Err(GAP),
        }
    }

    /// The units with these positions of a conversation; all its units if the positions are not known.
    fn shown(&self, conversation: &str, shown: Option<(u64, u64)>) -> Range<usize> {
        let units = self.units.of(conversation).unwrap_or_default();
        match shown {
            Some((first, last)) if units.len() > 1 => {
                self.units.at(&units, first)..self.units.at(&units, last) + 1
            }
            _ => units,
        }
    }

    /// The reason for which shared words were not counted.
    pub(crate) fn why_unknown(&self) -> Option<&str> {
        self.leaks.as_ref().err().map(String::as_str)
    }

    /// Whether a rendering with these positions of a conversation is known to share words with an earlier part.
    pub(crate) fn leaks(&self, conversation: &str, shown: Option<(u64, u64)>) -> bool {
        let leaks = self.leaks.as_ref().ok();
        leaks.is_some_and(|leaks| self.shown(conversation, shown).any(|unit| *cut::at(leaks, unit)))
    }
}

/// Divides the conversations of a dataset.
pub(crate) fn assign(dataset: &Dataset, split: &Split, stop: &AtomicBool) -> Result<Assignment, ExportError> {
    check(split)?;
    let earlier_datasets: Vec<Dataset> = split
        .against
        .iter()
        .map(|folder| Dataset::open(folder))
        .collect::<Result<_, _>>()?;
    let datasets: Vec<&Dataset> = std::iter::once(dataset).chain(&earlier_datasets).collect();
    let (grouped, mut corpora) = groups(&datasets, split, stop)?;
    let begins = begins(&grouped, split);
    let assigned = assigned(&grouped, split)?;
    if !split.against.is_empty() && assigned.iter().skip(grouped.own).all(Option::is_none) {
        return Err(ExportError::request(
            "the datasets of `--split-against` have nothing that the export of `--split-like` divided",
            "name the dataset from which that export was made",
        ));
    }
    // A new conversation goes to the part of the first earlier one of its group; conversations of earlier datasets come first.
    let mut firsts: BTreeMap<usize, usize> = BTreeMap::new();
    let members = || grouped.of.iter().zip(&assigned);
    for (group, part) in members().skip(grouped.own).chain(members().take(grouped.own)) {
        if let Some(part) = part {
            firsts.entry(*group).or_insert(*part);
        }
    }
    let group_parts = group_parts(&grouped, split, &begins, &assigned, &firsts);
    let part = |(member, (group, assigned)): (usize, (&usize, &Option<usize>))| {
        // A conversation that the earlier export does not have is in none of its parts.
        let free = (member < grouped.own)
            .then(|| group_parts.get(group).copied())
            .flatten();
        assigned.or(free)
    };
    let mut division = Division {
        split,
        texts: ConversationTexts {
            corpora: &corpora,
            stop,
        },
        groups: &grouped.of,
        assigned: &assigned,
        is_bound: &|group| firsts.contains_key(&group),
        parts: grouped.of.iter().zip(&assigned).enumerate().map(part).collect(),
    };
    let leaks = division.resolve()?;
    let place = |(part, dropped): (&Option<usize>, &bool)| match part {
        Some(_) if *dropped => Destination::Dropped,
        Some(part) => Destination::Part(*part),
        None => Destination::Timeless,
    };
    let places = division.parts.iter().zip(&leaks.dropped).map(place);
    let mut places: Vec<Destination> = places.take(grouped.own).collect();
    if split.by == SplitBy::Session && split.gap > 0 {
        leave_gaps(&mut places, &grouped, &assigned, split);
    }
    let strata = split.stratify.as_deref();
    Ok(Assignment {
        strata: strata.and_then(|by| strata_summary(by, &grouped, split, &places)),
        divided_groups: divided_groups(&grouped.of, &places),
        order: grouped.ids,
        units: corpora.swap_remove(0).units,
        places,
        begins,
        leaks: leaks.left,
        moved: leaks.moved,
    })
}

/// Refuses settings that contradict the kind of division.
fn check(split: &Split) -> Result<(), ExportError> {
    if split.stratify.is_some() && split.by.is_time() {
        return Err(ExportError::request(
            "`split.stratify` divides by a hash, and `--split-by time` and `session` by the time",
            "take another --split-by, or leave `split.stratify` out and run the pipeline again",
        ));
    }
    if !split.against.is_empty() && split.like.is_none() {
        return Err(ExportError::request(
            "`--split-against` names the dataset of an earlier export, and there is none",
            "name the export with `--split-like`",
        ));
    }
    if split.by != SplitBy::Session {
        return Ok(());
    }
    if split.session_gap.is_none() {
        return Err(ExportError::request(
            "`--split-by session` divides where the run had a silence of `window.session_gap`, and it had none",
            "set `window.session_gap` in the pipeline, for example to \"6h\", and run it again",
        ));
    }
    match split.group_by.iter().find(|word| *word != "prompt") {
        None => Ok(()),
        Some(word) => Err(ExportError::request(
            format!(
                "`split.group_by` keeps conversations of one `{word}` together, and `--split-by session` divides them"
            ),
            "take another --split-by, or leave it out of `split.group_by` and run the pipeline again",
        )),
    }
}

/// Leaves out the sessions that begin too soon after the end of an earlier part; sessions of an earlier export stay.
fn leave_gaps(places: &mut [Destination], grouped: &Groups, assigned: &[Option<usize>], split: &Split) {
    let mut ends: Vec<Option<i64>> = vec![None; split.parts.len()];
    for (place, session) in places.iter().zip(&grouped.sessions) {
        if let Destination::Part(part) = place {
            let end = cut::at_mut(&mut ends, *part);
            *end = (*end).max(session.ended);
        }
    }
    let units = places.iter_mut().zip(&grouped.sessions).zip(assigned);
    for ((place, session), assigned) in units {
        let (Destination::Part(part), Some(began), None) = (*place, session.began, assigned) else {
            continue;
        };
        let before = ends.iter().take(part).flatten().max();
        if before.is_some_and(|end| began < end.saturating_add(split.gap)) {
            *place = Destination::Near;
        }
    }
}

/// The number of groups with members in several parts; `None` if there are none.
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

/// The part of each conversation in the earlier export, if there is one.
fn assigned(grouped: &Groups, split: &Split) -> Result<Vec<Option<usize>>, ExportError> {
    let Some(folder) = &split.like else {
        return Ok(vec![None; grouped.ids.len()]);
    };
    let earlier = earlier::read(folder, &split.parts, split.by)?;
    Ok(grouped.ids.iter().map(|id| earlier.get(id).copied()).collect())
}

/// The instants at which the parts begin, for a division by time.
fn begins(grouped: &Groups, split: &Split) -> Vec<Option<i64>> {
    if !split.by.is_time() {
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

/// The part of each group; none for a group without a time in a division by time.
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
            SplitBy::Time | SplitBy::Session => deciding.began.and_then(|began| {
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

/// The distance of the parts from their shares of the strata, over the conversations that are in a part.
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
            Destination::Timeless | Destination::Dropped | Destination::Near => None,
        })
        .unzip();
    let names: Vec<&str> = split.parts.iter().map(|part| part.name.as_str()).collect();
    Strata::new(strata.into_iter(), &split.weights()).summary(by, &names, &parts)
}

/// The part with a range of hashes around this one; each range is as wide as the weight of its part.
fn by_hash(hash: u64, weights: &[u64]) -> Option<usize> {
    let total: u128 = weights.iter().copied().map(u128::from).sum();
    let point = (u128::from(hash) * total) >> 64;
    let mut end = 0;
    weights.iter().position(|weight| {
        end += u128::from(*weight);
        point < end
    })
}

/// The instants at which the parts begin: each part gets conversations in proportion to its weight. Conversations with the same beginning stay in one
/// part.
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
            // A part after the last conversation begins at the end of time and is empty.
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
