//! The `chatmill` command: arguments in, a library call, words and an exit code out.
//!
//! One file per command stands in `commands`. What a library could know is not decided here.

#![expect(
    clippy::format_push_string,
    reason = "a command builds a few lines of text; an allocation does not matter"
)]

mod args;
mod commands;
mod csv;
mod exit;
mod figures;
mod logs;
mod mask;
mod output;
mod panics;
mod prices;
mod progress;
mod selection;
mod signals;
mod stderr;
mod terminal;
mod troubles;

use std::process::ExitCode;

use clap::Parser;

use crate::commands::Cli;
use crate::exit::Exit;

/// Bytes of the stack that the work is done on: as much as everywhere, however little the shell leaves to the first thread.
const STACK_BYTES: usize = 16 << 20;

fn main() -> ExitCode {
    panics::install();
    let work = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK_BYTES);
    let main = || Cli::try_parse().map_or_else(|said| exit::of_arguments(&said), commands::execute);
    // A panic, of a worker too, unwinds up to here; the hook has said what there is to say.
    match work.spawn(main) {
        Ok(work) => work.join().unwrap_or(Exit::Incomplete),
        Err(error) => {
            exit::report(&anyhow::Error::from(error).context("cannot start a thread"));
            Exit::Incomplete
        }
    }
    .into()
}
