//! `chatmill man`: manual pages in roff, of the program or of one command.

use chatmill_diag::suggest::nearest;
use clap::{Args, Command};
use clap_mangen::Man;

use crate::exit::{CommandError, Exit, Outcome};
use crate::output;

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chatmill man > chatmill.1\n  chatmill man run > chatmill-run.1")]
pub(crate) struct Arguments {
    /// Command; without it, the page of the whole program
    command: Option<String>,
}

/// Prints the page.
pub(crate) fn execute(arguments: &Arguments, mut program: Command) -> Outcome<Exit> {
    program.build();
    let command = match &arguments.command {
        None => program,
        Some(name) => {
            let known = program.get_subcommands().map(Command::get_name);
            let unknown = CommandError::unknown("command", name, nearest(name, known));
            program.find_subcommand(name).cloned().ok_or(unknown)?
        }
    };
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    output::print_file(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Complete)
}
