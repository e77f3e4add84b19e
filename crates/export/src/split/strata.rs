//! Stratified placement: each part gets its share of every stratum and of the whole, as nearly as whole groups allow.
//!
//! Groups are placed from the largest to the smallest, so that small groups even out the differences that large ones leave. While a part lacks a
//! whole group of a stratum, the group goes there. The remaining lack of each part is then less than a group. These fractions are added up from
//! stratum to stratum, and the part with the largest sum gets the next group: otherwise, many strata of few conversations would all go to the part
//! with the largest share. Among equals a hash decides, and never the order of the dataset.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chatmill_diag::cut;
use serde::Serialize;

/// The distance of the parts from their shares.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StrataSummary {
    /// The property.
    pub by: String,
    /// The number of strata.
    pub strata: usize,
    /// The stratum that is farthest from its share in some part: the value of the property, empty for conversations without it.
    pub stratum: String,
    /// Conversations of this stratum in the part.
    #[serde(flatten)]
    pub farthest: PartQuota,
    /// The part that is farthest from its share of all strata together.
    pub total: PartQuota,
}

/// The conversations in a part, and its share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartQuota {
    /// The name of the part.
    pub part: String,
    /// Conversations in the part.
    pub conversations: u64,
    /// The number of conversations that would be its share.
    pub expected: f64,
}

/// Strata, with the number of conversations of each that each part still lacks.
pub(crate) struct Strata {
    names: Vec<String>,
    /// The stratum of each conversation.
    of: Vec<usize>,
    weights: Vec<i128>,
    /// The sum of the weights.
    all: i128,
    /// For each stratum and part the number of lacking conversations, times the sum of the weights; negative if there are too many.
    lacking: Vec<Vec<i128>>,
    /// The lack of each part over all strata together.
    totals: Vec<i128>,
    /// The lack of each part over the strata with a group that no part lacked as a whole.
    carried: Vec<i128>,
    /// Whether a stratum is one of those.
    is_carried: Vec<bool>,
}

/// A group without a part: its size, the conversations of each stratum, its hash and index. Groups are placed in this order.
type FreeGroup = (Reverse<i128>, Vec<(usize, i128)>, u64, usize);

impl Strata {
    /// Strata with no conversation in any part yet.
    pub(crate) fn new<'n>(strata: impl Iterator<Item = &'n str>, weights: &[u64]) -> Self {
        let strata: Vec<&str> = strata.collect();
        let mut sizes: BTreeMap<&str, i128> = BTreeMap::new();
        for name in &strata {
            *sizes.entry(name).or_default() += 1;
        }
        let numbers: BTreeMap<&str, usize> = sizes.keys().copied().zip(0..).collect();
        let weights: Vec<i128> = weights.iter().map(|weight| i128::from(*weight)).collect();
        let quotas = |size: i128| weights.iter().map(|weight| size * weight).collect();
        Self {
            of: strata
                .iter()
                .filter_map(|name| numbers.get(name).copied())
                .collect(),
            lacking: sizes.values().copied().map(quotas).collect(),
            totals: quotas(sizes.values().sum()),
            carried: quotas(0),
            is_carried: vec![false; sizes.len()],
            names: sizes.keys().map(|name| (*name).to_owned()).collect(),
            all: weights.iter().sum(),
            weights,
        }
    }

    /// Puts a conversation into a part.
    pub(crate) fn put(&mut self, conversation: usize, part: usize) {
        self.add(&[(*cut::at(&self.of, conversation), 1)], part);
    }

    /// Adds conversations of strata to a part.
    fn add(&mut self, sizes: &[(usize, i128)], part: usize) {
        for (stratum, size) in sizes {
            let amount = size * self.all;
            *cut::at_mut(cut::at_mut(&mut self.lacking, *stratum).as_mut_slice(), part) -= amount;
            *cut::at_mut(&mut self.totals, part) -= amount;
            if *cut::at(&self.is_carried, *stratum) {
                *cut::at_mut(&mut self.carried, part) -= amount;
            }
        }
    }

    /// Places groups (their hash and members), and returns the part of each.
    pub(crate) fn place(&mut self, groups: &BTreeMap<usize, (u64, Vec<usize>)>) -> BTreeMap<usize, usize> {
        let free = |(number, (hash, members)): (&usize, &(u64, Vec<usize>))| {
            let mut sizes: BTreeMap<usize, i128> = BTreeMap::new();
            for member in members {
                *sizes.entry(*cut::at(&self.of, *member)).or_default() += 1;
            }
            let size = Reverse(sizes.values().sum());
            (size, sizes.into_iter().collect(), *hash, *number)
        };
        let mut order: Vec<FreeGroup> = groups.iter().map(free).collect();
        order.sort_unstable();
        let place = |(_, sizes, ..): &FreeGroup| {
            let part = self.best(sizes);
            self.add(sizes, part);
            part
        };
        let mut parts: Vec<usize> = order.iter().map(place).collect();
        // With an earlier export, the sizes of whole parts may be far from their shares: new conversations even out their strata only.
        let assigned: usize = groups.values().map(|(_, members)| members.len()).sum();
        if assigned == self.of.len() {
            self.even_out(&order, &mut parts);
        }
        order.iter().map(|(.., number)| *number).zip(parts).collect()
    }

    /// Of the parts that lack the whole group, the one with the largest remaining share; otherwise, of the parts that lack some of the group, the one
    /// with the largest sum of fractions.
    fn best(&mut self, sizes: &[(usize, i128)]) -> usize {
        let lacks = |part: usize| -> i128 {
            let lacks = sizes
                .iter()
                .map(|(stratum, size)| size * lacking(&self.lacking, *stratum, part));
            lacks.sum()
        };
        let lacks: Vec<i128> = (0..self.weights.len()).map(lacks).collect();
        let lack = |part: usize| *cut::at(&lacks, part);
        let weight = |part: usize| *cut::at(&self.weights, part);
        let fits = |part: &usize| {
            let mut sizes = sizes.iter();
            sizes.all(|(stratum, size)| size * self.all <= lacking(&self.lacking, *stratum, *part))
        };
        let parts = (0..lacks.len()).rev();
        let nearest = parts
            .clone()
            .filter(fits)
            .max_by(|one, other| (lack(*one) * weight(*other)).cmp(&(lack(*other) * weight(*one))));
        if let Some(part) = nearest {
            return part;
        }
        for (stratum, _) in sizes {
            if !std::mem::replace(cut::at_mut(&mut self.is_carried, *stratum), true) {
                let lacks = cut::at(&self.lacking, *stratum);
                self.carried
                    .iter_mut()
                    .zip(lacks)
                    .for_each(|(carried, lacks)| *carried += lacks);
            }
        }
        let claim = |part: &usize| (lack(*part) > 0, *cut::at(&self.carried, *part), lack(*part));
        parts.max_by_key(claim).unwrap_or(0)
    }

    /// Moves groups, the largest first, until the distance of each part from its share of all conversations is less than the largest group.
    fn even_out(&mut self, order: &[FreeGroup], parts: &mut [usize]) {
        let largest = order.first().map_or(0, |(size, ..)| size.0 * self.all);
        for ((_, sizes, ..), part) in order.iter().zip(parts) {
            let lacks = |part: usize| *cut::at(&self.totals, part);
            let neediest = (0..self.totals.len()).rev().max_by_key(|part| lacks(*part));
            let neediest = neediest.unwrap_or(0);
            if lacks(*part) <= -largest || lacks(*part) < 0 && lacks(neediest) >= largest {
                let taken: Vec<_> = sizes.iter().map(|(stratum, size)| (*stratum, -size)).collect();
                self.add(&taken, *part);
                self.add(sizes, neediest);
                *part = neediest;
            }
        }
    }

    /// The distance of the parts from their shares, with all conversations in `parts`; `self` must be new.
    pub(crate) fn summary(mut self, by: &str, names: &[&str], parts: &[usize]) -> Option<StrataSummary> {
        let strata = self.names.len();
        let (quotas, total_quotas) = (self.lacking.clone(), self.totals.clone());
        for (conversation, part) in parts.iter().enumerate() {
            self.put(conversation, *part);
        }
        let reached = |part: usize, quota: i128, lacks: i128| PartQuota {
            part: (*cut::at(names, part)).to_owned(),
            conversations: u64::try_from((quota - lacks) / self.all.max(1)).unwrap_or(0),
            expected: tenths(quota, self.all),
        };
        let places = (0..strata).flat_map(|stratum| (0..names.len()).map(move |part| (stratum, part)));
        let lacks = |(stratum, part): (usize, usize)| lacking(&self.lacking, stratum, part);
        let (stratum, part) = places.rev().max_by_key(|place| lacks(*place).abs())?;
        let lacks_total = |part: usize| *cut::at(&self.totals, part);
        let farthest = (0..names.len())
            .rev()
            .max_by_key(|part| lacks_total(*part).abs())?;
        Some(StrataSummary {
            by: by.to_owned(),
            strata,
            stratum: cut::at(&self.names, stratum).clone(),
            farthest: reached(part, lacking(&quotas, stratum, part), lacks((stratum, part))),
            total: reached(farthest, *cut::at(&total_quotas, farthest), lacks_total(farthest)),
        })
    }
}

fn lacking(lacking: &[Vec<i128>], stratum: usize, part: usize) -> i128 {
    let parts = cut::at(lacking, stratum);
    *cut::at(parts, part)
}

/// A quotient to one decimal place.
fn tenths(number: i128, divisor: i128) -> f64 {
    let tenths = (number * 10 + divisor / 2) / divisor.max(1);
    f64::from(i32::try_from(tenths).unwrap_or(i32::MAX)) / 10.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Groups by their sizes and strata, each with its index as its hash.
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
            (summary.farthest.expected - summary.farthest.conversations as f64).abs() < 1.0,
            "{summary:?}"
        );
    }

    #[test]
    fn a_group_that_does_not_fit_a_part_goes_where_most_is_lacking_and_small_ones_even_it_out() {
        let groups: [&[&str]; 6] = [&["a"; 6], &["a"], &["a"], &["a"], &["a"], &["b", "a"]];
        let (group_parts, summary) = stratified(&groups, &[2, 1]);
        assert_eq!(group_parts[0], 0, "six of twelve are too many for a third");
        assert!(
            (summary.farthest.expected - summary.farthest.conversations as f64).abs() < 1.0,
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

    #[test]
    fn rare_values_are_divided_like_frequent_ones() {
        let topics: Vec<String> = (0..250).map(|topic| format!("t{topic}")).collect();
        let rare = topics.iter().flat_map(|topic| [topic.as_str(); 4]);
        let all: Vec<[&str; 1]> = ["en"; 1000].into_iter().chain(rare).map(|name| [name]).collect();
        let (parts, summary) = stratified(&all.iter().map(|one| &one[..]).collect::<Vec<_>>(), &[90, 10]);
        let tests = |range: std::ops::Range<usize>| parts[range].iter().filter(|part| **part == 1).count();
        assert_eq!((tests(0..1000), tests(1000..2000)), (100, 100));
        assert_eq!(
            (summary.total.conversations, summary.total.expected),
            (1800, 1800.0)
        );

        let alone: Vec<[&str; 1]> = topics.iter().map(|topic| [topic.as_str()]).collect();
        let (parts, _) = stratified(&alone.iter().map(|one| &one[..]).collect::<Vec<_>>(), &[90, 10]);
        assert_eq!(parts.iter().sum::<usize>(), 25);
    }

    /// Groups by their hashes; each has the numbers of the strata of its members.
    type Drawn = Vec<(u64, Vec<usize>)>;

    /// Groups with members of any strata, groups of one stratum each, or single conversations.
    fn drawn() -> impl Strategy<Value = (Drawn, Vec<u64>)> {
        let kinds = (1..6_usize, 1..9_usize, any::<bool>());
        let kinds = prop_oneof![kinds, (1..60_usize, Just(1), Just(true))];
        let groups = kinds.prop_flat_map(|(strata, size, is_pure)| {
            let group = proptest::collection::vec(0..strata, 1..=size);
            let group = group.prop_map(move |members| match members.first() {
                Some(first) if is_pure => vec![*first; members.len()],
                _ => members,
            });
            proptest::collection::btree_map(any::<u64>(), group, 1..120)
        });
        let weights = proptest::collection::vec(1..100_u64, 2..5);
        (groups.prop_map(|groups| groups.into_iter().collect()), weights)
    }

    /// The part of each group, in order, and for each stratum and part the number of conversations in it.
    fn assigned(groups: &Drawn, weights: &[u64]) -> (Vec<usize>, BTreeMap<(usize, usize), u64>) {
        let names: Vec<String> = groups
            .iter()
            .flat_map(|(_, strata)| strata)
            .map(usize::to_string)
            .collect();
        let mut members = 0..names.len();
        let free = groups
            .iter()
            .enumerate()
            .map(|(number, (hash, strata))| (number, (*hash, members.by_ref().take(strata.len()).collect())));
        let parts = Strata::new(names.iter().map(String::as_str), weights).place(&free.collect());
        let parts: Vec<usize> = parts.into_values().collect();
        let mut cells = BTreeMap::new();
        for ((_, strata), part) in groups.iter().zip(&parts) {
            for stratum in strata {
                *cells.entry((*stratum, *part)).or_default() += 1;
            }
        }
        (parts, cells)
    }

    proptest! {
        #![proptest_config(chatmill_drawn::law(256))]

        #[test]
        fn parts_and_strata_of_drawn_groups_are_nearer_to_their_shares_than_the_largest_group(
            (groups, weights) in drawn()
        ) {
            let (parts, cells) = assigned(&groups, &weights);
            let mut backwards = groups.clone();
            backwards.reverse();
            let (mut again, _) = assigned(&backwards, &weights);
            again.reverse();
            prop_assert_eq!(&parts, &again, "the order of the dataset decides");

            let largest = groups.iter().map(|(_, strata)| strata.len()).max().unwrap_or(0) as f64;
            let is_pure = groups.iter().all(|(_, strata)| strata.iter().all(|one| one == &strata[0]));
            let all = groups.iter().flat_map(|(_, strata)| strata);
            let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
            all.for_each(|stratum| *sizes.entry(*stratum).or_default() += 1);
            for (part, weight) in weights.iter().enumerate() {
                let quota = |size: u64| (size * weight) as f64 / weights.iter().sum::<u64>() as f64;
                let found = |stratum: usize| cells.get(&(stratum, part)).copied().unwrap_or(0);
                let total: u64 = sizes.keys().map(|stratum| found(*stratum)).sum();
                let distance = (quota(sizes.values().sum()) - total as f64).abs();
                prop_assert!(distance < largest, "{} instead of {}", total, distance);
                for (stratum, size) in &sizes {
                    let distance = (quota(*size) - found(*stratum) as f64).abs();
                    let most = if is_pure { largest } else { 2.0 * largest };
                    prop_assert!(distance < most, "{} of {}: {}", stratum, part, distance);
                }
            }
        }
    }
}
