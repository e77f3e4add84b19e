//! The `chatmill` command: arguments in, a library call, words and an exit code out.
//!
//! One file per command stands in `commands`. What a library could know is not decided here. A program calls [`main`]; what runs
//! in the process of somebody else, [`answer`](answer()).

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
mod output;
mod panics;
mod prices;
mod progress;
mod selection;
mod signals;
mod stderr;
mod table;
mod terminal;
mod told;
mod troubles;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

pub use crate::answer::{Answer, Fault, answer};
use crate::commands::Cli;
pub use crate::exit::Exit;
pub use crate::panics::install as install_panic_hook;

/// Bytes of the stack that the work is done on: as much as everywhere, however little the shell leaves to the first thread.
pub const STACK_BYTES: usize = 16 << 20;

/// The program: does what the arguments of the process ask for.
pub fn main() -> ExitCode {
    program(std::env::args_os().collect()).into()
}

/// The program with these words, the first of which is its own name. It takes signals and panics over.
pub fn program(words: Vec<OsString>) -> Exit {
    panics::install();
    let work = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK_BYTES);
    let main = || {
        let parsed = Cli::try_parse_from(words);
        parsed.map_or_else(|said| exit::of_arguments(&said), commands::execute)
    };
    // A panic, of a worker too, unwinds up to here; the hook has said what there is to say.
    match work.spawn(main) {
        Ok(work) => work.join().unwrap_or(Exit::Incomplete),
        Err(error) => {
            exit::report(&anyhow::Error::from(error).context("cannot start a thread"));
            Exit::Incomplete
        }
    }
}
