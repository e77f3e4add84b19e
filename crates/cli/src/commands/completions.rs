//! `chatmill completions`: what a shell needs to complete the command line.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::{Exit, Outcome};
use crate::output;

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chatmill completions bash > chatmill.bash\n  chatmill completions zsh > _chatmill"
)]
pub(crate) struct Arguments {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completion file.
pub(crate) fn execute(arguments: &Arguments, mut program: Command) -> Outcome<Exit> {
    // Into memory first: the generator panics when its writer fails.
    let mut file = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "chatmill", &mut file);
    output::print_file(&String::from_utf8_lossy(&file))?;
    Ok(Exit::Complete)
}
