//! The command line as a whole, and the commands, one file each: its `Arguments`, with the help texts, and a function `execute` that
//! returns an [`Exit`] or an error. The code here parses the words of a call, picks the command, and turns its outcome into an exit.
//! `lib.rs` and `answer` call it.

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
pub(crate) mod listing;
pub(crate) mod man;
pub(crate) mod night;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod sources;
pub(crate) mod status;
pub(crate) mod tokens;
pub(crate) mod work;

use std::ffi::OsString;

use anstream::ColorChoice;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use self::listing::NamedListing;
use crate::args::{ColorWhen, Global, Listing};
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::logs;
use crate::progress::Meter;
use crate::signals::Signals;
use crate::terminal;

/// Turns chat exports and database dumps into datasets for fine-tuning, evaluation and token-cost reports.
#[derive(Debug, Parser)]
#[command(
    name = "chatmill",
    version,
    long_version = include_str!(concat!(env!("OUT_DIR"), "/version.txt")),
    after_help = include_str!("../help/chatmill.txt").trim_end()
)]
pub(crate) struct Cli {
    /// The options of all commands.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands by job, as the help of the program lists them.
const JOBS: [(&str, &str); 5] = [
    ("Prepare", "init run convert export render"),
    ("Validate", "inspect show check certify diff report"),
    ("Price", "tokens"),
    ("Run at scale", "plan work status finish night"),
    (
        "Look up",
        "sources dialects encodings rules explain example schema completions man",
    ),
];

impl Cli {
    /// Parses the words of a command line, of which the first is the name of the program; as in clap, help and version are errors.
    pub(crate) fn parse_words(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let template = help_by_job(&command);
        command = command.help_template(template);
        let mut matches = command.try_get_matches_from_mut(words)?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }
}

/// The template of the program's help, with a heading for each job; clap itself has one heading for all commands.
fn help_by_job(program: &clap::Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (job, names) in JOBS {
        text += &format!("{job}:\n");
        for command in names.split(' ').filter_map(|name| program.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            text += &format!("  {:<11}  {about}\n", command.get_name());
        }
        text.push('\n');
    }
    text + "Options:\n{options}{after-help}"
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a pipeline and publishes a dataset; resumes an unfinished run
    Run(run::Arguments),
    /// Divides the inputs of a run into shards for several machines
    Plan(plan::Arguments),
    /// Processes shards of a planned run, on any machine
    Work(work::Arguments),
    /// Reports the progress of a planned run and the next command
    Status(status::Arguments),
    /// Publishes the dataset of a planned run when all shards are done
    Finish(finish::Arguments),
    /// Converts archives into training files in one step
    Convert(convert::Arguments),
    /// Runs a pipeline from a scheduler and reports what changed
    Night(night::Arguments),
    /// Checks files like a linter and gives a verdict on each file
    Check(check::Arguments),
    /// Prints conversations in an output format
    Render(render::Arguments),
    /// Reports what conversations cost in each dialect and encoding
    Tokens(tokens::Arguments),
    /// Identifies files: format, evidence and contents
    Inspect(inspect::Arguments),
    /// Shows one conversation, with its findings at their messages
    Show(show::Arguments),
    /// Prints a commented pipeline file for the formats it detects
    Init(init::Arguments),
    /// Prints a small file of an input format, valid or broken
    Example(example::Arguments),
    /// Writes the reports of a finished dataset again
    Report(report::Arguments),
    /// Writes training and evaluation files from a finished dataset
    Export(export::Arguments),
    /// Compares two finished datasets and fails on conditions
    Diff(diff::Arguments),
    /// Reads a finished dataset back and verifies its manifest
    Certify(certify::Arguments),
    /// Lists the input formats
    #[command(after_help = sources::EXAMPLES)]
    Sources(NamedListing),
    /// Lists the output formats, called dialects
    #[command(after_help = dialects::EXAMPLES)]
    Dialects(NamedListing),
    /// Lists the finding codes
    #[command(after_help = rules::EXAMPLES)]
    Rules(Listing),
    /// Lists the token encodings
    Encodings(encodings::Arguments),
    /// Explains a code: finding, rule, loss or export reason
    Explain(explain::Arguments),
    /// Prints a schema: of the pipeline file, or of a table
    Schema(schema::Arguments),
    /// Prints a shell's completion file
    Completions(completions::Arguments),
    /// Prints a manual page
    Man(man::Arguments),
}

/// Runs the command of the arguments.
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
    // The choice is global: all code that writes colours asks for it, after the environment.
    match cli.global.color {
        ColorWhen::Auto => {}
        ColorWhen::Always => ColorChoice::Always.write_global(),
        ColorWhen::Never => ColorChoice::Never.write_global(),
    }
    if cli.global.wide {
        terminal::show_all_columns();
    }
    let prints_facts = matches!(
        cli.command,
        Command::Example(_)
            | Command::Sources(_)
            | Command::Dialects(_)
            | Command::Rules(_)
            | Command::Encodings(_)
            | Command::Explain(_)
            | Command::Schema(_)
            | Command::Completions(_)
            | Command::Man(_)
    );
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
            let error = CommandError::from(error).context("cannot watch signals");
            return exit_of(Err(error), Exit::Interrupted);
        }
    };
    if !prints_facts {
        meter.begin();
    }
    let context = Context {
        global: &cli.global,
        meter: &meter,
        signals: &signals,
    };
    let outcome = dispatch(cli.command, &context);
    meter.clear();
    let exit = exit_of(outcome, signals.exit());
    if !prints_facts {
        meter.end(exit);
    }
    exit
}

/// Turns an outcome into an exit, and prints the message of an error. `stopped` is the exit for the last signal.
fn exit_of(outcome: Outcome<Exit>, stopped: Exit) -> Exit {
    outcome.unwrap_or_else(|error| {
        if error.is_broken_pipe {
            return Exit::Complete;
        }
        error.report();
        Exit::of(&error, stopped)
    })
}

pub(crate) fn dispatch(command: Command, context: &Context<'_>) -> Outcome<Exit> {
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
        Command::Show(arguments) => show::execute(&arguments, context),
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
    fn clap_accepts_the_command_line() {
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
                let words = call.split_whitespace().chain(["a.json"]).map(OsString::from);
                let parsed = Cli::parse_words(words).map(drop);
                assert!(parsed.is_ok(), "{path}: {call}: {}", parsed.unwrap_err());
                understood += 1;
            }
        }
        assert!(understood > 7, "only {understood} calls");
    }

    #[test]
    fn every_command_has_one_job_and_ends_its_help_with_two_examples() {
        let mut names: Vec<&str> = JOBS.iter().flat_map(|(_, names)| names.split(' ')).collect();
        let whole = Cli::command();
        for command in whole.get_subcommands() {
            let shown = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let name = command.get_name();
            let (_, examples) = shown.split_once("Examples:\n").unwrap_or_default();
            let examples: Vec<&str> = examples.lines().collect();
            let start = format!("  chatmill {name}");
            let is_example = |line: &&str| line.starts_with(&start) && line.len() <= 100;
            assert!(
                examples.len() == 2 && examples.iter().all(is_example),
                "{name}: {examples:?}"
            );
            let listed = names.iter().position(|listed| *listed == name);
            names.remove(listed.unwrap_or_else(|| panic!("{name} has no job")));
        }
        assert_eq!(names, [""; 0], "have two jobs, or are no commands");
    }
}
