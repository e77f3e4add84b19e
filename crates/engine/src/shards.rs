//! A run in shards: planned once, processed shard by shard by any number of workers, on one
//! machine or many, and finished once. `chatmill plan`, `work`, `status` and `finish` call it.
//!
//! The work directory has the form of an interrupted run's, so that `run` can resume it. No worker waits for
//! another: two workers on one shard write the same files. If conversations are compared, a worker renders
//! only when all shards were compared, else `work` is called again
//! (docs/decisions/2026-11-23-multi-machine-runs.md, docs/decisions/2026-11-23-distributed-deduplication.md).

mod file;
mod numbers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use strum::IntoStaticStr;

use chatmill_dataset::{Opening, PlannedWork, ShardOutcome, SliceId, Staging, planned_work};
use chatmill_diag::cut;
use serde::{Deserialize, Serialize};

use crate::commit::seal::FinishedSlices;
use crate::commit::summary::RunSummary;
use crate::error::{RunError, go_on};
use crate::options::RunOptions;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::run::{Attempt, Runner, discard_beyond, done, prepare, seal_and_publish};
use crate::slice::CutTotals;
use crate::slice::shards::Shard;

pub use file::Request;
use file::{PlanFile, sealed, unsealed};
pub use numbers::{parse, ranges};

/// The shards that a worker processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardSelection {
    /// Every `of`-th shard, starting with number `index`.
    Part {
        /// Number of the part, from 0.
        index: u32,
        /// The number of parts.
        of: u32,
    },
    /// The shards with these numbers.
    Numbers(Vec<u32>),
}

/// The result of planning.
#[derive(Debug)]
pub struct Planned {
    /// The destination of the dataset.
    pub out: PathBuf,
    /// The number of shards.
    pub shards: usize,
    /// Bytes of the inputs.
    pub bytes: u64,
    /// Whether the dataset of this plan already exists.
    pub is_finished: bool,
}

/// A stage of the work on shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Stage {
    /// Shards are read and their conversations compared with those of others.
    Compare,
    /// Shards become part files.
    #[default]
    Render,
    /// All shards are done.
    Finish,
}

impl Stage {
    /// Returns the word for answers of the command.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The result of one `work` command.
#[derive(Debug, Default)]
pub struct Worked {
    /// The stage that it reached: comparing if comparison data of other shards is missing, else rendering.
    pub stage: Stage,
    /// Shards that it compared.
    pub compared: Vec<u32>,
    /// Shards that it finished.
    pub done: Vec<u32>,
    /// Shards that were finished before.
    pub before: Vec<u32>,
    /// Failed shards with the reason.
    pub failed: BTreeMap<u32, String>,
    /// Shards without comparison data; none can be rendered yet.
    pub missing: Vec<u32>,
}

/// The progress of the work.
#[derive(Debug, Default)]
pub struct Status {
    /// The next stage, which the lists below refer to.
    pub stage: Stage,
    /// The number of shards.
    pub shards: usize,
    /// Shards that have finished the stage.
    pub done: Vec<u32>,
    /// Shards that have not finished the stage.
    pub missing: Vec<u32>,
    /// Shards with a failed last attempt, and the reason.
    pub failed: BTreeMap<u32, String>,
}

/// The receipt of a finished shard, sealed with its hash.
#[derive(Serialize, Deserialize)]
struct ShardReceipt {
    /// The number of slices of the shard.
    slices: u32,
    /// Entries, records and bytes that were cut from its inputs, by index.
    cut: BTreeMap<usize, (u64, u64, u64)>,
}

/// Plans a run and stores the plan next to its destination.
///
/// # Errors
///
/// If the request is wrong, an input cannot be read, or the destination cannot be used.
pub fn plan(
    mut plan: Plan,
    request: Request,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Planned, RunError> {
    progress.ahead(&[("hash", 1)]);
    let claim = chatmill_dataset::claim(&plan.out)?;
    let shards = prepare(&mut plan, progress, stop)?;
    let file = PlanFile::new(&plan, &shards, request);
    let mut planned = Planned {
        out: plan.out.clone(),
        shards: shards.len(),
        bytes: plan.input_bytes(),
        is_finished: false,
    };
    match claim.open(&file.fingerprint, file.request.replace)? {
        Opening::Finished(_) => planned.is_finished = true,
        Opening::Work(staging) => {
            for notice in staging.notices() {
                progress.note(notice);
            }
            staging.write_plan(&sealed(&file)?)?;
        }
    }
    Ok(planned)
}

/// Processes the selected shards that are not done: compares them if the
/// plan compares conversations, and renders them once all were compared.
///
/// # Errors
///
/// If no run is planned, the plan differs, another command runs or finishes the work alone, or the
/// system fails. A shard with inputs that have changed is no error: the others are still processed.
pub fn work(
    out: &Path,
    selection: &ShardSelection,
    options: RunOptions<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Worked, RunError> {
    let (work, file) = planned(out)?;
    let mine = selected(selection, file.shards.len())?;
    let (plan, shards) = file.restore(out)?;
    let staging = work.join_as_worker()?;
    let options = file.request.options(options);
    let mut runner = Runner::new(&plan, &staging, options, progress, stop);
    let worked = process_stages(&mut runner, &staging, &shards, &mine, progress, stop);
    drop(runner);
    let is_taken_away = staging.is_taken_away();
    staging.remove_worker_folder();
    match worked {
        // An error of the system about a removed folder would hide the reason.
        Err(RunError::Dataset(_)) if is_taken_away => Err(RunError::TakenAway(out.to_owned())),
        worked => worked,
    }
}

/// Processes some shards through the stages, as far as possible.
fn process_stages(
    runner: &mut Runner<'_>,
    staging: &Staging,
    shards: &[Shard],
    mine: &[u32],
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Worked, RunError> {
    let mut worked = Worked::default();
    let mut unseen = runner.place_conversations(shards)?;
    if !unseen.is_empty() {
        for shard in shards.iter().filter(|shard| mine.contains(&shard.number)) {
            go_on(stop, 0)?;
            // Another worker may have compared it in the meantime.
            if staging.has_likenesses(shard.number)? {
                continue;
            }
            let compared = runner.compare_shards(std::slice::from_ref(shard));
            if worked.take(compared, shard, staging, progress)?.is_some() {
                worked.compared.push(shard.number);
            }
        }
        unseen = runner.place_conversations(shards)?;
    }
    if !unseen.is_empty() {
        worked.stage = Stage::Compare;
        worked.missing = unseen;
        return Ok(worked);
    }
    for shard in shards.iter().filter(|shard| mine.contains(&shard.number)) {
        go_on(stop, worked.done.len())?;
        if ShardReceipt::of_done(staging.shard_outcome(shard.number)?, shard).is_some() {
            worked.before.push(shard.number);
            continue;
        }
        let rendered = runner.shard(shard);
        if let Some(cut) = worked.take(rendered, shard, staging, progress)? {
            staging.write_shard_outcome(shard.number, &sealed(&ShardReceipt::of(shard, &cut))?)?;
            worked.done.push(shard.number);
        }
    }
    Ok(worked)
}

impl Worked {
    /// Returns the result of a shard; `None`, with the failure
    /// recorded, if its inputs changed or could not be read.
    fn take<T>(
        &mut self,
        came: Result<T, RunError>,
        shard: &Shard,
        staging: &Staging,
        progress: &dyn Progress,
    ) -> Result<Option<T>, RunError> {
        let reason = match came {
            Ok(came) => return Ok(Some(came)),
            Err(RunError::InputChanged(names)) => {
                format!(
                    "changed since it was planned: {}; run `chatmill plan` again",
                    names.join(", ")
                )
            }
            Err(error @ RunError::InputsFailed { .. }) => error.to_string(),
            Err(error) => return Err(error),
        };
        staging.write_failure(shard.number, reason.as_bytes())?;
        progress.note(&format!("shard {} failed: {reason}", shard.number));
        self.failed.insert(shard.number, reason);
        Ok(None)
    }
}

/// Returns the progress of the work; writes nothing.
///
/// # Errors
///
/// If nothing is planned, or another build planned it.
pub fn status(out: &Path) -> Result<Status, RunError> {
    let (work, file) = planned(out)?;
    if file.compares && !work.has_clusters()? {
        let status = status_of(Stage::Compare, &file, |shard| {
            if work.has_likenesses(shard)? {
                return Ok(ShardOutcome::Done(Vec::new()));
            }
            Ok(match work.shard_outcome(shard)? {
                // The shard was rendered before its clusters were lost.
                ShardOutcome::Done(_) => ShardOutcome::Missing,
                other => other,
            })
        })?;
        if status.done.len() < status.shards {
            return Ok(status);
        }
    }
    let mut status = status_of(Stage::Render, &file, |shard| {
        Ok(match work.shard_outcome(shard)? {
            ShardOutcome::Done(receipt) if unsealed::<ShardReceipt>(&receipt).is_none() => {
                ShardOutcome::Missing
            }
            other => other,
        })
    })?;
    if status.done.len() == status.shards {
        status.stage = Stage::Finish;
    }
    Ok(status)
}

fn status_of(
    stage: Stage,
    file: &PlanFile,
    outcome: impl Fn(u32) -> Result<ShardOutcome, RunError>,
) -> Result<Status, RunError> {
    let mut status = Status {
        stage,
        shards: file.shards.len(),
        ..Status::default()
    };
    for number in numbers_of(file.shards.len()) {
        match outcome(number)? {
            ShardOutcome::Done(_) => status.done.push(number),
            ShardOutcome::Missing => status.missing.push(number),
            ShardOutcome::Failed(reason) => {
                let reason = String::from_utf8_lossy(&reason).into_owned();
                status.failed.insert(number, reason);
            }
        }
    }
    Ok(status)
}

/// Loads the planned run of a destination, and the request that planned it.
///
/// # Errors
///
/// If nothing is planned, or the plan no longer matches its pipeline file and inputs.
pub fn planned_run(out: &Path) -> Result<(Plan, Request), RunError> {
    let (_, file) = planned(out)?;
    let (plan, _) = file.restore(out)?;
    Ok((plan, file.request))
}

/// Publishes the dataset after every shard is done. Duplicate ids
/// are found now, and affected slices are processed again here.
///
/// # Errors
///
/// If shards are missing, and the errors of a run.
pub fn finish(
    out: &Path,
    options: RunOptions<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<RunSummary, RunError> {
    let mut attempt = Attempt::begin();
    let (_, file) = planned(out)?;
    let claim = chatmill_dataset::claim(out)?;
    let (plan, shards) = file.restore(out)?;
    let options = file.request.options(options);
    let staging = match claim.open(&file.fingerprint, file.request.replace)? {
        Opening::Finished(manifest) => return Ok(RunSummary::of_finished(out, manifest)?),
        Opening::Work(staging) => staging,
    };
    for notice in staging.notices() {
        progress.note(notice);
    }
    let mut cut_totals = CutTotals::of(plan.inputs.len());
    let mut missing = Vec::new();
    for shard in &shards {
        match ShardReceipt::of_done(staging.shard_outcome(shard.number)?, shard) {
            Some(receipt) => receipt.add_to(shard, &mut cut_totals),
            None => missing.push(shard.number),
        }
    }
    let mut slices = done(&staging)?;
    for (shard, count) in &cut_totals.shards {
        let slice = |slice| SliceId { shard: *shard, slice };
        let found = slices.range(slice(0)..=slice(u32::MAX));
        let found: Vec<u32> = found.map(|(id, _)| id.slice).collect();
        // A slice with corrupt files was discarded when the work was resumed. Slices
        // beyond the receipt's count are wrong, or were cut from different bytes.
        if !found.iter().copied().eq(0..*count) {
            missing.push(*shard);
            for beyond in found.into_iter().filter(|found| found >= count) {
                staging.discard(slice(beyond))?;
            }
        }
    }
    let mut runner = Runner::new(&plan, &staging, options, progress, stop);
    if missing.is_empty() {
        missing = runner.place_conversations(&shards)?;
    }
    if !missing.is_empty() {
        missing.sort_unstable();
        missing.dedup();
        for shard in &missing {
            staging.remove_shard_outcome(*shard)?;
        }
        return Err(RunError::ShardsMissing {
            count: missing.len(),
            shards: ranges(&missing),
        });
    }
    discard_beyond(&staging, &mut slices, &cut_totals)?;
    attempt.resumed = slices.len();
    let finished = runner.qualify(&shards, FinishedSlices { slices, cut_totals })?;
    let used = runner.used();
    seal_and_publish(plan, staging, finished, used, &attempt, options, progress, stop)
}

/// Loads the planned work of a destination.
fn planned(out: &Path) -> Result<(PlannedWork, PlanFile), RunError> {
    let work = planned_work(out)?.ok_or_else(|| RunError::NotPlanned(out.to_owned()))?;
    let file = PlanFile::read(work.plan())?;
    Ok((work, file))
}

/// Returns the numbers of the selected shards.
fn selected(selection: &ShardSelection, shards: usize) -> Result<Vec<u32>, RunError> {
    match selection {
        ShardSelection::Part { index, of } if index < of => Ok(numbers_of(shards)
            .filter(|number| number % of == *index)
            .collect()),
        ShardSelection::Part { index, of } => Err(RunError::NoSuchShard(format!(
            "there is no part {} of {of}",
            u64::from(*index) + 1
        ))),
        ShardSelection::Numbers(numbers) => match numbers.iter().find(|number| **number as usize >= shards) {
            Some(number) => Err(RunError::NoSuchShard(format!(
                "there is no shard {number}: shards are numbered from 0 to {}",
                shards.saturating_sub(1)
            ))),
            None => Ok(numbers.clone()),
        },
    }
}

fn numbers_of(shards: usize) -> impl Iterator<Item = u32> {
    0..u32::try_from(shards).unwrap_or(u32::MAX)
}

impl ShardReceipt {
    fn of(shard: &Shard, cut: &CutTotals) -> Self {
        let counts = shard.inputs.clone().filter_map(|input| {
            let counts = cut.inputs.get(input)?;
            Some((input, (counts.entries, counts.records, counts.bytes)))
        });
        Self {
            slices: cut.shards.get(&shard.number).map_or(0, |slices| *slices),
            cut: counts.collect(),
        }
    }

    /// Reads the receipt of a finished shard; `None` if its bytes were changed, or if it does not
    /// account for each input of the shard. A refused input is one record without a byte. For every
    /// other input at least one entry ended, except for a range that continues in the next shard.
    fn of_done(outcome: ShardOutcome, shard: &Shard) -> Option<Self> {
        let ShardOutcome::Done(bytes) = outcome else {
            return None;
        };
        let receipt: Self = unsealed(&bytes)?;
        let is_reported = |(entries, records, bytes): &(u64, u64, u64)| match &shard.range {
            Some(range) => (*entries, *bytes) == (u64::from(range.is_last), range.end - range.start),
            None => *entries > 0 || (*records, *bytes) == (1, 0),
        };
        let fits =
            receipt.cut.keys().copied().eq(shard.inputs.clone()) && receipt.cut.values().all(is_reported);
        fits.then_some(receipt)
    }

    fn add_to(self, shard: &Shard, cut_totals: &mut CutTotals) {
        cut_totals.shards.insert(shard.number, self.slices);
        for (input, (entries, records, bytes)) in self.cut {
            let sum = cut::at_mut(&mut cut_totals.inputs, input);
            sum.entries = sum.entries.saturating_add(entries);
            sum.records = sum.records.saturating_add(records);
            sum.bytes = sum.bytes.saturating_add(bytes);
        }
    }
}
