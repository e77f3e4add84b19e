//! A run in shares: planned once, worked off lot by lot by whoever comes, on one machine or many, and finished once.
//!
//! The work lies where an interrupted run leaves it, beside the destination, so that `run` goes on with it, too. Nobody waits for
//! anybody: a lot is done when what came of it stands there, and two who do the same lot write the same files.
//!
//! Why: docs/decisions/2026-11-23-shares-of-a-run.md.

mod file;
mod numbers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use chatmill_dataset::{LotOutcome, Opening, Staging, share};
use serde::{Deserialize, Serialize};

use crate::commit::seal::FinishedSlices;
use crate::commit::summary::RunSummary;
use crate::error::{PlanError, RunError, go_on};
use crate::options::RunOptions;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::run::{Attempt, Runner, conclude, discard_beyond, done, prepare};
use crate::slice::lots::Lot;
use crate::slice::{CutCounts, CutTotals};

use file::PlanFile;
pub use file::Request;
pub use numbers::{parse, ranges};

/// Which lots somebody takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// Every `of`-th, the first of them being `index`, which counts from 0.
    Part {
        /// Number of the share, from 0.
        index: u32,
        /// How many shares there are.
        of: u32,
    },
    /// These, by number.
    Lots(Vec<u32>),
}

/// What was planned.
#[derive(Debug)]
pub struct Planned {
    /// Where the dataset will stand.
    pub out: PathBuf,
    /// How many lots there are.
    pub lots: usize,
    /// Bytes of the inputs.
    pub bytes: u64,
    /// Whether the dataset of this plan is there already.
    pub is_finished: bool,
}

/// What came of a share.
#[derive(Debug, Default)]
pub struct Worked {
    /// Lots that were done now.
    pub done: Vec<u32>,
    /// Lots that were done before.
    pub before: Vec<u32>,
    /// Lots that failed, and why.
    pub failed: BTreeMap<u32, String>,
}

/// How far the work is.
#[derive(Debug, Serialize)]
pub struct Status {
    /// How many lots there are.
    pub lots: usize,
    /// Those that are done.
    pub done: Vec<u32>,
    /// Those that nobody has ended.
    pub missing: Vec<u32>,
    /// Those whose last attempt failed, and why.
    pub failed: BTreeMap<u32, String>,
}

/// What whoever did a lot says of it.
#[derive(Serialize, Deserialize)]
struct LotReceipt {
    /// How many slices it was cut into.
    slices: u32,
    /// Entries, records and bytes that were cut from its inputs, by index.
    cut: BTreeMap<usize, (u64, u64, u64)>,
}

/// Plans a run and leaves the plan beside its destination.
///
/// # Errors
///
/// When the request is wrong, the inputs cannot be read, or the destination cannot be used.
pub fn plan(
    mut plan: Plan,
    request: Request,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Planned, RunError> {
    if plan.pipeline.dedup.is_on() {
        return Err(PlanError::Value {
            key: "dedup",
            message: "conversations are compared with all others of a run, which no share can do; leave [dedup] out, or \
                      use `chatmill run`"
                .to_owned(),
        }
        .into());
    }
    progress.ahead(&[("hash", 1)]);
    let lots = prepare(&mut plan, progress, stop)?;
    let file = PlanFile::new(&plan, &lots, request);
    let mut planned = Planned {
        out: plan.out.clone(),
        lots: lots.len(),
        bytes: plan.input_bytes(),
        is_finished: false,
    };
    match chatmill_dataset::open(&plan.out, &file.fingerprint, file.request.replace)? {
        Opening::Finished(_) => planned.is_finished = true,
        Opening::Work(staging) => {
            for notice in staging.notices() {
                progress.note(notice);
            }
            staging.keep_plan(&serde_json::to_vec(&file).unwrap_or_default())?;
        }
    }
    Ok(planned)
}

/// Works off a share of the lots that are not done.
///
/// # Errors
///
/// When nothing was planned, something else was, or the system fails. A lot whose inputs are not what was planned is none:
/// the others are worked off all the same.
pub fn work(
    out: &Path,
    share: &Share,
    options: RunOptions<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Worked, RunError> {
    let (staging, file) = taken(out)?;
    let mine = chosen(share, file.lots())?;
    let (plan, lots) = file.restore(out)?;
    let mine: Vec<&Lot> = lots.iter().filter(|lot| mine.contains(&lot.number)).collect();
    let mut worked = Worked::default();
    let runner = Runner::new(&plan, &staging, options, progress, stop)?;
    for lot in mine {
        go_on(stop, worked.done.len())?;
        if let LotOutcome::Done(_) = staging.lot(lot.number)? {
            worked.before.push(lot.number);
            continue;
        }
        match runner.lot(lot) {
            Ok(cut) => {
                let receipt = serde_json::to_vec(&LotReceipt::of(lot, &cut)).unwrap_or_default();
                staging.keep_lot(lot.number, &receipt)?;
                worked.done.push(lot.number);
            }
            Err(error @ (RunError::InputChanged { .. } | RunError::InputsFailed { .. })) => {
                let reason = match &error {
                    RunError::InputChanged { names } => {
                        format!("changed since it was planned: {}; plan again", names.join(", "))
                    }
                    other => other.to_string(),
                };
                staging.keep_failure(lot.number, reason.as_bytes())?;
                progress.note(&format!("lot {} failed: {reason}", lot.number));
                worked.failed.insert(lot.number, reason);
            }
            Err(error) => return Err(error),
        }
    }
    drop(runner);
    staging.leave_share();
    Ok(worked)
}

/// Says how far the work is.
///
/// # Errors
///
/// When nothing was planned, or another build planned it.
pub fn status(out: &Path) -> Result<Status, RunError> {
    let (staging, file) = taken(out)?;
    let mut status = Status {
        lots: file.lots(),
        done: Vec::new(),
        missing: Vec::new(),
        failed: BTreeMap::new(),
    };
    for number in numbers_of(file.lots()) {
        match staging.lot(number)? {
            LotOutcome::Done(_) => status.done.push(number),
            LotOutcome::Missing => status.missing.push(number),
            LotOutcome::Failed(reason) => {
                let reason = String::from_utf8_lossy(&reason).into_owned();
                status.failed.insert(number, reason);
            }
        }
    }
    staging.leave_share();
    Ok(status)
}

/// Publishes the dataset once every lot is done. Ids that collide are found now, and what must change is done again here.
///
/// # Errors
///
/// When lots are missing, and as a run.
pub fn finish(
    out: &Path,
    options: RunOptions<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<RunSummary, RunError> {
    let mut attempt = Attempt::begin();
    let (staging, file) = taken(out)?;
    staging.leave_share();
    let (plan, lots) = file.restore(out)?;
    let staging = match chatmill_dataset::open(out, &file.fingerprint, file.request.replace)? {
        Opening::Finished(manifest) => return Ok(RunSummary::of_finished(out, manifest)),
        Opening::Work(staging) => staging,
    };
    for notice in staging.notices() {
        progress.note(notice);
    }
    let mut tally = CutTotals::of(plan.inputs.len());
    let mut missing = Vec::new();
    for lot in &lots {
        match staging.lot(lot.number)? {
            LotOutcome::Done(receipt) => match serde_json::from_slice::<LotReceipt>(&receipt) {
                Ok(receipt) => receipt.add_to(lot, &mut tally),
                Err(_) => missing.push(lot.number),
            },
            _ => missing.push(lot.number),
        }
    }
    let mut slices = done(&staging)?;
    // A slice whose files are damaged was forgotten when the work was taken up: its lot is to be done again.
    missing.extend(
        tally
            .each()
            .filter(|slice| !slices.contains_key(slice))
            .map(|slice| slice.lot),
    );
    if !missing.is_empty() {
        missing.sort_unstable();
        missing.dedup();
        for lot in &missing {
            staging.forget_lot(*lot)?;
        }
        return Err(RunError::LotsMissing {
            count: missing.len(),
            lots: ranges(&missing),
        });
    }
    discard_beyond(&staging, &mut slices, &tally)?;
    attempt.resumed = slices.len();
    let runner = Runner::new(&plan, &staging, options, progress, stop)?;
    let finished = runner.qualify(&lots, FinishedSlices { slices, tally })?;
    let used = runner.used();
    conclude(plan, staging, finished, used, &attempt, options, progress, stop)
}

/// Takes a share in what was planned for a destination.
fn taken(out: &Path) -> Result<(Staging, PlanFile), RunError> {
    let Some((staging, plan)) = share(out)? else {
        return Err(RunError::NotPlanned { out: out.to_owned() });
    };
    let file = PlanFile::read(&plan)?;
    Ok((staging, file))
}

/// The numbers of the lots that a share has.
fn chosen(share: &Share, lots: usize) -> Result<Vec<u32>, RunError> {
    match share {
        Share::Part { index, of } if index < of => {
            Ok(numbers_of(lots).filter(|number| number % of == *index).collect())
        }
        Share::Part { index, of } => Err(RunError::NoSuchShare {
            reason: format!("there is no share {} of {of}", u64::from(*index) + 1),
        }),
        Share::Lots(numbers) => match numbers.iter().find(|number| **number as usize >= lots) {
            Some(number) => Err(RunError::NoSuchShare {
                reason: format!(
                    "there is no lot {number}: they are numbered from 0 to {}",
                    lots.saturating_sub(1)
                ),
            }),
            None => Ok(numbers.clone()),
        },
    }
}

fn numbers_of(lots: usize) -> impl Iterator<Item = u32> {
    0..u32::try_from(lots).unwrap_or(u32::MAX)
}

impl LotReceipt {
    fn of(lot: &Lot, cut: &CutTotals) -> Self {
        let counts = lot.inputs.clone().filter_map(|input| {
            let counts = cut.inputs.get(input)?;
            Some((input, (counts.entries, counts.records, counts.bytes)))
        });
        Self {
            slices: cut.lots.get(&lot.number).copied().unwrap_or_default(),
            cut: counts.collect(),
        }
    }

    fn add_to(self, lot: &Lot, tally: &mut CutTotals) {
        tally.lots.insert(lot.number, self.slices);
        for (input, (entries, records, bytes)) in self.cut {
            if let Some(sum) = tally.inputs.get_mut(input) {
                *sum = CutCounts {
                    entries: sum.entries + entries,
                    records: sum.records + records,
                    bytes: sum.bytes + bytes,
                };
            }
        }
    }
}
