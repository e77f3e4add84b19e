//! A look at every conversation before the first is rendered: which of them repeat others.
//!
//! The survey reads and links what the run will read and link, and keeps of each conversation only its likeness. Its answer
//! depends on the inputs and the plan alone, so it leaves no receipt: a resumed run looks again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_link::{Duplicate, Likeness, Standing, standings};

use crate::entry::EntryStep;
use crate::pipeline::{Dedup, Treatment};
use crate::plan::Plan;
use crate::record::redact;
use crate::record::{self, Outcome};
use crate::slice::{Slice, Step};

/// Where every conversation of a run stands among the others.
#[derive(Debug, Default)]
pub struct Survey {
    /// By slice, in the order in which the slice meets its conversations.
    standings: BTreeMap<u32, Vec<Standing>>,
}

impl Survey {
    /// Compares the conversations of all slices.
    pub fn of(slices: BTreeMap<u32, Vec<Likeness>>, dedup: &Dedup) -> Self {
        let lengths: Vec<(u32, usize)> = slices
            .iter()
            .map(|(slice, likenesses)| (*slice, likenesses.len()))
            .collect();
        let likenesses: Vec<Likeness> = slices.into_values().flatten().collect();
        let mut all = standings(&likenesses, dedup.near_threshold()).into_iter();
        let standings = lengths
            .into_iter()
            .map(|(slice, length)| (slice, all.by_ref().take(length).collect()))
            .collect();
        Self { standings }
    }

    /// The standing of the conversation that a slice meets as its `index`-th.
    pub fn standing(&self, slice: u32, index: usize) -> Standing {
        let slice = self.standings.get(&slice);
        slice
            .and_then(|standings| standings.get(index))
            .cloned()
            .unwrap_or_default()
    }
}

/// Why a conversation is left out for where it stands, if it is.
pub fn leaves_out(dedup: &Dedup, standing: &Standing) -> Option<&'static str> {
    let (treatment, reason) = match standing.duplicate? {
        Duplicate::Exact => (dedup.exact, "dedup.exact"),
        Duplicate::Near => (dedup.near, "dedup.near"),
    };
    (treatment == Treatment::Filter).then_some(reason)
}

/// The likenesses of a slice's conversations that the selection keeps; nothing when `stop` was set.
pub fn look(slice: &Slice, plan: &Plan, stop: &AtomicBool) -> Option<Vec<Likeness>> {
    let mut likenesses = Vec::new();
    let mut place: Option<&EntryStep> = None;
    for step in &slice.steps {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        match step {
            Step::Entry(entry) => place = Some(entry),
            Step::Frame(frame) => {
                let bytes = slice.buffer.get(frame.buffer.clone()).unwrap_or_default();
                if let Some(here) = place
                    && let Some(source) = here.source
                {
                    let outcome = record::read(source, frame, bytes, plan.settings());
                    likenesses.extend(likeness(&outcome, here, bytes, plan));
                }
            }
            Step::Group(group) => {
                let bytes = slice.buffer.get(group.buffer.clone()).unwrap_or_default();
                let first = group.rows.first();
                if let Some(here) = first.and_then(|row| slice.entries.get(row.place.entry)) {
                    let outcome = group.read(bytes, plan.settings());
                    likenesses.extend(likeness(&outcome, here, bytes, plan));
                }
            }
            Step::Separator(_)
            | Step::EntryEnd(_)
            | Step::Filtered(_)
            | Step::FilteredGroup(_)
            | Step::Damage(_)
            | Step::Note(_)
            | Step::Skipped { .. }
            | Step::PassedOver { .. } => {}
        }
    }
    Some(likenesses)
}

fn likeness(outcome: &Outcome, place: &EntryStep, bytes: &[u8], plan: &Plan) -> Option<Likeness> {
    let read = redact::as_read(outcome.redaction.as_ref(), outcome.linked.as_ref()?);
    let found = record::found(&outcome.findings, &outcome.rejects);
    let left_out = plan.leaves_out(place.input, read, bytes, found);
    left_out.is_none().then(|| {
        let near = plan.pipeline.dedup.near_threshold().is_some();
        Likeness::of(&read.conversation, near)
    })
}
