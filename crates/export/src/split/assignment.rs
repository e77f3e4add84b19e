//! The part of a divided export that each conversation goes to.

use std::collections::HashMap;

use chatmill_dataset::Dataset;

use crate::error::ExportError;
use crate::split::earlier;
use crate::split::groups::{Group, Groups, groups};
use crate::split::{Split, SplitBy, SplitPart};

/// The assignment of conversations to parts.
#[derive(Debug, Default)]
pub(crate) struct Assignment {
    /// The conversations in the order of the dataset.
    order: Vec<String>,
    places: HashMap<String, Option<usize>>,
    /// For a division by time: the instant at which each part begins.
    pub(crate) begins: Vec<Option<i64>>,
}

impl Assignment {
    /// The file that a later export reads: conversations in their order, each with its part.
    pub(crate) fn remembered(&self, parts: &[SplitPart]) -> String {
        let named = self.order.iter().filter_map(|id| {
            let part = parts.get(self.part(id)?)?;
            Some((id.as_str(), part.name.as_str()))
        });
        earlier::text(named)
    }

    /// The index of a conversation's part; none in a division by time where the conversation has no time.
    pub(crate) fn part(&self, conversation: &str) -> Option<usize> {
        self.places.get(conversation).copied().flatten()
    }
}

/// Divides the conversations of a dataset.
pub(crate) fn assign(dataset: &Dataset, split: &Split) -> Result<Assignment, ExportError> {
    let grouped = groups(dataset, split.by, split.seed)?;
    let weights: Vec<u64> = split.parts.iter().map(|part| part.share.number()).collect();
    let begins: Vec<Option<i64>> = match split.by {
        SplitBy::Hash | SplitBy::Room => vec![None; weights.len()],
        SplitBy::Time => {
            let dated: Option<Vec<i64>> = split.parts.iter().map(|part| part.share.begins()).collect();
            dated
                .unwrap_or_else(|| {
                    boundaries(
                        grouped.members().filter_map(|group| group.began).collect(),
                        &weights,
                    )
                })
                .into_iter()
                .map(Some)
                .collect()
        }
    };
    let place = |group: &Group| match split.by {
        SplitBy::Hash | SplitBy::Room => by_hash(group.hash, &weights),
        SplitBy::Time => {
            let began = group.began?;
            begins
                .iter()
                .rposition(|boundary| boundary.is_some_and(|boundary| boundary <= began))
        }
    };
    let mut places: HashMap<String, Option<usize>> = grouped
        .ids
        .iter()
        .zip(grouped.members())
        .map(|(id, group)| (id.clone(), place(group)))
        .collect();
    if let Some(folder) = &split.like {
        keep(&mut places, &grouped, &earlier::read(folder, &split.parts)?);
    }
    let order = grouped.ids;
    Ok(Assignment {
        order,
        places,
        begins,
    })
}

/// Keeps every conversation in its earlier part; a new one goes to the part of the first earlier conversation of its group.
fn keep(places: &mut HashMap<String, Option<usize>>, grouped: &Groups, earlier: &HashMap<String, usize>) {
    let mut firsts: HashMap<usize, usize> = HashMap::new();
    for (id, group) in grouped.ids.iter().zip(grouped.numbers()) {
        if let Some(part) = earlier.get(id) {
            firsts.entry(group).or_insert(*part);
        }
    }
    for (id, group) in grouped.ids.iter().zip(grouped.numbers()) {
        if let Some(part) = earlier.get(id).or_else(|| firsts.get(&group)) {
            places.insert(id.clone(), Some(*part));
        }
    }
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
    fn boundaries_follow_the_weights_and_keep_equal_times_together() {
        assert_eq!(boundaries((0..100).collect(), &[9, 1]), [i64::MIN, 90]);
        assert_eq!(boundaries(vec![1, 1, 1, 2], &[1, 1]), [i64::MIN, 1]);
        assert_eq!(boundaries(Vec::new(), &[1, 1]), [i64::MIN, i64::MAX]);
    }
}
