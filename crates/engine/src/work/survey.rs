//! The survey of all conversations before the first is rendered, which finds those that repeat others.
//!
//! The survey reads and links the same records as the run, and keeps only a likeness of each conversation.
//! Likenesses and clusters depend on the inputs and the plan alone. They are stored as bytes: little-endian
//! numbers, with a count before each slice.
//!
//! Why: docs/decisions/2026-11-21-deduplication-before-rendering.md.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::SliceId;
use chatmill_link::{ClusterMembership, Duplicate, Likeness, memberships};

use crate::pipeline::{DedupSection, Treatment};
use crate::plan::Plan;
use crate::slice::Slice;
use crate::slice::records::{Item, ReadRecord};

/// The clusters of all conversations of a run.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// By slice, in the order in which the slice meets its conversations.
    memberships: BTreeMap<SliceId, Vec<ClusterMembership>>,
}

impl Survey {
    /// Compares the conversations of all slices.
    pub(crate) fn of(slices: BTreeMap<SliceId, Vec<Likeness>>, dedup: &DedupSection) -> Self {
        let lengths: Vec<(SliceId, usize)> = slices
            .iter()
            .map(|(slice, likenesses)| (*slice, likenesses.len()))
            .collect();
        let likenesses: Vec<Likeness> = slices.into_values().flatten().collect();
        let mut all = memberships(&likenesses, dedup.near_threshold()).into_iter();
        let memberships = lengths
            .into_iter()
            .map(|(slice, length)| (slice, all.by_ref().take(length).collect()))
            .collect();
        Self { memberships }
    }

    /// The standing of the conversation that a slice meets as its `index`-th.
    pub(crate) fn standing(&self, slice: SliceId, index: usize) -> ClusterMembership {
        let slice = self.memberships.get(&slice);
        slice
            .and_then(|memberships| memberships.get(index))
            .copied()
            .unwrap_or_default()
    }

    /// Writes the cluster of each conversation.
    pub(crate) fn write_to(&self, into: &mut dyn Write) -> io::Result<()> {
        into.write_all(&count(self.memberships.len())?)?;
        for (slice, memberships) in &self.memberships {
            into.write_all(&slice.shard.to_le_bytes())?;
            into.write_all(&slice.slice.to_le_bytes())?;
            into.write_all(&count(memberships.len())?)?;
            for membership in memberships {
                membership.write_to(into)?;
            }
        }
        Ok(())
    }

    /// Reads bytes written by [`write_to`](Self::write_to).
    pub(crate) fn read_from(from: &mut dyn Read) -> io::Result<Self> {
        let mut memberships = BTreeMap::new();
        for _ in 0..number(from)? {
            let slice = SliceId {
                shard: number(from)?,
                slice: number(from)?,
            };
            let of_slice = (0..number(from)?).map(|_| ClusterMembership::read_from(from));
            memberships.insert(slice, of_slice.collect::<io::Result<_>>()?);
        }
        Ok(Self { memberships })
    }
}

/// Writes the likenesses of a shard, slice by slice.
pub(crate) fn write_likenesses(slices: &[Vec<Likeness>], into: &mut dyn Write) -> io::Result<()> {
    into.write_all(&count(slices.len())?)?;
    for slice in slices {
        into.write_all(&count(slice.len())?)?;
        for likeness in slice {
            likeness.write_to(into)?;
        }
    }
    Ok(())
}

/// Reads the likenesses of a shard, as written by [`write_likenesses`].
pub(crate) fn read_likenesses(
    shard: u32,
    from: &mut dyn Read,
) -> io::Result<BTreeMap<SliceId, Vec<Likeness>>> {
    let slices = number(from)?;
    let slices = (0..slices).map(|slice| {
        let likenesses = (0..number(from)?).map(|_| Likeness::read_from(from));
        Ok((SliceId { shard, slice }, likenesses.collect::<io::Result<_>>()?))
    });
    slices.collect()
}

fn count(length: usize) -> io::Result<[u8; 4]> {
    let count = u32::try_from(length).map_err(io::Error::other)?;
    Ok(count.to_le_bytes())
}

fn number(from: &mut dyn Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// The reason why a conversation is left out for its cluster, if it is.
pub(crate) fn leaves_out(dedup: &DedupSection, standing: &ClusterMembership) -> Option<&'static str> {
    let (treatment, reason) = match standing.duplicate? {
        Duplicate::Exact => (dedup.exact, "dedup.exact"),
        Duplicate::Near => (dedup.near, "dedup.near"),
    };
    (treatment == Treatment::Filter).then_some(reason)
}

/// The likenesses of a slice's conversations that the selection keeps; nothing when `stop` was set.
pub(crate) fn find_likenesses(slice: &Slice, plan: &Plan, stop: &AtomicBool) -> Option<Vec<Likeness>> {
    let mut likenesses = Vec::new();
    for (_, item) in slice.items() {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        if let Item::Record(record) = item {
            let read = record.read(plan.settings(record.entry.input));
            likenesses.extend(read.iter().filter_map(|read| likeness(read, plan)));
        }
    }
    Some(likenesses)
}

fn likeness(read: &ReadRecord<'_>, plan: &Plan) -> Option<Likeness> {
    let as_read = read.outcome.as_read()?;
    let near = plan.pipeline.dedup.near_threshold().is_some();
    let is_selected = read.left_out_by(plan).is_none();
    is_selected.then(|| Likeness::of(&as_read.conversation, near))
}
