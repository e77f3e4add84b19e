//! `chatmill night`: a scheduled run ("night") in a store, new or resumed. Its dataset is compared with the last good one, recorded and
//! reported.
//!
//! The outcome of a night is its record, which is written by a single rename. Everything else in the store is derived from the records, and
//! is completed by the next call, wherever a call is killed.
//!
//! Why: docs/decisions/2026-11-23-nightly-run-records.md.

mod accept;
mod assess;
mod attempt;
mod follow_up;
mod notify;
mod records;
mod settings;
mod status;

use std::path::{Path, PathBuf};

use chatmill_dataset::NIGHTS_PAGE;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use records::{Records, no_store};

use crate::context::Context;
use crate::exit::{Exit, Outcome};

/// Arguments of `night`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = include_str!("../../help/night.txt").trim_end()
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    word: Option<Word>,
    #[command(flatten)]
    request: NightRequest,
}

/// The arguments of a night.
#[derive(Debug, Args)]
struct NightRequest {
    /// Pipeline file
    #[arg(value_name = "PIPELINE.toml", required = true)]
    pipeline: Option<PathBuf>,
    /// Folder that keeps the datasets and records of all runs; created if missing
    #[arg(long, value_name = "DIR", required = true)]
    store: Option<PathBuf>,
    /// Reads these inputs instead of the file's: a path or glob relative to the current folder; repeatable
    #[arg(long = "input", value_name = "PATH")]
    inputs: Vec<String>,
    /// Worker threads; 0 uses all cores
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Sets a key of the pipeline file
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    overrides: Vec<String>,
    /// Time that names the run, for schedulers that pass one [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<Timestamp>,
    /// Prints what would be done and changes nothing
    #[arg(long)]
    dry_run: bool,
}

/// The subcommands, for other work on a store.
#[derive(Debug, Subcommand)]
enum Word {
    /// Lists the scheduled runs of a store
    Status(status::StatusArguments),
    /// Accepts a run that failed its conditions; later runs are compared with it
    Accept(accept::AcceptArguments),
}

/// Writes the files that are derived from the records of a store, and returns the path of its page.
pub(super) fn write_page(store: &Path, context: &Context<'_>) -> Outcome<PathBuf> {
    if Records::find(store)?.is_none() {
        return Err(no_store(store).then("give the folder of `chatmill night --store`"));
    }
    follow_up::derive(&Records::open(store)?, context)?;
    Ok(store.join(NIGHTS_PAGE))
}

/// Runs a night, or the subcommand.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    match &arguments.word {
        Some(Word::Status(arguments)) => status::execute(arguments),
        Some(Word::Accept(arguments)) => accept::execute(arguments, context),
        None => attempt::execute(&arguments.request, context),
    }
}
