//! A look at every conversation before the first is rendered: which of them repeat others.
//!
//! The survey reads and links what the run will read and link, and keeps of each conversation only its likeness. Its answer
//! depends on the inputs and the plan alone, so it leaves no receipt: a resumed run looks again.
//!
//! Why: docs/decisions/2026-11-21-duplicates-are-found-before-rendering.md.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::SliceId;
use chatmill_link::{ClusterMembership, Duplicate, Likeness, memberships};

use crate::pipeline::{DedupSection, Treatment};
use crate::plan::Plan;
use crate::record::redact;
use crate::slice::Slice;
use crate::slice::records::{Item, ReadRecord};

/// Where every conversation of a run stands among the others.
#[derive(Debug, Default)]
pub struct Survey {
    /// By slice, in the order in which the slice meets its conversations.
    memberships: BTreeMap<SliceId, Vec<ClusterMembership>>,
}

impl Survey {
    /// Compares the conversations of all slices.
    pub fn of(slices: BTreeMap<SliceId, Vec<Likeness>>, dedup: &DedupSection) -> Self {
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
    pub fn standing(&self, slice: SliceId, index: usize) -> ClusterMembership {
        let slice = self.memberships.get(&slice);
        slice
            .and_then(|memberships| memberships.get(index))
            .cloned()
            .unwrap_or_default()
    }
}

/// Why a conversation is left out for where it stands, if it is.
pub fn leaves_out(dedup: &DedupSection, standing: &ClusterMembership) -> Option<&'static str> {
    let (treatment, reason) = match standing.duplicate? {
        Duplicate::Exact => (dedup.exact, "dedup.exact"),
        Duplicate::Near => (dedup.near, "dedup.near"),
    };
    (treatment == Treatment::Filter).then_some(reason)
}

/// The likenesses of a slice's conversations that the selection keeps; nothing when `stop` was set.
pub fn look(slice: &Slice, plan: &Plan, stop: &AtomicBool) -> Option<Vec<Likeness>> {
    let mut likenesses = Vec::new();
    for item in slice.items() {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        if let Item::Record(record) = item {
            let read = record.read(plan.settings());
            likenesses.extend(read.iter().filter_map(|read| likeness(read, plan)));
        }
    }
    Some(likenesses)
}

fn likeness(read: &ReadRecord<'_>, plan: &Plan) -> Option<Likeness> {
    let ReadRecord { record, outcome, .. } = read;
    let as_read = redact::as_read(outcome.redaction.as_ref(), outcome.linked.as_ref()?);
    let left_out = plan.leaves_out(record.entry.input, as_read, record.bytes, read.codes());
    left_out.is_none().then(|| {
        let near = plan.pipeline.dedup.near_threshold().is_some();
        Likeness::of(&as_read.conversation, near)
    })
}
