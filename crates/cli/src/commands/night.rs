//! `chatmill night`: one night of a store, from interrupted work or new, to a dataset that is compared, recorded and told of.
//!
//! What became of a night is its record, written by one rename; everything else in the store follows from the records and is
//! made up for by the next call, wherever this one is killed.
//!
//! Why: docs/decisions/2026-11-23-a-night-is-a-record.md.

mod accept;
mod books;
mod conclude;
mod mill;
mod notify;
mod settings;
mod settle;
mod status;

use std::path::{Path, PathBuf};

use books::Books;
use chatmill_dataset::NIGHTS_PAGE;
use clap::{Args, Subcommand};
use jiff::Timestamp;

use crate::context::Context;
use crate::exit::{Exit, refuse};

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

/// What a night is asked.
#[derive(Debug, Args)]
struct NightRequest {
    /// Pipeline file
    #[arg(value_name = "PIPELINE.toml", required = true)]
    pipeline: Option<PathBuf>,
    /// Folder of the nights; it is made where there is none
    #[arg(long, value_name = "DIR", required = true)]
    store: Option<PathBuf>,
    /// Reads this in place of the file's inputs: a path or glob that starts where you are; may be given several times
    #[arg(long = "input", value_name = "PATH")]
    inputs: Vec<String>,
    /// Worker threads; 0 takes what the machine gives
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Sets a key of the pipeline file
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    overrides: Vec<String>,
    /// The instant that the night is named after, for schedulers with a time of their own [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<Timestamp>,
    /// Says what would be done, and does nothing
    #[arg(long)]
    dry_run: bool,
}

/// What else there is to do with a store.
#[derive(Debug, Subcommand)]
enum Word {
    /// Lists the nights of a store
    Status(status::StatusArguments),
    /// Takes a night that something objects to for a good one: later nights are compared with it
    Accept(accept::AcceptArguments),
}

/// Writes what is derived from the records of a store anew, and says where its page is.
pub(super) fn write_page(store: &Path, context: &Context<'_>) -> anyhow::Result<PathBuf> {
    if Books::find(store)?.is_none() {
        return refuse(
            format!("{} holds no nights", store.display()),
            "give the folder that `chatmill night --store` was given",
        );
    }
    settle::derive(&Books::open(store)?, context)?;
    Ok(store.join(NIGHTS_PAGE))
}

/// Does what is asked.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> anyhow::Result<Exit> {
    match &arguments.word {
        Some(Word::Status(arguments)) => status::execute(arguments),
        Some(Word::Accept(arguments)) => accept::execute(arguments, context),
        None => mill::execute(&arguments.request, context),
    }
}
