//! Stratified placement: each part gets its share of every stratum, as nearly as whole groups allow.
//!
//! Groups are placed from the largest to the smallest, each in the part that lacks most of its share, so that small groups even out what
//! large ones leave. Among equals a hash decides, and never the order of the dataset.

use std::collections::BTreeMap;

use chatmill_diag::cut;
use serde::Serialize;

/// How near the parts come to their shares: the stratum and part that are farthest from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StrataSummary {
    /// The property.
    pub by: String,
    /// The number of strata.
    pub strata: usize,
    /// The value of the property; empty for conversations without it.
    pub stratum: String,
    /// The name of the part.
    pub part: String,
    /// Conversations of the stratum in the part.
    pub conversations: u64,
    /// Conversations that would be its share.
    pub expected: f64,
}

/// Strata with the conversations of each that each part still lacks.
pub(crate) struct Strata {
    names: Vec<String>,
    /// The stratum of each conversation.
    of: Vec<usize>,
    weights: Vec<i128>,
    /// For each stratum and part the lacking conversations, times the sum of the weights; negative for too many.
    lacking: Vec<Vec<i128>>,
}

impl Strata {
    /// All conversations are in no part yet.
    pub(crate) fn new<'n>(strata: impl Iterator<Item = &'n str>, weights: &[u64]) -> Self {
        let strata: Vec<&str> = strata.collect();
        let mut sizes: BTreeMap<&str, i128> = BTreeMap::new();
        for name in &strata {
            *sizes.entry(name).or_default() += 1;
        }
        let numbers: BTreeMap<&str, usize> = sizes.keys().copied().zip(0..).collect();
        let weights: Vec<i128> = weights.iter().map(|weight| i128::from(*weight)).collect();
        let expected = |size: &i128| weights.iter().map(|weight| size * weight).collect();
        Self {
            of: strata
                .iter()
                .filter_map(|name| numbers.get(name).copied())
                .collect(),
            lacking: sizes.values().map(expected).collect(),
            names: sizes.keys().map(|name| (*name).to_owned()).collect(),
            weights,
        }
    }

    /// Puts a conversation into a part.
    pub(crate) fn put(&mut self, conversation: usize, part: usize) {
        let all: i128 = self.weights.iter().sum();
        let lacking = cut::at_mut(&mut self.lacking, *cut::at(&self.of, conversation));
        *cut::at_mut(lacking, part) -= all;
    }

    /// Places groups (their hash and members), and gives the part of each.
    pub(crate) fn place(&mut self, groups: &BTreeMap<usize, (u64, Vec<usize>)>) -> BTreeMap<usize, usize> {
        let mut order: Vec<_> = groups.iter().collect();
        order.sort_by_key(|(number, (hash, members))| (usize::MAX - members.len(), *hash, **number));
        let place = |(number, (_, members)): (&usize, &(u64, Vec<usize>))| {
            let part = self.best(members);
            for member in members {
                self.put(*member, part);
            }
            (*number, part)
        };
        order.into_iter().map(place).collect()
    }

    /// The part with the largest share still to come, of those that the group does not overfill; else the one that lacks most.
    fn best(&self, members: &[usize]) -> usize {
        let mut sizes: BTreeMap<usize, i128> = BTreeMap::new();
        for member in members {
            *sizes.entry(*cut::at(&self.of, *member)).or_default() += 1;
        }
        let all: i128 = self.weights.iter().sum();
        let lack = |part: usize| -> i128 {
            let lacks = sizes
                .iter()
                .map(|(stratum, size)| size * lacking(&self.lacking, *stratum, part));
            lacks.sum()
        };
        let fits = |part: &usize| {
            let mut sizes = sizes.iter();
            sizes.all(|(stratum, size)| size * all <= lacking(&self.lacking, *stratum, *part))
        };
        let parts = 0..self.weights.len();
        let weight = |part: usize| *cut::at(&self.weights, part);
        let fitting = parts.clone().rev().filter(fits);
        let nearest =
            fitting.max_by(|one, other| (lack(*one) * weight(*other)).cmp(&(lack(*other) * weight(*one))));
        let best = nearest.or_else(|| parts.rev().max_by_key(|part| lack(*part)));
        best.unwrap_or(0)
    }

    /// The stratum and part that are farthest from their share, with all conversations in `parts`; `self` is as it was made.
    pub(crate) fn summary(mut self, by: &str, names: &[&str], parts: &[usize]) -> Option<StrataSummary> {
        let strata = self.names.len();
        let quotas = self.lacking.clone();
        for (conversation, part) in parts.iter().enumerate() {
            self.put(conversation, *part);
        }
        let all: i128 = self.weights.iter().sum();
        let places = (0..strata).flat_map(|stratum| (0..names.len()).map(move |part| (stratum, part)));
        let lacks = |(stratum, part): (usize, usize)| lacking(&self.lacking, stratum, part);
        let (stratum, part) = places.rev().max_by_key(|place| lacks(*place).abs())?;
        let expected = lacking(&quotas, stratum, part);
        Some(StrataSummary {
            by: by.to_owned(),
            strata,
            stratum: cut::at(&self.names, stratum).clone(),
            part: (*cut::at(names, part)).to_owned(),
            conversations: u64::try_from((expected - lacks((stratum, part))) / all.max(1)).unwrap_or(0),
            expected: tenths(expected, all),
        })
    }
}

fn lacking(lacking: &[Vec<i128>], stratum: usize, part: usize) -> i128 {
    let parts = cut::at(lacking, stratum);
    *cut::at(parts, part)
}

/// A quotient to one place.
fn tenths(number: i128, divisor: i128) -> f64 {
    let tenths = (number * 10 + divisor / 2) / divisor.max(1);
    f64::from(i32::try_from(tenths).unwrap_or(i32::MAX)) / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups by their sizes and strata, each with its place in the list as its hash.
    fn stratified(groups: &[&[&str]], weights: &[u64]) -> (Vec<usize>, StrataSummary) {
        let names: Vec<&str> = groups.iter().copied().flatten().copied().collect();
        let mut members = 0..names.len();
        let grouped = groups.iter().zip(0..).map(|(group, number)| {
            (
                number,
                (
                    number as u64,
                    members.by_ref().take(group.len()).collect::<Vec<_>>(),
                ),
            )
        });
        let grouped: BTreeMap<usize, (u64, Vec<usize>)> = grouped.collect();
        let group_parts = Strata::new(names.iter().copied(), weights).place(&grouped);
        let parts: Vec<usize> = grouped
            .iter()
            .flat_map(|(number, (_, members))| vec![group_parts[number]; members.len()])
            .collect();
        let summary = Strata::new(names.into_iter(), weights).summary("source", &["train", "test"], &parts);
        (group_parts.into_values().collect(), summary.unwrap())
    }

    #[test]
    fn conversations_alone_give_every_stratum_its_share_to_less_than_one() {
        let alone: Vec<&[&str]> = [vec![&["a"][..]; 40], vec![&["b"][..]; 7], vec![&["c"][..]; 1]].concat();
        let (group_parts, summary) = stratified(&alone, &[75, 25]);
        let tests =
            |range: std::ops::Range<usize>| group_parts[range].iter().filter(|part| **part == 1).count();
        assert_eq!((tests(0..40), tests(40..47), tests(47..48)), (10, 2, 0));
        assert_eq!((summary.strata, summary.stratum.as_str()), (3, "b"));
        assert!(
            (summary.expected - summary.conversations as f64).abs() < 1.0,
            "{summary:?}"
        );
    }

    #[test]
    fn a_group_that_does_not_fit_a_part_goes_where_most_is_lacking_and_small_ones_even_it_out() {
        let groups: [&[&str]; 6] = [&["a"; 6], &["a"], &["a"], &["a"], &["a"], &["b", "a"]];
        let (group_parts, summary) = stratified(&groups, &[2, 1]);
        assert_eq!(group_parts[0], 0, "six of twelve are too many for a third");
        assert!(
            (summary.expected - summary.conversations as f64).abs() < 1.0,
            "{summary:?}"
        );
    }

    #[test]
    fn conversations_that_have_their_place_count_before_others_are_placed() {
        let mut strata = Strata::new(["a"; 10].into_iter(), &[1, 1]);
        for member in 0..5 {
            strata.put(member, 1);
        }
        let free: BTreeMap<usize, (u64, Vec<usize>)> =
            (5..10).map(|member| (member, (7, vec![member]))).collect();
        assert!(strata.place(&free).values().all(|part| *part == 0));
    }
}
