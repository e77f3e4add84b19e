//! Clusters of related conversations: equal ones, nearly equal ones, forks and continuations.
//!
//! All conversations are compared before any is rendered, in the order of the inputs, so the same inputs give the same clusters. Time grows
//! with the number of conversations and of similar pairs, never with the number of all pairs.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, Read, Write};

use chatmill_diag::cut;
use strum::IntoStaticStr;

use crate::forest::Forest;
use crate::likeness::{BANDS, Likeness, bytes};

/// The degree to which a conversation repeats an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Duplicate {
    /// The content is equal, speaker by speaker.
    Exact,
    /// Most runs of words are the same.
    Near,
}

impl Duplicate {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The name of a cluster, 16 hexadecimal digits, derived from the content of its first member only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster(u64);

impl fmt::Display for Cluster {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// The membership of a conversation in a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterMembership {
    /// The cluster; `None` if the conversation is unique.
    pub cluster: Option<Cluster>,
    /// The degree to which it repeats an earlier conversation.
    pub duplicate: Option<Duplicate>,
}

impl Cluster {
    fn named_after(content_hash: u128) -> Self {
        let [_, _, _, _, _, _, _, _, first @ ..] = content_hash.to_le_bytes();
        Self(u64::from_le_bytes(first))
    }
}

/// Bits of the first byte of a serialised membership.
const IN_CLUSTER: u8 = 1;
const EXACT: u8 = 2;
const NEAR: u8 = 4;

impl ClusterMembership {
    /// Writes the membership as bytes, followed by the cluster if there is one; 9 bytes at most.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_to(&self, into: &mut dyn Write) -> io::Result<()> {
        let duplicate = match self.duplicate {
            None => 0,
            Some(Duplicate::Exact) => EXACT,
            Some(Duplicate::Near) => NEAR,
        };
        let Some(Cluster(cluster)) = self.cluster else {
            return into.write_all(&[duplicate]);
        };
        into.write_all(&[duplicate | IN_CLUSTER])?;
        into.write_all(&cluster.to_le_bytes())
    }

    /// Reads bytes that [`write_to`](Self::write_to) has written.
    ///
    /// # Errors
    ///
    /// Those of the reader, and `InvalidData` if the bytes are no membership.
    pub fn read_from(from: &mut dyn Read) -> io::Result<Self> {
        let [flags] = bytes(from)?;
        let duplicate = match flags & !IN_CLUSTER {
            0 => None,
            EXACT => Some(Duplicate::Exact),
            NEAR => Some(Duplicate::Near),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        let cluster = if flags & IN_CLUSTER == 0 {
            None
        } else {
            Some(Cluster(u64::from_le_bytes(bytes(from)?)))
        };
        Ok(Self { cluster, duplicate })
    }
}

/// The most dissimilar conversations of one band that later ones are compared with; more would make hostile input slow.
const MAX_REPRESENTATIVES: usize = 16;

/// The membership of each conversation. `threshold` is the least similarity of near duplicates; without it none are sought.
pub fn memberships(likenesses: &[Likeness], threshold: Option<f64>) -> Vec<ClusterMembership> {
    let mut forest = Forest::default();
    let mut duplicates = vec![None; likenesses.len()];
    let mut firsts: HashMap<u128, usize> = HashMap::new();
    for (likeness, duplicate) in likenesses.iter().zip(&mut duplicates) {
        let member = forest.add();
        let first = *firsts.entry(likeness.content_hash).or_insert(member);
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
                .map(|first| Cluster::named_after(first.content_hash)),
            duplicate,
        })
        .collect()
}

/// The degree to which each conversation repeats one of `earlier`, which may repeat each other; `threshold` as in [`memberships`].
pub fn repeats_of(
    earlier: &[Likeness],
    likenesses: &[Likeness],
    threshold: Option<f64>,
) -> Vec<Option<Duplicate>> {
    let mut known = HashSet::new();
    let earlier = earlier.iter();
    let earlier: Vec<&Likeness> = earlier.filter(|one| known.insert(one.content_hash)).collect();
    let exact = |likeness: &Likeness| {
        let is_known = known.contains(&likeness.content_hash);
        is_known.then_some(Duplicate::Exact)
    };
    let mut found: Vec<_> = likenesses.iter().map(exact).collect();
    let Some(threshold) = threshold else {
        return found;
    };
    for band in 0..BANDS {
        let numbered = earlier.iter().enumerate();
        let mut hashed: Vec<(u64, usize)> = numbered
            .filter_map(|(number, likeness)| Some((likeness.band(band)?, number)))
            .collect();
        hashed.sort_unstable();
        for (likeness, found) in likenesses.iter().zip(&mut found) {
            let Some(hash) = likeness.band(band).filter(|_| found.is_none()) else {
                continue;
            };
            let first = hashed.partition_point(|(other, _)| *other < hash);
            let alike = hashed.iter().skip(first).take(MAX_REPRESENTATIVES);
            let mut alike = alike.take_while(|(other, _)| *other == hash);
            if alike.any(|(_, number)| cut::at(&earlier, *number).nearness(likeness) >= threshold) {
                *found = Some(Duplicate::Near);
            }
        }
    }
    found
}

/// Joins near duplicates among the conversations that agree in a band.
fn near(
    likenesses: &[Likeness],
    threshold: f64,
    band: usize,
    duplicates: &mut [Option<Duplicate>],
    forest: &mut Forest,
) {
    // An exact repeat is in the cluster of its first occurrence already.
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
            let likeness = cut::at(likenesses, *member);
            let found = representatives
                .iter()
                .find(|(_, earlier)| earlier.nearness(likeness) >= threshold);
            match found {
                Some((earlier, _)) => {
                    forest.join(*earlier, *member);
                    *cut::at_mut(duplicates, *member) = Some(Duplicate::Near);
                }
                None if representatives.len() < MAX_REPRESENTATIVES => {
                    representatives.push((*member, likeness));
                }
                None => {}
            }
        }
    }
}
