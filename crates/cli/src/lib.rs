//! The `chatmill` command: parses arguments, calls a library crate, prints the result and returns an exit code.
//!
//! Each command is a file in `commands`, which uses `args` for shared options, `output` and `table` for results on stdout, `stderr` and
//! `progress` for messages, and `exit` for errors and exit codes. Decisions that a library crate can make are not made here. The program
//! calls [`main`], the Python package [`program`] and [`answer`](answer()).

#![expect(
    clippy::format_push_string,
    reason = "a command builds a few lines of text; an allocation does not matter"
)]

mod answer;
mod args;
mod commands;
mod context;
mod csv;
mod exit;
mod figures;
mod logs;
mod mask;
mod other_codes;
mod output;
mod panics;
mod prices;
mod progress;
mod read_problems;
mod selection;
mod signals;
mod stderr;
mod table;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

pub use crate::answer::{Answer, answer};
use crate::commands::Cli;
pub use crate::exit::{CommandError, Exit};
pub use crate::panics::install as install_panic_hook;

/// The stack size of the thread that does the work, in bytes: the same on all systems, however small the stack of the first thread is.
pub const STACK_BYTES: usize = 16 << 20;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    program(std::env::args_os().collect()).into()
}

/// Runs the program with these arguments, of which the first is its name; handles signals and panics.
pub fn program(words: Vec<OsString>) -> Exit {
    panics::install();
    let work = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK_BYTES);
    let main = || {
        let parsed = Cli::parse_words(words);
        parsed.map_or_else(|error| exit::of_arguments(&error), commands::execute)
    };
    // A panic, also of a worker thread, unwinds up to here; the hook has already reported it.
    match work.spawn(main) {
        Ok(work) => work.join().unwrap_or(Exit::Incomplete),
        Err(error) => {
            CommandError::from(error)
                .context("cannot start a thread")
                .report();
            Exit::Incomplete
        }
    }
}

#[cfg(test)]
mod tests;
