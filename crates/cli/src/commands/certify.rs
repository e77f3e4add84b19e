//! `chatmill certify`: reads a finished dataset back and compares it with its manifest.

use std::path::PathBuf;

use chatmill_dataset::{MANIFEST, certify, has_traces_of_a_run};
use clap::Args;

use crate::context::Context;
use crate::exit::{Exit, Outcome, refuse};
use crate::figures::{bytes, counted};
use crate::output::{self, harmless, shown};

/// Arguments of `certify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chatmill certify out/demo\n  chatmill certify out/demo && cp -r out/demo published"
)]
pub(crate) struct Arguments {
    /// Folder of the dataset
    #[arg(value_name = "RUN")]
    run: PathBuf,
}

/// Certifies a dataset, and prints a line for each problem.
pub(crate) fn execute(arguments: &Arguments, _context: &Context<'_>) -> Outcome<Exit> {
    let run = &arguments.run;
    if !has_traces_of_a_run(run)? {
        let message = format!(
            "{} is not a dataset: it has neither {MANIFEST} nor tables",
            run.display()
        );
        return refuse(
            message,
            "give the folder that `chatmill run` named as its dataset",
        );
    }
    let certificate = certify(run)?;
    let checked = format!(
        "{}, {}, {}",
        counted(certificate.files, "file"),
        counted(certificate.rows, "row"),
        bytes(certificate.bytes)
    );
    if certificate.holds() {
        output::print(&format!(
            "{}: certified: {checked}; hashes, rows, schemas and record counts agree",
            shown(run)
        ))?;
        return Ok(Exit::Complete);
    }
    let mut text = format!(
        "{}: NOT certified: {}; {checked} match the manifest\n",
        shown(run),
        counted(certificate.problems.len() as u64, "error")
    );
    for problem in &certificate.problems {
        text.push_str("  ");
        text.push_str(&harmless(problem));
        text.push('\n');
    }
    output::print(&text)?;
    Ok(Exit::Failed)
}
