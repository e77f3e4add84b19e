//! The conversations that a run excludes, each with its reason.
//!
//! The list is made by reading the inputs once more, not during the run: so it is
//! also complete for a resumed run, and for a dataset that already exists. If the
//! plan compares conversations, that is repeated in a temporary work directory.

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

/// The name of the reading stage.
const DROPPED: &str = "dropped";

/// A conversation that a run excludes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Dropped {
    /// The id before ids are made unique.
    pub conversation_id: String,
    /// The name of its input.
    pub input: String,
    /// The reason: a key of `[select]` without the name of the section, or a longer code.
    pub reason: String,
}

/// Lists the conversations that a plan excludes, in order. Only temporary files are written.
///
/// # Errors
///
/// The same as of a run.
pub fn dropped(
    mut plan: Plan,
    options: RunOptions<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Vec<Dropped>, RunError> {
    // The notes were shown before.
    plan.notes.clear();
    let temporary = TemporaryDataset::beside(&plan.out)?;
    let claim = temporary.parent().claim()?;
    let shards = prepare(&mut plan, progress, stop)?;
    let Opening::Work(staging) = claim.open(&plan.fingerprint(), true)? else {
        let reason = "the folder for the list of excluded conversations contains a dataset".to_owned();
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

/// Lists the excluded conversations of a slice; `None` if the run stops.
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
            let reason = limit.or_else(|| tools.membership(&read, slice.id, &mut met).err());
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
