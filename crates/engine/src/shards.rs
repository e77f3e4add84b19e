//! A run in shares: planned once, worked off lot by lot by whoever comes, on one machine or many, and finished once.
//!
//! The work lies where an interrupted run leaves it, beside the destination, so that `run` goes on with it, too. Nobody waits for
//! anybody: a lot is done when what came of it stands there, and two who do the same lot write the same files.
//!
//! Where conversations are compared, all lots are looked at before the first is rendered. Whoever works looks at their share of the lots,
//! and renders it when nobody's is missing; else somebody comes again (docs/decisions/2026-11-23-shares-compare-first.md).
//!
//! Why: docs/decisions/2026-11-23-shares-of-a-run.md.

mod file;
mod numbers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use strum::IntoStaticStr;

use chatmill_dataset::{LotOutcome, Opening, PlannedWork, SliceId, Staging, planned_work};
use chatmill_diag::cut;
use serde::{Deserialize, Serialize};

use crate::commit::seal::FinishedSlices;
use crate::commit::summary::RunSummary;
use crate::error::{RunError, go_on};
use crate::options::RunOptions;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::run::{Attempt, Runner, conclude, discard_beyond, done, prepare};
use crate::slice::CutTotals;
use crate::slice::lots::Lot;

pub use file::Request;
use file::{PlanFile, sealed, unsealed};
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

/// What is to be done with lots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Stage {
    /// They are looked at, so that conversations can be compared with those of others.
    Compare,
    /// They become part files.
    #[default]
    Render,
    /// Nothing is left to do with any.
    Finish,
}

impl Stage {
    /// The word that answers use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What came of a share.
#[derive(Debug, Default)]
pub struct Worked {
    /// How far it came: to the comparing, where lots of others are missing, or to the rendering.
    pub stage: Stage,
    /// Lots that were looked at now, to be compared.
    pub compared: Vec<u32>,
    /// Lots that were done now.
    pub done: Vec<u32>,
    /// Lots that were done before.
    pub before: Vec<u32>,
    /// Lots that failed, and why.
    pub failed: BTreeMap<u32, String>,
    /// Lots that nobody has looked at, so that none can be rendered yet.
    pub missing: Vec<u32>,
}

/// How far the work is.
#[derive(Debug, Serialize)]
pub struct Status {
    /// What is to be done next, and what the lists below tell of.
    pub stage: Stage,
    /// How many lots there are.
    pub lots: usize,
    /// Those that are done with the stage.
    pub done: Vec<u32>,
    /// Those that nobody has ended.
    pub missing: Vec<u32>,
    /// Those whose last attempt failed, and why.
    pub failed: BTreeMap<u32, String>,
}

/// What whoever did a lot says of it. It bears its own hash.
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
            staging.keep_plan(&sealed(&file)?)?;
        }
    }
    Ok(planned)
}

/// Works off a share of the lots that are not done: looks at them where conversations are compared, and renders them once all
/// were looked at.
///
/// # Errors
///
/// When nothing was planned, something else was, somebody runs or finishes the work alone, or the system fails. A lot whose inputs are
/// not what was planned is none: the others are worked off all the same.
pub fn work(
    out: &Path,
    share: &Share,
    options: RunOptions<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Worked, RunError> {
    let (work, file) = planned(out)?;
    let mine = chosen(share, file.lots.len())?;
    let (plan, lots) = file.restore(out)?;
    let staging = work.share()?;
    let options = file.request.options(options);
    let mut runner = Runner::new(&plan, &staging, options, progress, stop);
    let worked = share_of(&mut runner, &staging, &lots, &mine, progress, stop);
    drop(runner);
    let is_taken_away = staging.is_taken_away();
    staging.leave_share();
    match worked {
        // What the system says of a folder that is gone tells nobody why.
        Err(RunError::Dataset(_)) if is_taken_away => Err(RunError::TakenAway { out: out.to_owned() }),
        worked => worked,
    }
}

/// Takes some lots through the stages, as far as that goes.
fn share_of(
    runner: &mut Runner<'_>,
    staging: &Staging,
    lots: &[Lot],
    mine: &[u32],
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Worked, RunError> {
    let mut worked = Worked::default();
    let mut unseen = runner.place_conversations(lots)?;
    if !unseen.is_empty() {
        for lot in lots.iter().filter(|lot| mine.contains(&lot.number)) {
            go_on(stop, 0)?;
            // Somebody else may have looked at it meanwhile.
            if staging.has_likenesses(lot.number)? {
                continue;
            }
            let looked = runner.look_at(std::slice::from_ref(lot));
            if worked.take(looked, lot, staging, progress)?.is_some() {
                worked.compared.push(lot.number);
            }
        }
        unseen = runner.place_conversations(lots)?;
    }
    if !unseen.is_empty() {
        worked.stage = Stage::Compare;
        worked.missing = unseen;
        return Ok(worked);
    }
    for lot in lots.iter().filter(|lot| mine.contains(&lot.number)) {
        go_on(stop, worked.done.len())?;
        if LotReceipt::of_done(staging.lot(lot.number)?, lot).is_some() {
            worked.before.push(lot.number);
            continue;
        }
        let rendered = runner.lot(lot);
        if let Some(cut) = worked.take(rendered, lot, staging, progress)? {
            staging.keep_lot(lot.number, &sealed(&LotReceipt::of(lot, &cut))?)?;
            worked.done.push(lot.number);
        }
    }
    Ok(worked)
}

impl Worked {
    /// Takes what came of a lot; nothing where that was the fault of its inputs.
    fn take<T>(
        &mut self,
        came: Result<T, RunError>,
        lot: &Lot,
        staging: &Staging,
        progress: &dyn Progress,
    ) -> Result<Option<T>, RunError> {
        let reason = match came {
            Ok(came) => return Ok(Some(came)),
            Err(RunError::InputChanged { names }) => {
                format!("changed since it was planned: {}; plan again", names.join(", "))
            }
            Err(error @ RunError::InputsFailed { .. }) => error.to_string(),
            Err(error) => return Err(error),
        };
        staging.keep_failure(lot.number, reason.as_bytes())?;
        progress.note(&format!("lot {} failed: {reason}", lot.number));
        self.failed.insert(lot.number, reason);
        Ok(None)
    }
}

/// Says how far the work is. Nothing is written.
///
/// # Errors
///
/// When nothing was planned, or another build planned it.
pub fn status(out: &Path) -> Result<Status, RunError> {
    let (work, file) = planned(out)?;
    if file.compares && !work.has_clusters()? {
        let status = status_of(Stage::Compare, &file, |lot| {
            if work.has_likenesses(lot)? {
                return Ok(LotOutcome::Done(Vec::new()));
            }
            Ok(match work.lot(lot)? {
                // It was rendered before what it was compared by was lost.
                LotOutcome::Done(_) => LotOutcome::Missing,
                other => other,
            })
        })?;
        if status.done.len() < status.lots {
            return Ok(status);
        }
    }
    let status = status_of(Stage::Render, &file, |lot| {
        Ok(match work.lot(lot)? {
            LotOutcome::Done(receipt) if unsealed::<LotReceipt>(&receipt).is_none() => LotOutcome::Missing,
            other => other,
        })
    })?;
    Ok(if status.done.len() < status.lots {
        status
    } else {
        Status {
            stage: Stage::Finish,
            ..status
        }
    })
}

fn status_of(
    stage: Stage,
    file: &PlanFile,
    outcome: impl Fn(u32) -> Result<LotOutcome, RunError>,
) -> Result<Status, RunError> {
    let mut status = Status {
        stage,
        lots: file.lots.len(),
        done: Vec::new(),
        missing: Vec::new(),
        failed: BTreeMap::new(),
    };
    for number in numbers_of(file.lots.len()) {
        match outcome(number)? {
            LotOutcome::Done(_) => status.done.push(number),
            LotOutcome::Missing => status.missing.push(number),
            LotOutcome::Failed(reason) => {
                let reason = String::from_utf8_lossy(&reason).into_owned();
                status.failed.insert(number, reason);
            }
        }
    }
    Ok(status)
}

/// What was planned for a destination, and how it was asked for.
///
/// # Errors
///
/// When nothing was planned, or what was no longer fits its pipeline file and inputs.
pub fn planned_run(out: &Path) -> Result<(Plan, Request), RunError> {
    let (_, file) = planned(out)?;
    let (plan, _) = file.restore(out)?;
    Ok((plan, file.request))
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
    let (_, file) = planned(out)?;
    let (plan, lots) = file.restore(out)?;
    let options = file.request.options(options);
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
        match LotReceipt::of_done(staging.lot(lot.number)?, lot) {
            Some(receipt) => receipt.add_to(lot, &mut tally),
            None => missing.push(lot.number),
        }
    }
    let mut slices = done(&staging)?;
    for (lot, count) in &tally.lots {
        let slice = |slice| SliceId { lot: *lot, slice };
        let found = slices.range(slice(0)..=slice(u32::MAX));
        let found: Vec<u32> = found.map(|(id, _)| id.slice).collect();
        // A slice whose files are damaged was forgotten when the work was taken up. Where there are more than is said, that is wrong,
        // or they were cut from other bytes.
        if !found.iter().copied().eq(0..*count) {
            missing.push(*lot);
            for beyond in found.into_iter().filter(|found| found >= count) {
                staging.discard(slice(beyond))?;
            }
        }
    }
    let mut runner = Runner::new(&plan, &staging, options, progress, stop);
    if missing.is_empty() {
        missing = runner.place_conversations(&lots)?;
    }
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
    let finished = runner.qualify(&lots, FinishedSlices { slices, tally })?;
    let used = runner.used();
    conclude(plan, staging, finished, used, &attempt, options, progress, stop)
}

/// What was planned for a destination.
fn planned(out: &Path) -> Result<(PlannedWork, PlanFile), RunError> {
    let work = planned_work(out)?.ok_or_else(|| RunError::NotPlanned { out: out.to_owned() })?;
    let file = PlanFile::read(work.plan())?;
    Ok((work, file))
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
            slices: cut.lots.get(&lot.number).map_or(0, |slices| *slices),
            cut: counts.collect(),
        }
    }

    /// What is said of a lot that is done; nothing where that is not as it was written, or does not say what becomes of each of the
    /// lot's inputs: one that was refused is a record without a byte, and of every other one an entry ended, but for a stretch after
    /// which it goes on.
    fn of_done(outcome: LotOutcome, lot: &Lot) -> Option<Self> {
        let LotOutcome::Done(bytes) = outcome else {
            return None;
        };
        let receipt: Self = unsealed(&bytes)?;
        let is_told = |(entries, records, bytes): &(u64, u64, u64)| match &lot.stretch {
            Some(stretch) => (*entries, *bytes) == (u64::from(stretch.is_last), stretch.end - stretch.start),
            None => *entries > 0 || (*records, *bytes) == (1, 0),
        };
        let fits = receipt.cut.keys().copied().eq(lot.inputs.clone()) && receipt.cut.values().all(is_told);
        fits.then_some(receipt)
    }

    fn add_to(self, lot: &Lot, tally: &mut CutTotals) {
        tally.lots.insert(lot.number, self.slices);
        for (input, (entries, records, bytes)) in self.cut {
            let sum = cut::at_mut(&mut tally.inputs, input);
            sum.entries = sum.entries.saturating_add(entries);
            sum.records = sum.records.saturating_add(records);
            sum.bytes = sum.bytes.saturating_add(bytes);
        }
    }
}
