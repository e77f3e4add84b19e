//! Which conversations of many belong together: equal ones, nearly equal ones, forks and continuations.
//!
//! All are compared before any is rendered, in the order of the inputs, so the same inputs give the same clusters. Time grows
//! with the number of conversations and of pairs that have something in common, never with the number of all pairs.

use std::collections::HashMap;

use crate::forest::Forest;
use crate::likeness::{BANDS, Likeness};

/// How far a conversation repeats an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicate {
    /// It says the same, speaker for speaker.
    Exact,
    /// It has most of its runs of words in common with it.
    Near,
}

impl Duplicate {
    /// The word that tables use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Near => "near",
        }
    }
}

/// Where a conversation stands among the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterMembership {
    /// Name of its cluster, 16 hexadecimal digits; none where it stands alone. Depends on what the first member says alone.
    pub cluster: Option<String>,
    /// How far it repeats an earlier conversation.
    pub duplicate: Option<Duplicate>,
}

/// Dissimilar conversations of one band that later ones are compared with; more would make hostile input slow.
const MAX_REPRESENTATIVES: usize = 16;

/// The standing of each conversation. `threshold` is the least nearness of near duplicates; none looks for none.
pub fn memberships(likenesses: &[Likeness], threshold: Option<f64>) -> Vec<ClusterMembership> {
    let mut forest = Forest::default();
    let mut duplicates = vec![None; likenesses.len()];
    let mut firsts: HashMap<u128, usize> = HashMap::new();
    for (likeness, duplicate) in likenesses.iter().zip(&mut duplicates) {
        let member = forest.add();
        let first = *firsts.entry(likeness.said).or_insert(member);
        if first != member {
            *duplicate = Some(Duplicate::Exact);
            forest.join(first, member);
        }
        if let Some(opening) = likeness.opening {
            forest.connect(member, opening);
        }
    }
    if let Some(threshold) = threshold {
        for band in 0..BANDS {
            near(likenesses, threshold, band, &mut duplicates, &mut forest);
        }
    }
    let roots: Vec<usize> = (0..likenesses.len()).map(|member| forest.root(member)).collect();
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    for root in &roots {
        *sizes.entry(*root).or_default() += 1;
    }
    roots
        .iter()
        .zip(duplicates)
        .map(|(root, duplicate)| ClusterMembership {
            cluster: likenesses
                .get(*root)
                .filter(|_| sizes.get(root).is_some_and(|size| *size > 1))
                .map(|first| format!("{:016x}", first.said >> 64)),
            duplicate,
        })
        .collect()
}

/// Joins near duplicates among the conversations that agree in a band.
fn near(
    likenesses: &[Likeness],
    threshold: f64,
    band: usize,
    duplicates: &mut [Option<Duplicate>],
    forest: &mut Forest,
) {
    // An exact repeat is where its first is.
    let mut hashed: Vec<(u64, usize)> = likenesses
        .iter()
        .zip(&*duplicates)
        .enumerate()
        .filter(|(_, (_, duplicate))| **duplicate != Some(Duplicate::Exact))
        .filter_map(|(member, (likeness, _))| Some((likeness.band(band)?, member)))
        .collect();
    hashed.sort_unstable();
    for alike in hashed.chunk_by(|one, other| one.0 == other.0) {
        let mut representatives: Vec<(usize, &Likeness)> = Vec::new();
        for (_, member) in alike {
            let Some(likeness) = likenesses.get(*member) else {
                continue;
            };
            let found = representatives
                .iter()
                .find(|(_, earlier)| earlier.nearness(likeness) >= threshold);
            match found {
                Some((earlier, _)) => {
                    forest.join(*earlier, *member);
                    if let Some(duplicate) = duplicates.get_mut(*member) {
                        *duplicate = Some(Duplicate::Near);
                    }
                }
                None if representatives.len() < MAX_REPRESENTATIVES => {
                    representatives.push((*member, likeness))
                }
                None => {}
            }
        }
    }
}
