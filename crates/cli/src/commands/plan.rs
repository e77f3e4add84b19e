//! `chatmill plan`: divides a run into lots that anybody can work off, and leaves the plan beside the destination.

use std::path::PathBuf;

use chatmill_engine::shards::{self, Request};
use clap::Args;
use serde_json::json;

use crate::args::{ListFormat, Milling};
use crate::context::Context;
use crate::exit::Exit;
use crate::figures::{bytes, counted};
use crate::output::{self, shown};

/// Arguments of `plan`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/plan.txt").trim_end())]
pub(crate) struct Arguments {
    #[command(flatten)]
    milling: Milling,
    /// Lets `finish` replace a finished dataset of another plan
    #[arg(long)]
    replace: bool,
    /// Lets tiktoken-rs count every N-th rendering of a slice again, whoever works; a difference ends the share
    #[arg(long, value_name = "N", default_value_t = 0)]
    verify_every: u64,
    /// Form of the answer
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: ListFormat,
}

/// Plans, and says how many lots there are and what to do next.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> anyhow::Result<Exit> {
    let milling = &arguments.milling;
    let overrides = milling.overrides(context.global);
    let plan = milling.plan(&overrides)?;
    // Whoever works stands elsewhere.
    let inputs = milling
        .inputs
        .iter()
        .map(|input| Ok(whole(input.as_ref())?.to_string_lossy().into_owned()));
    let request = Request {
        pipeline: whole(&milling.pipeline)?,
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
            "lots": planned.lots,
            "bytes": planned.bytes,
            "finished": planned.is_finished,
        }))?,
        ListFormat::Text if planned.is_finished => {
            output::print(&format!(
                "{out} is the dataset of this plan already; nothing is left to do\n"
            ))?;
        }
        ListFormat::Text => output::print(&format!(
            "{} in {}\nnext: chatmill work {out} --shard 1/N, to N/N; then chatmill finish {out}\n",
            bytes(planned.bytes),
            counted(planned.lots as u64, "lot"),
        ))?,
    }
    Ok(Exit::Complete)
}

fn whole(path: &std::path::Path) -> std::io::Result<PathBuf> {
    std::path::absolute(path)
}
