//! `chatmill plan`: divides a run into shards that any machine can process, and writes the plan next to the destination.

use std::path::PathBuf;

use chatmill_engine::shards::{self, Request};
use clap::Args;
use serde_json::json;

use crate::args::{ListFormat, PipelineArguments};
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::figures::{bytes, counted};
use crate::output::{self, shown};

/// Arguments of `plan`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/plan.txt").trim_end())]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: PipelineArguments,
    /// Lets `finish` replace a finished dataset of another plan
    #[arg(long)]
    replace: bool,
    /// Counts every N-th rendering of a slice again with tiktoken-rs, on every machine; a difference ends the work
    #[arg(long, value_name = "N", default_value_t = 0)]
    verify_every: u64,
    /// Output format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: ListFormat,
}

/// Plans, and prints the number of shards and the next commands.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let common = &arguments.common;
    let overrides = common.overrides(context.global);
    let plan = common.plan(&overrides)?;
    // Other machines have other current folders, so relative paths become absolute.
    let inputs = common
        .inputs
        .iter()
        .map(|input| Ok(whole(input.as_ref())?.to_string_lossy().into_owned()));
    let request = Request {
        pipeline: whole(&common.pipeline)?,
        overrides,
        inputs: inputs.collect::<std::io::Result<_>>()?,
        replace: arguments.replace,
        verify_every: arguments.verify_every,
    };
    let planned = shards::plan(plan, request, context.meter, context.signals.stop())?;
    context.meter.finish();
    let out = shown(&planned.out);
    match arguments.format {
        ListFormat::Json => output::print_json(&json!({
            "out": planned.out.display().to_string(),
            "shards": planned.shards,
            // The older name, for one version.
            "lots": planned.shards,
            "bytes": planned.bytes,
            "finished": planned.is_finished,
        }))?,
        ListFormat::Text if planned.is_finished => {
            output::print(&format!(
                "{out} already holds the dataset of this plan; nothing is left to do\n"
            ))?;
        }
        ListFormat::Text => output::print(&format!(
            "{} in {}\nnext: chatmill work {out} --part 1/N, to N/N; then chatmill finish {out}\n",
            bytes(planned.bytes),
            counted(planned.shards as u64, "shard"),
        ))?,
    }
    Ok(Exit::Complete)
}

fn whole(path: &std::path::Path) -> std::io::Result<PathBuf> {
    std::path::absolute(path)
}
