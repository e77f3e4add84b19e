//! The command line as a whole, and the commands: one file each. Here one is chosen, and its outcome becomes an exit.

pub(crate) mod certify;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod dialects;
pub(crate) mod diff;
pub(crate) mod encodings;
pub(crate) mod example;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod finish;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod night;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod sources;
pub(crate) mod status;
pub(crate) mod tokens;
pub(crate) mod work;

use clap::{CommandFactory, Parser, Subcommand};

use crate::args::{Global, Listing};
use crate::context::Context;
use crate::exit::{self, Exit};
use crate::logs;
use crate::progress::Meter;
use crate::signals::Signals;
use crate::terminal;

/// Mills chat archives into training, evaluation and cost data.
#[derive(Debug, Parser)]
#[command(
    name = "chatmill",
    version,
    long_version = include_str!(concat!(env!("OUT_DIR"), "/version.txt")),
    after_help = include_str!("../help/chatmill.txt").trim_end()
)]
pub(crate) struct Cli {
    /// What all commands understand.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a pipeline to a dataset; goes on with an unfinished run of the same plan by itself
    Run(run::Arguments),
    /// Plans a run that several machines share: divides its inputs into lots
    Plan(plan::Arguments),
    /// Works off a share of a plan's lots, on any machine
    Work(work::Arguments),
    /// Says how far the lots of a plan are, and what to do next
    Status(status::Arguments),
    /// Publishes the dataset of a plan whose lots are done
    Finish(finish::Arguments),
    /// Makes training files of archives in one step: detects, mills, exports
    Convert(convert::Arguments),
    /// Mills a night into a store: compares it with the last good one, keeps some, and says what changed
    Night(night::Arguments),
    /// Checks files like a linter: located findings and a verdict per file
    Check(check::Arguments),
    /// Prints conversations in a dialect
    Render(render::Arguments),
    /// Says what conversations cost in each dialect and encoding
    Tokens(tokens::Arguments),
    /// Says what a file is: its source, the evidence, and what is in it
    Inspect(inspect::Arguments),
    /// Prints a commented pipeline file made from what was detected
    Init(init::Arguments),
    /// Prints a small file of a source, valid or broken in one way
    Example(example::Arguments),
    /// Writes the reports of a finished dataset again
    Report(report::Arguments),
    /// Writes training and evaluation files from a finished dataset
    Export(export::Arguments),
    /// Compares two finished datasets; fails on conditions
    Diff(diff::Arguments),
    /// Reads a finished dataset back and proves that it is what its manifest says
    Certify(certify::Arguments),
    /// Lists the input formats
    #[command(after_help = sources::EXAMPLES)]
    Sources(Listing),
    /// Lists the output dialects
    #[command(after_help = dialects::EXAMPLES)]
    Dialects(Listing),
    /// Lists the finding codes
    #[command(after_help = rules::EXAMPLES)]
    Rules(Listing),
    /// Lists the token encodings
    Encodings(encodings::Arguments),
    /// Explains a finding code
    Explain(explain::Arguments),
    /// Prints a schema: of the pipeline file, or of a table
    Schema(schema::Arguments),
    /// Prints a shell's completion file
    Completions(completions::Arguments),
    /// Prints a manual page
    Man(man::Arguments),
}

/// Runs the command that was asked for.
pub(crate) fn execute(cli: Cli) -> Exit {
    let is_run = matches!(
        cli.command,
        Command::Run(_)
            | Command::Plan(_)
            | Command::Work(_)
            | Command::Finish(_)
            | Command::Convert(_)
            | Command::Night(_)
    );
    if cli.global.wide {
        terminal::show_all_columns();
    }
    let meter = Meter::new(&cli.global, !is_run);
    logs::start(&cli.global, meter.bar());
    let watched = if is_run {
        Signals::stop_at_first()
    } else {
        Signals::end_at_first()
    };
    let signals = match watched {
        Ok(signals) => signals,
        Err(error) => {
            let error = anyhow::Error::from(error).context("cannot watch signals");
            return conclude(Err(error), Exit::Interrupted);
        }
    };
    let context = Context {
        global: &cli.global,
        meter: &meter,
        signals: &signals,
    };
    let outcome = dispatch(cli.command, &context);
    meter.clear();
    let exit = conclude(outcome, signals.exit());
    if is_run {
        meter.end(exit);
    }
    exit
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

pub(crate) fn dispatch(command: Command, context: &Context<'_>) -> anyhow::Result<Exit> {
    match command {
        Command::Run(arguments) => run::execute(&arguments, context),
        Command::Plan(arguments) => plan::execute(&arguments, context),
        Command::Work(arguments) => work::execute(&arguments, context),
        Command::Status(arguments) => status::execute(&arguments, context),
        Command::Finish(arguments) => finish::execute(&arguments, context),
        Command::Convert(arguments) => convert::execute(&arguments, context),
        Command::Night(arguments) => night::execute(&arguments, context),
        Command::Check(arguments) => check::execute(&arguments, context),
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
        Command::Completions(arguments) => completions::execute(&arguments, Cli::command()),
        Command::Man(arguments) => man::execute(&arguments, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_finds_no_fault_in_the_command_line() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_the_page_of_check_and_the_hook_call_is_understood() {
        let mut understood = 0;
        let page = include_str!("../../../docs/check.md");
        let hook = include_str!("../../../.pre-commit-hooks.yaml");
        for (path, text) in [("docs/check.md", page), (".pre-commit-hooks.yaml", hook)] {
            for line in text.lines() {
                let bare = line
                    .trim_start_matches([' ', '-', '$'])
                    .trim_start_matches("run: ")
                    .trim_start_matches("entry: ");
                let call = bare.split(" #").next().unwrap_or_default().trim_end();
                if !call.starts_with("chatmill check ") {
                    continue;
                }
                let words = call.split_whitespace().chain(["a.json"]);
                let said = Cli::try_parse_from(words).map(drop);
                assert!(said.is_ok(), "{path}: {call}: {}", said.unwrap_err());
                understood += 1;
            }
        }
        assert!(understood > 7, "only {understood} calls");
    }

    #[test]
    fn every_command_ends_its_help_with_examples() {
        for command in Cli::command().get_subcommands() {
            let shown = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let examples = shown
                .matches(&format!("  chatmill {}", command.get_name()))
                .count();
            assert!(
                (1..=3).contains(&examples),
                "{}: {examples} examples",
                command.get_name()
            );
        }
    }
}
