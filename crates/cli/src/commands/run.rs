//! `chatmill run`: makes a published dataset from a pipeline file. The engine runs the pipeline; the code here adds the reports to the
//! dataset, and prints the `summary`, which `finish` and `convert` also use.

pub(super) mod summary;

use std::path::{Path, PathBuf};

use chatmill_dataset::{Dataset, DatasetError};
use chatmill_engine::{CountMode, Plan, Reporter, RunError, RunOptions, RunSummary, dropped, run};
use chatmill_report::bill::PriceList;
use chatmill_report::{build_report, save};
use clap::Args;

use crate::args::{Choices, ListFormat, PipelineArguments, choice};
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::mask::dropped::DroppedFile;
use crate::prices::prices_of_nights;
use crate::{output, terminal};

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/run.txt").trim_end())]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: PipelineArguments,
    /// Worker threads; 0 uses all cores
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Replaces a finished dataset of another plan
    #[arg(long)]
    replace: bool,
    /// Token counter: `reference` counts every rendering with tiktoken-rs, which gives the same figures and takes many times longer
    #[arg(
        long,
        value_parser = choice(COUNTERS),
        value_name = "COUNTER",
        default_value = "cached",
        hide_short_help = true
    )]
    counter: CountMode,
    /// Counts every N-th rendering of a slice again with tiktoken-rs; a difference ends the run
    #[arg(long, value_name = "N", default_value_t = 0)]
    verify_every: u64,
    /// Lists the conversations that are left out, each with its reason, as JSON lines in FILE; the inputs are read once more
    #[arg(long, value_name = "FILE")]
    dropped: Option<PathBuf>,
    /// Format of the summary
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: ListFormat,
}

/// The values of `--counter`.
const COUNTERS: Choices<CountMode> = &[
    (
        "cached",
        "chatmill's own counter, which caches counts",
        CountMode::Cached,
    ),
    ("reference", "tiktoken-rs", CountMode::Reference),
];

/// Runs a pipeline and prints its summary.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let common = &arguments.common;
    let plan = common.plan(&common.overrides(context.global))?;
    let name = plan.pipeline.name.clone();
    let reporter = PricedReport::of(&common.pipeline, &plan, context)?;
    let report = |folder: &Path| reporter.write(folder);
    let options = RunOptions {
        threads: arguments.threads,
        replace: arguments.replace,
        count_mode: arguments.counter,
        verify_every: arguments.verify_every,
        report: Some(Reporter(&report)),
        ..RunOptions::default()
    };
    let wants_list = arguments.dropped.is_some();
    let inputs = plan.inputs.iter().filter(|_| wants_list);
    let inputs: Vec<PathBuf> = inputs.map(|planned| planned.input.path()).collect();
    let beside = plan.read_beside();
    let own = [plan.out.as_path(), &common.pipeline].into_iter();
    let spared = own.chain(inputs.iter().chain(&beside).map(PathBuf::as_path));
    let spared: Vec<&Path> = spared.collect();
    let patterns = plan.pipeline.input.iter().map(|section| &section.path);
    let list = DroppedFile::begin(
        arguments.dropped.as_deref(),
        &spared,
        (&plan.base, patterns),
        context,
    )?;
    let again = list.is_some().then(|| plan.clone());
    let stop = context.signals.stop();
    let summary = run(plan, options, context.meter, stop).map_err(resumable)?;
    reporter.renew(&summary)?;
    if let (Some(list), Some(plan)) = (list, again) {
        let options = RunOptions {
            threads: arguments.threads,
            ..RunOptions::default()
        };
        let mut rows = dropped(plan, options, context.meter, stop)?;
        for row in &mut rows {
            row.reason = summary::key(&row.reason);
        }
        list.finish(&rows)?;
    }
    print_summary(&name, &summary, arguments.format, context)
}

/// The error of a run; for a full disk, the advice is that finished work is kept.
pub(super) fn resumable(error: RunError) -> CommandError {
    let is_full = matches!(error, RunError::Dataset(DatasetError::NoSpace { .. }));
    let error = CommandError::from(error);
    if is_full {
        error.then("finished work is kept, and the same command resumes")
    } else {
        error
    }
}

/// Writes the report of a dataset with the prices that its pipeline file has for nights.
pub(super) struct PricedReport(PriceList);

impl PricedReport {
    pub(super) fn of(pipeline: &Path, plan: &Plan, context: &Context<'_>) -> Outcome<Self> {
        let section = plan.pipeline.night.clone().unwrap_or_default();
        let prices = prices_of_nights(pipeline, &section, &plan.encodings, context)?;
        Ok(Self(prices))
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), DatasetError> {
        let mut report = build_report(folder, None)?;
        report.add_money(&Dataset::open(folder)?, &self.0)?;
        save(folder, &report)
    }

    /// Writes the report again for a dataset that existed before the run, since prices may have changed.
    pub(super) fn renew(&self, summary: &RunSummary) -> Result<(), DatasetError> {
        if summary.elapsed.is_none() && !self.0.is_empty() {
            self.write(&summary.out)?;
        }
        Ok(())
    }
}

/// Prints the summary of a run, and returns its exit code.
pub(super) fn print_summary(
    name: &str,
    summary: &RunSummary,
    format: ListFormat,
    context: &Context<'_>,
) -> Outcome<Exit> {
    context.meter.finish();
    let exit = Exit::complete_if(summary.is_within_threshold());
    let folder = short(&summary.out);
    context.meter.set_ending(summary::ending(&folder, summary));
    let columns = terminal::table_columns();
    match format {
        ListFormat::Text => output::print(&summary::describe(name, &folder, summary, columns))?,
        ListFormat::Json => output::print_json(&summary::json(name, &folder, summary, exit))?,
    }
    Ok(exit)
}

/// A path without detours, relative to the current folder if it is below it.
#[expect(clippy::disallowed_methods, reason = "it is only shown")]
fn short(path: &Path) -> String {
    let Ok(whole) = path.canonicalize() else {
        return path.display().to_string();
    };
    let below = std::env::current_dir()
        .ok()
        .and_then(|folder| Some(whole.strip_prefix(folder).ok()?.to_path_buf()));
    below
        .filter(|below| !below.as_os_str().is_empty())
        .unwrap_or(whole)
        .display()
        .to_string()
}
