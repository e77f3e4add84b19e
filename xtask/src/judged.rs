//! `cargo xtask judged CONVERSATIONS`: what the judges of `just oracles` look at.
//!
//! Three datasets below `target/oracles-input`, with every vendor dialect in every profile: `samples` from all of `data-samples`,
//! through the eyes of everybody in turn, `policies` from the same by other policies, and `generated` from so many conversations of
//! the testkit's generators. The pipelines stand beside the judges, in `.ci/oracles`.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use chatmill_engine::{Plan, RunOptions, Silent};
use chatmill_testkit::histories;

pub fn run(root: &Path, conversations: &str) -> Result<String> {
    let conversations: usize = conversations
        .parse()
        .context("CONVERSATIONS must be a whole number")?;
    let target = root.join("target/oracles-input");
    if target.exists() {
        fs::remove_dir_all(&target).context("the last datasets cannot be removed")?;
    }
    let input = target.join("conversations");
    fs::create_dir_all(&input)?;
    let chats = conversations / 2;
    fs::write(input.join("chats.jsonl"), histories::chat_lines(chats))?;
    fs::write(
        input.join("histories.jsonl"),
        histories::history_lines(conversations - chats),
    )?;
    let mut said = Vec::new();
    for name in ["samples", "policies", "generated"] {
        let pipeline = root.join(format!(".ci/oracles/{name}.toml"));
        let plan = Plan::load(&pipeline, &[], None)?;
        let summary = chatmill_engine::run(plan, RunOptions::default(), &Silent, &AtomicBool::new(false))?;
        let inputs = &summary.manifest.inputs;
        let read: u64 = inputs.iter().map(|input| input.conversations).sum();
        said.push(format!("{name}: {read} conversations of {} inputs", inputs.len()));
    }
    Ok(said.join("\n"))
}
