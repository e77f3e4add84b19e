//! `chatmill init`: prints a commented pipeline file for some paths, based on what was detected there (`seen`). `toml` fills in its
//! template, and `format` that of a format file, for `--as-format`.
//!
//! The file contains every key, rare ones as comments with their defaults, so that newcomers edit words and need not look them up. It is
//! printed on stdout; no file is written.

mod format;
mod seen;
mod toml;

use chatmill_diag::Limits;
use chatmill_engine::InputReading;
use chatmill_engine::inspect::inspect;
use clap::Args;

use self::seen::Seen;
use crate::context::Context;
use crate::exit::{self, CommandError, Exit, Outcome, refuse};
use crate::output;

/// Arguments of `init`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/init.txt").trim_end())]
pub(crate) struct Arguments {
    /// Files, folders, globs or archives
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// Proposes a format file for the one path instead: where its records hold messages, roles and times
    #[arg(long)]
    as_format: bool,
}

/// Inspects the paths and prints a pipeline file that reads them.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let mut inputs = Vec::new();
    let mut failures = Vec::new();
    for path in &arguments.paths {
        if path == "-" {
            return refuse(
                "a run reads files and cannot read stdin",
                "write the stream to a file first",
            );
        }
        let inspection = inspect(
            std::slice::from_ref(path),
            &InputReading::default(),
            &Limits::default(),
            context.meter,
            context.signals.stop(),
        )?;
        let mut seen = Seen::new(&inspection.entries);
        if context.global.no_content {
            // A map contains names of fields and roles, which may be content.
            seen.proposal = None;
        }
        inputs.push((path.as_str(), seen));
        failures.extend(inspection.failures);
    }
    context.meter.finish();
    if arguments.as_format {
        return as_format(&inputs);
    }
    if !inputs.iter().any(|(_, seen)| seen.fits()) && failures.is_empty() {
        let seen = inputs.iter().flat_map(|(_, seen)| seen.misfits());
        let seen: Vec<String> = seen.collect();
        let message = format!("nothing fits as a chat: {}", seen.join("; "));
        let step = "docs/tables.md explains how to write a [table_map] or a [field_map] by hand";
        CommandError::request(message).then(step).report();
        return Ok(Exit::Failed);
    }
    output::print_file(&toml::pipeline(&inputs).map_err(CommandError::bug)?)?;
    Ok(exit::report_failures(&failures))
}

/// Prints a format file for a single path.
fn as_format(inputs: &[(&str, Seen)]) -> Outcome<Exit> {
    let [(path, seen)] = inputs else {
        return refuse(
            "a format file is proposed for one path",
            "name the path of one file",
        );
    };
    if let Some(source) = seen.sources().next() {
        return refuse(
            format!("{path} is read as {source}"),
            "no format file is needed; `chatmill inspect` shows the evidence",
        );
    }
    let proposed = match &seen.proposal {
        Some(proposal) => format::file(path, proposal).map_err(CommandError::bug)?,
        None => None,
    };
    let Some(text) = proposed else {
        return refuse(
            format!("nothing in {path} looks like messages of JSON records"),
            "`docs/formats.md` explains how to write a format file",
        );
    };
    output::print_file(&text)?;
    Ok(Exit::Complete)
}
