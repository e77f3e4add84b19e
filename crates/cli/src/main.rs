//! The `chatmill` command: arguments in, a library call, words and an exit code out.
//!
//! One file per command stands in `commands`. What a library could know is not decided here.

#![expect(
    clippy::format_push_string,
    reason = "a command builds a few lines of text; an allocation does not matter"
)]

mod args;
mod commands;
mod exit;
mod figures;
mod logs;
mod output;
mod panics;
mod progress;
mod selection;
mod signals;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::exit::Exit;

fn main() -> ExitCode {
    panics::install();
    let cli = Cli::parse();
    // A worker's panic unwinds up to here; the hook has said what there is to say.
    catch_unwind(AssertUnwindSafe(|| commands::execute(cli)))
        .unwrap_or(Exit::Incomplete)
        .into()
}
