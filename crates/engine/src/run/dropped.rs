//! The conversations that a run leaves out, each with its reason.
//!
//! They are found by reading the inputs once more and not while a run writes: so the list is whole after a run that was resumed, and
//! of a dataset that was there already. Where conversations are compared, that is done again in a work directory of its own.

use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{Opening, TemporaryDataset};
use serde::Serialize;

use super::{Runner, prepare};
use crate::error::RunError;
use crate::options::RunOptions;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::slice::Slice;
use crate::slice::records::Item;
use crate::work::{WorkerContext, guarded};

/// The stage of reading for the list.
const DROPPED: &str = "dropped";

/// A conversation that a run leaves out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Dropped {
    /// The id that it would have before ids are made unique.
    pub conversation_id: String,
    /// The name of its input.
    pub input: String,
    /// What leaves it out: a key of `[select]` without the name of the section, or a longer word.
    pub reason: String,
}

/// The conversations that a plan leaves out, in order. Nothing is written but work that is removed again.
///
/// # Errors
///
/// As a run.
pub fn dropped(
    mut plan: Plan,
    options: RunOptions<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Vec<Dropped>, RunError> {
    // They were shown before.
    plan.notes.clear();
    let temporary = TemporaryDataset::beside(&plan.out)?;
    let claim = temporary.parent().claim()?;
    let shards = prepare(&mut plan, progress, stop)?;
    let Opening::Work(staging) = claim.open(&plan.fingerprint(), true)? else {
        let reason = "the folder for the list of what is left out holds a dataset".to_owned();
        return Err(RunError::Incomplete(reason));
    };
    let mut runner = Runner::new(&plan, &staging, options, progress, stop);
    runner.compare_all(&shards)?;
    let tools = &runner.tools;
    let (found, _) = runner.read(DROPPED, &shards, &|_| true, &|slice| {
        guarded(slice, stop, || dropped_of(slice, tools))
    })?;
    let mut all: Vec<Dropped> = found.into_values().flatten().collect();
    all.sort_unstable();
    Ok(all)
}

/// The conversations of a slice that are left out; nothing when the run stops.
fn dropped_of(slice: &Slice, tools: &WorkerContext<'_>) -> Option<Vec<Dropped>> {
    let plan = tools.plan;
    let mut dropped = Vec::new();
    let mut met = 0;
    for (_, item) in slice.work(tools.progress) {
        if tools.stop.load(Ordering::Relaxed) {
            return None;
        }
        let (record, limit) = match item {
            Item::Record(record) => (record, None),
            Item::Filtered(record) => (record, Some(tools.limit_of(record))),
            Item::Step(_) => continue,
        };
        let input = record.entry.input;
        for read in record.read(plan.settings(input)) {
            let reason = limit.or_else(|| tools.standing(&read, slice.id, &mut met).err());
            if let (Some(reason), Some(linked)) = (reason, &read.outcome.linked) {
                dropped.push(Dropped {
                    conversation_id: plan.base_id(input, linked, &read.hash),
                    input: plan.input_name(input).into_owned(),
                    reason: reason.to_owned(),
                });
            }
        }
    }
    Some(dropped)
}
