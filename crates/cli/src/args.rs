//! The command line as a whole: the commands and what all of them understand. A command's own arguments stand in its file.

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::commands::{
    certify, check, completions, dialects, diff, encodings, example, explain, export, init, inspect, man,
    render, report, rules, run, schema, sources, tokens,
};

/// Mills chat archives into training, evaluation and cost data.
#[derive(Debug, Parser)]
#[command(
    name = "chatmill",
    version,
    after_help = "Examples:\n  \
                  chatmill inspect archive.zip\n  \
                  chatmill check exports/ --fail-on warning\n  \
                  chatmill run pipelines/demo.toml\n\n\
                  Exit codes: 0 complete, 1 complete with findings or a failed check, 2 the request is wrong,\n\
                  3 not complete (repeating may help), 130 or 143 interrupted"
)]
pub struct Cli {
    /// What all commands understand.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What all commands understand.
#[derive(Debug, Args)]
pub struct Global {
    /// How progress is shown on stderr
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "STYLE",
        help_heading = "Common options",
        display_order = 100
    )]
    pub progress: ProgressStyle,
    /// Logs more; twice for details
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet", help_heading = "Common options", display_order = 100)]
    pub verbose: u8,
    /// Shows no progress and no notes, logs errors only
    #[arg(
        short,
        long,
        global = true,
        help_heading = "Common options",
        display_order = 100
    )]
    pub quiet: bool,
    /// Form of log lines on stderr
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "text",
        value_name = "FORMAT",
        help_heading = "Common options",
        display_order = 100
    )]
    pub log_format: LogFormat,
    /// Prints no chat text, name or address: places, codes, ids and counts only
    #[arg(long, global = true, help_heading = "Common options", display_order = 100)]
    pub no_content: bool,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressStyle {
    /// A bar on a terminal, else plain lines
    Auto,
    /// A bar
    Bar,
    /// A line every few seconds
    Plain,
    /// One JSON object a line
    Json,
    /// Nothing
    None,
}

/// Form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

/// Form of a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// The argument of every listing.
#[derive(Debug, Args)]
pub struct Listing {
    /// Form of the listing
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub format: ListFormat,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs a pipeline to a dataset; goes on with an unfinished run of the same plan by itself
    Run(run::Arguments),
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
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
