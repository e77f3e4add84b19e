//! The commands: one file each. Here one is chosen, and its outcome becomes an exit.

pub mod certify;
pub mod check;
pub mod completions;
pub mod dialects;
pub mod diff;
pub mod encodings;
pub mod example;
pub mod explain;
pub mod export;
pub mod init;
pub mod inspect;
pub mod man;
pub mod render;
pub mod report;
pub mod rules;
pub mod run;
pub mod schema;
pub mod sources;
pub mod tokens;

use crate::args::{Cli, Command, Global};
use crate::exit::{self, Exit};
use crate::logs;
use crate::progress::Meter;
use crate::signals::Signals;

/// What a command gets beside its own arguments.
pub struct Context<'c> {
    /// What all commands understand.
    pub global: &'c Global,
    /// Where progress is shown.
    pub meter: &'c Meter,
    /// What the process was told meanwhile.
    pub signals: &'c Signals,
}

/// Runs the command that was asked for.
pub fn execute(cli: Cli) -> Exit {
    let is_run = matches!(cli.command, Command::Run(_));
    let meter = Meter::new(&cli.global, !is_run);
    logs::start(&cli.global, meter.bar());
    let watched = if is_run {
        Signals::stop_at_first()
    } else {
        Signals::end_at_first()
    };
    match watched {
        Ok(signals) => {
            let context = Context {
                global: &cli.global,
                meter: &meter,
                signals: &signals,
            };
            let outcome = dispatch(cli.command, &context);
            meter.finish();
            conclude(outcome, signals.exit())
        }
        Err(error) => conclude(
            Err(anyhow::Error::from(error).context("cannot watch signals")),
            Exit::Interrupted,
        ),
    }
}

/// Turns an outcome into an exit, with a message where it is an error. `stopped` is what the last signal asks for.
fn conclude(outcome: anyhow::Result<Exit>, stopped: Exit) -> Exit {
    outcome.unwrap_or_else(|error| {
        if exit::is_broken_pipe(&error) {
            return Exit::Complete;
        }
        exit::report(&error);
        Exit::of(&error, stopped)
    })
}

fn dispatch(command: Command, context: &Context<'_>) -> anyhow::Result<Exit> {
    match command {
        Command::Run(arguments) => run::execute(arguments, context),
        Command::Check(arguments) => check::execute(arguments, context),
        Command::Render(arguments) => render::execute(arguments, context),
        Command::Inspect(arguments) => inspect::execute(&arguments, context),
        Command::Tokens(arguments) => tokens::execute(&arguments, context),
        Command::Export(arguments) => export::execute(&arguments, context),
        Command::Diff(arguments) => diff::execute(&arguments, context),
        Command::Report(arguments) => report::execute(&arguments, context),
        Command::Certify(arguments) => certify::execute(&arguments, context),
        Command::Sources(listing) => sources::execute(&listing),
        Command::Dialects(listing) => dialects::execute(&listing),
        Command::Rules(listing) => rules::execute(&listing),
        Command::Encodings(arguments) => encodings::execute(&arguments),
        Command::Explain(arguments) => explain::execute(&arguments),
        Command::Init(arguments) => init::execute(&arguments, context),
        Command::Example(arguments) => example::execute(&arguments, context),
        Command::Schema(arguments) => schema::execute(&arguments),
        Command::Completions(arguments) => completions::execute(&arguments),
        Command::Man(arguments) => man::execute(&arguments),
    }
}
