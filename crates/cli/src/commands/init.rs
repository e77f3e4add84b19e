//! `chatmill init`: a commented pipeline file over some paths, made from what was detected there.
//!
//! Every key stands in the file, the rarer ones as comments with their defaults, so that a newcomer changes words instead
//! of looking them up. It goes to stdout; nothing is written or overwritten.

mod seen;
mod toml;

use chatmill_diag::Limits;
use chatmill_engine::inspect::inspect;
use clap::Args;

use self::seen::Seen;
use crate::context::Context;
use crate::exit::{self, Exit, refuse};
use crate::output;

/// Arguments of `init`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/init.txt").trim_end())]
pub(crate) struct Arguments {
    /// Files, folders, globs or archives
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
}

/// Looks at the paths and prints a pipeline file that reads them.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> anyhow::Result<Exit> {
    let mut inputs = Vec::new();
    let mut failures = Vec::new();
    for path in &arguments.paths {
        if path == "-" {
            return refuse(
                "a run reads files, and stdin is none",
                "write the stream to a file first",
            );
        }
        let inspection = inspect(
            std::slice::from_ref(path),
            "auto",
            &Limits::default(),
            context.meter,
            context.signals.stop(),
        )?;
        let mut seen = Seen::new(&inspection.entries);
        if context.global.no_content {
            // A map names fields and roles as somebody made them up.
            seen.proposal = None;
        }
        inputs.push((path.as_str(), seen));
        failures.extend(inspection.failures);
    }
    context.meter.finish();
    output::print_file(&toml::pipeline(&inputs)?)?;
    Ok(exit::tell(&failures))
}
