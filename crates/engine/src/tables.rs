//! The tables of a plan as Arrow batches, slice by slice, without a dataset: the Python package calls it.
//!
//! Records are processed as in a run, and findings about whole inputs come last. Steps
//! that need the whole run are left out: duplicate ids are not renamed, conversations
//! are not compared, and filtered records are not counted, since there is no ledger.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{
    Compression, DatasetError, MemoryTable, PartSet, Partition, SliceId, Spill, TABLES, TableOptions,
};
use chatmill_diag::Limits;
use chatmill_intake::Failure;
use thiserror::Error;

use crate::error::{ReadError, RunError};
use crate::options::CountMode;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::slice::merging::refuse_unmerged;
use crate::slice::{Slice, Slicer, scheduler};
use crate::work::receipt::{InputCounts, SliceReceipt};
use crate::work::tables::push_of_input;
use crate::work::{WorkerContext, process_slice};

/// Bytes of a slice: a dozen dialects make ten times as much of it, and several slices are in memory at once.
const SLICE_BYTES: usize = 2 << 20;

/// The reason why the tables end before the inputs.
#[derive(Debug, Error)]
pub enum TablesError {
    /// The request is wrong, or the reading ended early.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Rows cannot be encoded.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// An input could not be read to its end.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// A worker panicked: a bug in chatmill.
    #[error("a worker failed on slice {slice}; this is a bug in chatmill")]
    WorkerFailed {
        /// The slice.
        slice: SliceId,
    },
}

/// Processes a plan, and delivers the wanted tables of each slice in the order of the
/// slices. `deliver` returns false to stop; while it waits, the workers wait as well.
pub fn tables(
    plan: &Plan,
    wanted: &[&str],
    threads: usize,
    progress: &dyn Progress,
    stop: &AtomicBool,
    deliver: &mut (dyn FnMut(Vec<MemoryTable>) -> bool + Send),
) -> Result<(), TablesError> {
    refuse_unmerged(&plan.inputs, plan.limits(), stop).map_err(ReadError::from)?;
    let options = options(plan, wanted);
    let tools = WorkerContext::new(plan, CountMode::Cached, 0, progress, stop);
    let threads = scheduler::threads(threads, progress);
    for note in &plan.notes {
        progress.note(note);
    }
    progress.stage("read", plan.input_bytes());
    let mut slicer = Slicer::new(
        &plan.inputs,
        plan.limits(),
        SLICE_BYTES,
        plan.pipeline.select.limit,
        Spill::temporary_folder(),
        stop,
        progress,
    );
    let mut failure = None;
    let mut is_wanted = true;
    let mut inputs: BTreeMap<usize, InputCounts> = BTreeMap::new();
    let read = scheduler::each_slice(
        threads,
        &mut slicer,
        &|_| true,
        &|slice| process(slice, &tools, &options),
        &mut |_, result| match result {
            Ok(Some((tables, receipt))) if is_wanted && failure.is_none() => {
                for (input, counts) in receipt.inputs {
                    add(inputs.entry(input).or_default(), counts, plan.limits());
                }
                is_wanted = deliver(tables);
                stop.fetch_or(!is_wanted, Ordering::Relaxed);
            }
            Ok(_) => {}
            Err(error) => {
                failure.get_or_insert(error);
                // Slices after a gap are useless.
                stop.store(true, Ordering::Relaxed);
            }
        },
    );
    if let Some(failure) = failure {
        return Err(failure);
    }
    read?;
    if let Some((_, failure)) = slicer.failures.into_iter().next() {
        return Err(failure.into());
    }
    if is_wanted && stop.load(Ordering::Relaxed) {
        return Err(ReadError::Stopped.into());
    }
    if is_wanted && wanted.contains(&"findings") {
        deliver(of_inputs(plan, inputs, &options)?);
    }
    Ok(())
}

/// Adds the counts of a slice for an input, as far as findings about whole inputs need them.
fn add(sum: &mut InputCounts, counts: InputCounts, limits: &Limits) {
    sum.ledger.framed += counts.ledger.framed;
    sum.recognition.merge(counts.recognition, limits.unread_paths);
    if sum.sources.is_empty() {
        sum.sources = counts.sources;
    }
}

/// Returns the findings about whole inputs.
fn of_inputs(
    plan: &Plan,
    inputs: BTreeMap<usize, InputCounts>,
    options: &TableOptions,
) -> Result<Vec<MemoryTable>, DatasetError> {
    let mut parts = PartSet::in_memory(options);
    for (index, counts) in inputs {
        let source = counts.sources.first().map_or("", String::as_str);
        for (located, first) in counts.recognition.findings(counts.ledger.framed, source) {
            push_of_input(plan, index, &located, first.as_ref(), &mut parts)?;
        }
    }
    parts.read_back()
}

fn options(plan: &Plan, wanted: &[&str]) -> TableOptions {
    TableOptions {
        encodings: plan.encoding_names(),
        compression: Compression::None,
        partition: Partition::None,
        absent: TABLES
            .iter()
            .copied()
            .filter(|table| !wanted.contains(table))
            .collect(),
    }
}

/// Processes one slice to its tables and counts; `None` if the work was stopped. A panic becomes an error.
fn process(
    slice: &Slice,
    tools: &WorkerContext<'_>,
    options: &TableOptions,
) -> Result<Option<(Vec<MemoryTable>, SliceReceipt)>, TablesError> {
    let whole = || -> Result<(Vec<MemoryTable>, SliceReceipt), RunError> {
        let mut parts = PartSet::in_memory(options);
        let receipt = process_slice(slice, tools, &mut parts, BTreeMap::new())?;
        Ok((parts.read_back()?, receipt))
    };
    match catch_unwind(AssertUnwindSafe(whole)) {
        Ok(Ok(tables)) => Ok(Some(tables)),
        Ok(Err(RunError::Stopped { .. })) => Ok(None),
        Ok(Err(RunError::Dataset(error))) => Err(error.into()),
        // A failed slice adds no counts.
        Ok(Err(_)) | Err(_) => Err(TablesError::WorkerFailed { slice: slice.id }),
    }
}
