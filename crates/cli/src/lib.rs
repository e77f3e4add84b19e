//! The `chatmill` command: arguments in, a library call, output and an exit code out.
//!
//! Each command has a file in `commands`. Decisions that a library can make are not made here. A program calls [`main`]; another
//! process calls [`answer`](answer()).

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

/// Bytes of the stack that the work is done on: as much as everywhere, however little the shell leaves to the first thread.
pub const STACK_BYTES: usize = 16 << 20;

/// The program, with the arguments of the process.
pub fn main() -> ExitCode {
    program(std::env::args_os().collect()).into()
}

/// The program with these arguments, the first of which is its own name; it handles signals and panics.
pub fn program(words: Vec<OsString>) -> Exit {
    panics::install();
    let work = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK_BYTES);
    let main = || {
        let parsed = Cli::parse_words(words);
        parsed.map_or_else(|error| exit::of_arguments(&error), commands::execute)
    };
    // A panic, of a worker too, unwinds up to here; the hook has reported it.
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
