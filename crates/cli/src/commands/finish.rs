//! `chatmill finish`: publishes the dataset when all shards of a plan are done.

use std::path::{Path, PathBuf};

use chatmill_engine::shards;
use chatmill_engine::{Reporter, RunOptions};
use clap::Args;

use super::run;
use crate::args::ListFormat;
use crate::context::Context;
use crate::exit::{Exit, Outcome};

/// Arguments of `finish`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/finish.txt").trim_end())]
pub(crate) struct Arguments {
    /// Folder of the dataset, as given to `chatmill plan`
    #[arg(value_name = "DIR")]
    out: PathBuf,
    /// Worker threads; 0 uses all cores
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Format of the summary
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: ListFormat,
}

/// Finishes the run, and prints the same summary as `run`.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let (plan, request) = shards::planned_run(&arguments.out)?;
    let reporter = run::PricedReport::of(&request.pipeline, &plan, context)?;
    let name = plan.pipeline.name.clone();
    drop(plan);
    let report = |folder: &Path| reporter.write(folder);
    let options = RunOptions {
        threads: arguments.threads,
        report: Some(Reporter(&report)),
        ..RunOptions::default()
    };
    let summary = shards::finish(&arguments.out, options, context.meter, context.signals.stop())
        .map_err(run::resumable)?;
    reporter.renew(&summary)?;
    run::print_summary(&name, &summary, arguments.format, context)
}
