//! `chatmill man`: manual pages in roff, for the program or for one command.

use chatmill_diag::suggest::nearest;
use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

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
    let mut command = command;
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let has_commands = command.has_subcommands();
    let has_examples = command.get_after_help().is_some();
    let has_version = command.get_version().is_some();
    let man = Man::new(command);
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    // The generator's own synopsis omits the values of required options.
    let synopsis: Vec<_> = usage.lines().map(|line| roman(line.trim())).collect();
    Roff::new()
        .control("SH", ["SYNOPSIS"])
        .text(synopsis)
        .to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    if has_examples {
        man.render_extra_section(&mut page)?;
    }
    if has_version {
        man.render_version_section(&mut page)?;
    }
    output::print_file(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Complete)
}
