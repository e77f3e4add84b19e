//! `chatmill status`: prints the progress of a run that `chatmill plan` planned, and the next command.

use std::path::PathBuf;

use chatmill_engine::shards::{self, Status, ranges};
use clap::Args;
use serde_json::json;

use crate::args::ListFormat;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::figures::counted;
use crate::output::{self, harmless};

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/status.txt").trim_end())]
pub(crate) struct Arguments {
    /// Folder of the dataset, as given to `chatmill plan`
    #[arg(value_name = "DIR")]
    out: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: ListFormat,
}

/// Prints the stage of the work, and the shards that are done, missing and failed.
pub(crate) fn execute(arguments: &Arguments, _context: &Context<'_>) -> Outcome<Exit> {
    let status = shards::status(&arguments.out)?;
    let out = arguments.out.display().to_string();
    let next = next(&status, &out);
    match arguments.format {
        ListFormat::Json => output::print_json(&json!({
            "stage": status.stage,
            "shards": status.shards,
            // The older name, for one version.
            "lots": status.shards,
            "done": status.done,
            "missing": status.missing,
            "failed": status.failed,
            "next": next,
        }))?,
        ListFormat::Text => {
            let mut text = format!(
                "{}: {} done, {} missing, {} failed\nstage: {}\n",
                counted(status.shards as u64, "shard"),
                status.done.len(),
                status.missing.len(),
                status.failed.len(),
                status.stage.as_str()
            );
            for (shard, reason) in &status.failed {
                text += &format!("shard {shard} failed: {}\n", harmless(reason));
            }
            text += &format!("next: {}\n", harmless(&next));
            output::print(&text)?;
        }
    }
    Ok(Exit::Complete)
}

/// The next command.
fn next(status: &Status, out: &str) -> String {
    let mut left: Vec<u32> = status
        .missing
        .iter()
        .chain(status.failed.keys())
        .copied()
        .collect();
    left.sort_unstable();
    if left.is_empty() {
        format!("chatmill finish {out}")
    } else {
        format!("chatmill work {out} --shards {}", ranges(&left))
    }
}
