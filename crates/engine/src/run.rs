//! A run: lock, hash, process every slice without a receipt, seal, publish.
//!
//! [`run()`] takes a plan and returns the summary of the published dataset. The steps are shared with
//! `shards`, which spreads them over machines, and with `dropped`, which lists excluded conversations.

mod compare;
mod dropped;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use chatmill_dataset::overview::Mix;
use chatmill_dataset::{DatasetError, Opening, SliceId, SpillFolder, Staging, TableOptions};
use chatmill_intake::discover::InputKind;

use crate::commit::collisions::{IdHashes, Ids, Occurrence, Renames, SliceHashes, hash_of, renames};
use crate::commit::seal::{FinishedSlices, ReceiptTotals};
use crate::commit::summary::RunSummary;
use crate::error::{RunError, go_on};
use crate::options::{Reporter, RunOptions};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::slice::merging::refuse_unmerged;
use crate::slice::shards::{Shard, divides, shards};
use crate::slice::{CutTotals, Repeats, Slice, Slicer, scheduler};
use crate::work::receipt::SliceReceipt;
use crate::work::slowest::Slowest;
use crate::work::{WorkerContext, guarded, process_slice};

pub use dropped::{Dropped, dropped};

/// The stages of a run with their share of the time, in thousandths of
/// rendering; measured with 100 MB of chats in two dialects and one encoding.
const HASH: (&str, u64) = ("hash", 20);
const COMPARE: (&str, u64) = ("compare", 250);
const RENDER: (&str, u64) = ("render", 1000);
const SEAL: (&str, u64) = ("seal", 10);
const REPORT: (&str, u64) = ("report", 20);

/// Runs a plan to a published dataset. If `stop` is set it ends
/// early; finished slices are kept, and the next run resumes.
pub fn run(
    mut plan: Plan,
    options: RunOptions<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<RunSummary, RunError> {
    let attempt = Attempt::begin();
    progress.ahead(if plan.pipeline.surveys().is_some() {
        &[HASH, COMPARE, RENDER, SEAL, REPORT]
    } else {
        &[HASH, RENDER, SEAL, REPORT]
    });
    let claim = match options.parent {
        Some(parent) => parent.claim()?,
        None => chatmill_dataset::claim(&plan.out)?,
    };
    let shards = prepare(&mut plan, progress, stop)?;
    let fingerprint = plan.fingerprint();
    let staging = match claim.open(&fingerprint, options.replace)? {
        Opening::Finished(manifest) => return Ok(RunSummary::of_finished(&plan.out, manifest)?),
        Opening::Work(staging) => staging,
    };
    for notice in staging.notices() {
        progress.note(notice);
    }
    let done = done(&staging)?;
    let resumed = done.len();
    if resumed > 0 {
        let slices = plan.input_bytes().div_ceil(plan.slice_bytes().max(1) as u64);
        let about = slices.max(resumed as u64 + 1);
        progress.note(&format!("resuming: {resumed} of about {about} slices are done"));
    }
    let mut runner = Runner::new(&plan, &staging, options, progress, stop);
    runner.compare_all(&shards)?;
    let finished = runner.process_all(&shards, done)?;
    let used = runner.used();
    seal_and_publish(
        plan,
        staging,
        finished,
        used,
        &Attempt { resumed, ..attempt },
        options,
        progress,
        stop,
    )
}

/// The start of an attempt, and the number of slices that were already finished.
pub(crate) struct Attempt {
    begun: Instant,
    began_at: jiff::Timestamp,
    /// Slices that an earlier attempt finished.
    pub(crate) resumed: usize,
}

impl Attempt {
    pub(crate) fn begin() -> Self {
        Self {
            begun: Instant::now(),
            began_at: jiff::Timestamp::now(),
            resumed: 0,
        }
    }
}

/// Hashes the inputs of a plan and divides them into shards.
pub(crate) fn prepare(
    plan: &mut Plan,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Vec<Shard>, RunError> {
    for note in &plan.notes {
        progress.note(note);
    }
    refuse_streams(plan);
    let failures = plan.failures();
    if !failures.is_empty() {
        return Err(RunError::InputsFailed(failures));
    }
    refuse_unmerged(&plan.inputs, plan.limits(), stop)?;
    plan.hash_inputs(&divides, progress, stop)?;
    go_on(stop, 0)?;
    Ok(shards(plan)?)
}

/// Returns the finished slices, with the ids of their receipts.
pub(crate) fn done(staging: &Staging) -> Result<BTreeMap<SliceId, Ids>, RunError> {
    let receipts = staging.receipts::<SliceReceipt>()?;
    let done = receipts.map(|receipt| receipt.map(|receipt| (receipt.slice, Ids::of(&receipt.body))));
    Ok(done.collect::<Result<_, DatasetError>>()?)
}

/// Seals and publishes the finished slices.
#[expect(clippy::too_many_arguments, reason = "all that a run holds at its end")]
pub(crate) fn seal_and_publish(
    plan: Plan,
    staging: Staging,
    finished: FinishedSlices,
    mut used: Used,
    attempt: &Attempt,
    options: RunOptions<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<RunSummary, RunError> {
    let fingerprint = plan.fingerprint();
    let mut outcome = ReceiptTotals::read(&staging, &finished, stop)?;
    outcome.set_mix(used.mix.take());
    outcome.check(&plan, &finished.cut_totals)?;
    drop(finished);
    let slices = outcome.slices;
    if !plan.quotes {
        used.slowest.leave_out_ids();
    }
    progress.stage(SEAL.0, 0);
    go_on(stop, slices)?;
    let sealed = outcome.seal(&plan, &fingerprint, staging, &used.table_options)?;
    // From here on, all data is read from the dataset.
    let out = plan.out;
    drop(plan.inputs);
    go_on(stop, slices)?;
    let derived = serde_json::json!({
        "began_at": attempt.began_at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "threads": used.threads,
        "seconds": attempt.begun.elapsed().as_secs_f64(),
        "slices": slices,
        "resumed_slices": attempt.resumed,
        // Only the slices of this attempt: the times of earlier attempts are not recorded.
        "slowest": used.slowest,
    });
    sealed.write_derived("run.json", format!("{derived:#}\n").as_bytes())?;
    if let Some(Reporter(report)) = options.report {
        progress.stage(REPORT.0, 0);
        scheduler::together(used.threads, || report(sealed.folder()))??;
    }
    go_on(stop, slices)?;
    for notice in sealed.publish()? {
        progress.note(&notice);
    }
    Ok(RunSummary::of_run(&out, attempt.begun.elapsed())?)
}

/// Refuses streams: a run reads only regular files, since their content is part of its identity.
pub(crate) fn refuse_streams(plan: &mut Plan) {
    for planned in &mut plan.inputs {
        if matches!(planned.input.kind, InputKind::Stdin | InputKind::Pipe) {
            let finding = chatmill_diag::Finding::new(
                &chatmill_diag::codes::NOT_A_REGULAR_FILE,
                "a run reads regular files only; write the stream to a file first",
            );
            planned.input.kind = InputKind::Refused(Box::new(finding));
        }
    }
}

/// Resources of the workers that sealing reuses.
pub(crate) struct Used {
    table_options: TableOptions,
    threads: usize,
    slowest: Slowest,
    /// The result of the mix, if the plan has one.
    mix: Option<Mix>,
}

pub(crate) struct Runner<'p> {
    tools: WorkerContext<'p>,
    /// The inputs with the same bytes as others; equal for all shards.
    repeats: Repeats,
    staging: &'p Staging,
    table_options: TableOptions,
    threads: usize,
    progress: &'p dyn Progress,
}

impl<'p> Runner<'p> {
    pub(crate) fn new(
        plan: &'p Plan,
        staging: &'p Staging,
        options: RunOptions<'_>,
        progress: &'p dyn Progress,
        stop: &'p AtomicBool,
    ) -> Self {
        let asked = if options.threads > 0 {
            options.threads
        } else {
            plan.pipeline.resources.threads
        };
        let threads = scheduler::threads(asked, progress);
        Self {
            repeats: Repeats::among(&plan.inputs),
            tools: WorkerContext::new(plan, options.count_mode, options.verify_every, progress, stop),
            staging,
            table_options: TableOptions {
                encodings: plan.encoding_names(),
                compression: plan.compression,
                partition: plan.pipeline.output.partition,
                absent: plan.absent_tables(),
            },
            threads,
            progress,
        }
    }

    /// Processes the slices without a receipt, then again those with conversations that must get other ids.
    ///
    /// Receipts stay in the staging folder. During the comparison of ids there are eight
    /// bytes in memory for each conversation, and the text of an id only if another may be
    /// equal. A receipt of an earlier attempt counts only if it was made from the same bytes.
    fn process_all(
        &self,
        shards: &[Shard],
        mut done: BTreeMap<SliceId, Ids>,
    ) -> Result<FinishedSlices, RunError> {
        let (finished, cut_totals) = self.pass(
            RENDER.0,
            shards,
            &|slice| !done.get(&slice.id).is_some_and(|ids| ids.are_of(slice)),
            &Renames::new(),
        )?;
        // Removes slices that an earlier attempt cut beyond these, from different bytes.
        discard_beyond(self.staging, &mut done, &cut_totals)?;
        done.extend(finished);
        self.qualify(
            shards,
            FinishedSlices {
                slices: done,
                cut_totals,
            },
        )
    }

    /// Processes one shard, from any state of completion; returns the totals that were cut from it.
    pub(crate) fn shard(&self, shard: &Shard) -> Result<CutTotals, RunError> {
        let (_, cut_totals) = self.pass(RENDER.0, std::slice::from_ref(shard), &|_| true, &Renames::new())?;
        Ok(cut_totals)
    }

    /// Processes the slices again that have conversations with duplicate ids.
    pub(crate) fn qualify(
        &self,
        shards: &[Shard],
        mut finished: FinishedSlices,
    ) -> Result<FinishedSlices, RunError> {
        let stop = self.tools.stop;
        let mut hashes = IdHashes::of(finished.slices.values().map(|ids| ids.count).sum());
        for (done, receipt) in self.staging.receipts::<SliceHashes>()?.enumerate() {
            go_on(stop, done)?;
            hashes.add(&receipt?.body);
        }
        let Some(repeated) = hashes.close() else {
            return Ok(finished);
        };
        let mut renamed: Renames = Renames::new();
        let mut found: Vec<(SliceId, usize, usize, String)> = Vec::new();
        for (done, receipt) in self.staging.receipts::<SliceReceipt>()?.enumerate() {
            go_on(stop, done)?;
            let receipt = receipt?;
            if !receipt.body.renamed.is_empty() {
                renamed.insert(receipt.slice, receipt.body.renamed);
            }
            let ids = receipt.body.ids.into_iter().enumerate();
            let ids = ids.filter(|(_, (_, id))| repeated.binary_search(&hash_of(id)).is_ok());
            found.extend(ids.map(|(index, (input, id))| (receipt.slice, index, input, id)));
        }
        let occurrences = found.iter().map(|(slice, index, input, id)| Occurrence {
            slice: *slice,
            index: *index,
            input: *input,
            id,
        });
        let plan = self.tools.plan;
        let name = |input: usize| plan.input_name(input);
        let required = renames(occurrences, &|id| hashes.has(id), &name, stop);
        let done = finished.slices.len();
        let required = required.ok_or(RunError::Stopped { done })?;
        let touched = required.keys().chain(renamed.keys());
        let wrong: BTreeSet<SliceId> = touched
            .filter(|slice| required.get(slice) != renamed.get(slice))
            .copied()
            .collect();
        // Reprocessing slices needs memory, so the hashes are freed first.
        drop((hashes, repeated, found));
        if wrong.is_empty() {
            return Ok(finished);
        }
        for slice in &wrong {
            // If the run stops now, the shard is not marked as done.
            self.staging.remove_shard_outcome(slice.shard)?;
            self.staging.discard(*slice)?;
        }
        let concerned: BTreeSet<u32> = wrong.iter().map(|slice| slice.shard).collect();
        let concerned = shards.iter().filter(|shard| concerned.contains(&shard.number));
        let concerned: Vec<Shard> = concerned.cloned().collect();
        let wanted = |slice: &Slice| wrong.contains(&slice.id);
        let (again, _) = self.pass("qualify ids", &concerned, &wanted, &required)?;
        finished.slices.extend(again);
        Ok(finished)
    }

    /// Processes the wanted slices; `renames` are the new ids of some of their conversations.
    fn pass(
        &self,
        name: &str,
        shards: &[Shard],
        wanted: &dyn Fn(&Slice) -> bool,
        renames: &Renames,
    ) -> Result<(BTreeMap<SliceId, Ids>, CutTotals), RunError> {
        self.read(name, shards, wanted, &|slice| {
            // Most slices have no conversation to rename.
            self.process_slice(slice, renames.get(&slice.id).cloned().unwrap_or_default())
        })
    }

    /// Reads shards once, and returns the results of `work` for the wanted
    /// slices. A slice without a result means that the run stopped.
    fn read<T: Send>(
        &self,
        name: &str,
        shards: &[Shard],
        wanted: &dyn Fn(&Slice) -> bool,
        work: &(dyn Fn(&Slice) -> Result<Option<T>, RunError> + Sync),
    ) -> Result<(BTreeMap<SliceId, T>, CutTotals), RunError> {
        let plan = self.tools.plan;
        let bytes = shards.iter().map(|shard| shard.bytes(&plan.inputs)).sum();
        self.progress.stage(name, bytes);
        let mut slicer = Slicer::new(
            &plan.inputs,
            plan.limits(),
            plan.slice_bytes(),
            plan.pipeline.select.limit,
            self.spill_folder(),
            self.tools.stop,
            self.progress,
        )
        .in_shards(shards.iter().cloned());
        slicer.is_strict = true;
        slicer.repeats = Some(self.repeats.clone());
        let mut results = BTreeMap::new();
        let mut failure = None;
        let read =
            scheduler::each_slice(
                self.threads,
                &mut slicer,
                wanted,
                work,
                &mut |slice, result| match result {
                    Ok(Some(result)) => {
                        results.insert(slice, result);
                    }
                    Ok(None) => {}
                    Err(error) => {
                        failure.get_or_insert(error);
                    }
                },
            );
        if let Some(failure) = failure {
            return Err(failure);
        }
        read?;
        if !slicer.failures.is_empty() {
            let failures = slicer.failures.into_iter().map(|(_, failure)| failure).collect();
            return Err(RunError::InputsFailed(failures));
        }
        if self.tools.stop.load(Ordering::Relaxed) {
            let mut receipts = self.staging.receipts::<SliceReceipt>()?;
            let done = receipts.try_fold(0, |done, receipt| receipt.map(|_| done + 1))?;
            return Err(RunError::Stopped { done });
        }
        if !slicer.changed.is_empty() {
            let names = slicer.changed;
            return Err(RunError::InputChanged(names));
        }
        Ok((results, slicer.cut_totals))
    }

    /// Returns the resources after all slices are done.
    pub(crate) fn used(self) -> Used {
        let slowest = self.tools.slowest.into_inner();
        Used {
            table_options: self.table_options,
            threads: self.threads,
            slowest: slowest.unwrap_or_else(PoisonError::into_inner),
            mix: self.tools.survey.into_mix(),
        }
    }

    /// Returns the folder for spilled rows: the requested one, else the staging folder.
    fn spill_folder(&self) -> SpillFolder {
        match &self.tools.plan.pipeline.resources.spill {
            Some(folder) => self.tools.plan.base.join(folder).into(),
            None => self.staging.spill_folder(),
        }
    }

    /// Processes one slice from bytes to receipt; a panic becomes an error.
    fn process_slice(
        &self,
        slice: &Slice,
        renamed: BTreeMap<usize, String>,
    ) -> Result<Option<Ids>, RunError> {
        let whole = || -> Result<Ids, RunError> {
            let mut parts = self.staging.parts(slice.id, &self.table_options)?;
            let receipt = process_slice(slice, &self.tools, &mut parts, renamed)?;
            let files = parts.close()?;
            self.staging.commit(slice.id, &files, &receipt)?;
            Ok(Ids::of(&receipt))
        };
        match guarded(slice, self.tools.stop, whole)? {
            Ok(ids) => Ok(Some(ids)),
            Err(RunError::Stopped { .. }) => Ok(None),
            Err(error) => {
                // Publishing is impossible now, so the other workers stop.
                self.tools.stop.store(true, Ordering::Relaxed);
                Err(error)
            }
        }
    }
}

/// Discards slices of an earlier attempt that are not in `cut_totals`.
pub(crate) fn discard_beyond(
    staging: &Staging,
    done: &mut BTreeMap<SliceId, Ids>,
    cut_totals: &CutTotals,
) -> Result<(), DatasetError> {
    let beyond: Vec<SliceId> = done
        .keys()
        .filter(|slice| !cut_totals.has(**slice))
        .copied()
        .collect();
    for slice in beyond {
        done.remove(&slice);
        staging.discard(slice)?;
    }
    Ok(())
}
