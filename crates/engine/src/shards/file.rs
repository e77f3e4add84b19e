//! `plan.json`: the data with which every machine processes a shard in the same way.
//!
//! The pipeline file and the inputs are read from their original folders. This file
//! contains the lengths and hashes of the inputs, and the fingerprint shows whether both
//! are unchanged. The file is not trusted: its shards must contain each input exactly once.

use std::ops::Range;
use std::path::{Path, PathBuf};

use chatmill_diag::{Finding, codes, cut};
use chatmill_intake::LineRange;
use chatmill_intake::discover::InputKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{RunError, unwritable};
use crate::options::RunOptions;
use crate::plan::{Plan, PlannedInput};
use crate::run::refuse_streams;
use crate::slice::shards::Shard;

/// The request from which a plan is loaded again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The pipeline file; relative paths start at its folder.
    pub pipeline: PathBuf,
    /// Overrides of keys in the file.
    pub overrides: Vec<String>,
    /// Inputs that replace those of the file.
    pub inputs: Vec<String>,
    /// Whether a finished dataset of a different plan may be replaced.
    pub replace: bool,
    /// The interval of renderings in a slice that tiktoken-rs counts again; 0 for none.
    pub verify_every: u64,
}

impl Request {
    /// Returns the options of a worker, completed with those of the whole run.
    pub(super) fn options<'r>(&self, of_worker: RunOptions<'r>) -> RunOptions<'r> {
        RunOptions {
            replace: self.replace,
            verify_every: self.verify_every,
            ..of_worker
        }
    }
}

/// `plan.json`.
#[derive(Serialize, Deserialize)]
pub(super) struct PlanFile {
    version: String,
    format: u32,
    pub(super) fingerprint: String,
    pub(super) request: Request,
    /// Whether conversations are compared before any is rendered.
    pub(super) compares: bool,
    inputs: Vec<InputFacts>,
    #[serde(rename = "lots")]
    pub(super) shards: Vec<PlannedShard>,
}

/// The properties of an input that hashing determines.
#[derive(Serialize, Deserialize)]
struct InputFacts {
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    /// The reason why it could not be hashed, for an unreadable input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct PlannedShard {
    inputs: Range<usize>,
    #[serde(rename = "stretch", default, skip_serializing_if = "Option::is_none")]
    range: Option<PlannedRange>,
}

#[derive(Serialize, Deserialize)]
struct PlannedRange {
    start: u64,
    end: u64,
    line: u64,
    record: u64,
    is_last: bool,
    hash: String,
}

impl PlanFile {
    pub(super) fn new(plan: &Plan, shards: &[Shard], request: Request) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            format: chatmill_dataset::FORMAT,
            fingerprint: plan.fingerprint(),
            request,
            compares: plan.pipeline.surveys().is_some(),
            inputs: plan.inputs.iter().map(facts).collect(),
            shards: shards.iter().map(planned_shard).collect(),
        }
    }

    /// Reads the plan that is stored for a destination.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, RunError> {
        /// The fields that every build writes.
        #[derive(Deserialize)]
        struct Build {
            version: String,
            format: u32,
        }
        let broken =
            |error: serde_json::Error| RunError::OtherPlan(format!("plan.json cannot be read ({error})"));
        let build: Build = serde_json::from_slice(bytes).map_err(broken)?;
        let (version, format) = (env!("CARGO_PKG_VERSION"), chatmill_dataset::FORMAT);
        if build.version != version || build.format != format {
            let reason = format!(
                "it was made by chatmill {} (format {}), and this is {version} (format {format})",
                build.version, build.format
            );
            return Err(RunError::OtherPlan(reason));
        }
        unsealed(bytes)
            .ok_or_else(|| RunError::OtherPlan("plan.json was changed after it was written".to_owned()))
    }

    /// Restores the plan and its shards.
    pub(super) fn restore(&self, out: &Path) -> Result<(Plan, Vec<Shard>), RunError> {
        let Request {
            pipeline,
            overrides,
            inputs,
            ..
        } = &self.request;
        let mut plan = Plan::load(pipeline, overrides, Some(out), inputs)?;
        if plan.inputs.len() != self.inputs.len() {
            let reason = format!(
                "{} inputs were planned, and there are {}",
                self.inputs.len(),
                plan.inputs.len()
            );
            return Err(RunError::OtherPlan(reason));
        }
        refuse_streams(&mut plan);
        for (planned, facts) in plan.inputs.iter_mut().zip(&self.inputs) {
            planned.input.bytes = facts.bytes;
            planned.hash = facts
                .hash
                .as_deref()
                .and_then(|hash| blake3::Hash::from_hex(hash).ok());
            if let Some(reason) = &facts.unreadable {
                planned.input.kind = InputKind::Refused(Box::new(unreadable(reason)));
            }
        }
        if plan.fingerprint() != self.fingerprint {
            let reason = "the pipeline file, a file that it names, or the names of its inputs changed since"
                .to_owned();
            return Err(RunError::OtherPlan(reason));
        }
        let shards: Option<Vec<Shard>> = (0..)
            .zip(&self.shards)
            .map(|(number, facts)| shard(number, facts))
            .collect();
        match shards.filter(|shards| are_all(shards, &plan.inputs)) {
            Some(shards) => Ok((plan, shards)),
            None => Err(RunError::OtherPlan(
                "its shards do not contain each input exactly once".to_owned(),
            )),
        }
    }
}

/// Returns whether shards cover the inputs in order and exactly once:
/// each input whole in one shard, or in consecutive ranges to its end.
fn are_all(shards: &[Shard], inputs: &[PlannedInput]) -> bool {
    let mut next = 0;
    // The previous range, if its input must continue.
    let mut before: Option<&LineRange> = None;
    for shard in shards {
        let Range { start, end } = shard.inputs;
        let follows = match (&shard.range, before) {
            (None, None) => end > next || inputs.is_empty(),
            (None, Some(_)) => false,
            (Some(range), _) => {
                let bytes = inputs.get(next).map(|planned| planned.input.bytes);
                end == next + 1
                    && range.start < range.end
                    && goes_on(before, range)
                    && range.is_last == (Some(range.end) == bytes)
            }
        };
        if start != next || !follows {
            return false;
        }
        before = shard.range.as_ref().filter(|range| !range.is_last);
        next = if before.is_some() { next } else { end };
    }
    next == inputs.len() && before.is_none() && !shards.is_empty()
}

/// Returns whether a range starts where the one before ends, or at the start of its
/// file. There are at most as many lines as bytes, and at most as many records as lines.
fn goes_on(before: Option<&LineRange>, range: &LineRange) -> bool {
    let Some(before) = before else {
        return (range.start, range.line, range.record) == (0, 1, 0);
    };
    let lines = range.line.saturating_sub(before.line);
    range.start == before.end
        && (1..=before.end - before.start).contains(&lines)
        && (0..=lines).contains(&range.record.wrapping_sub(before.record))
}

/// The start of an object that contains its hash.
const SEAL: &str = "{\"hash\":\"";

/// Writes an object as JSON with its hash: the hash of all bytes after it.
pub(super) fn sealed(object: &impl Serialize) -> Result<Vec<u8>, RunError> {
    let mut json = serde_json::to_string(object).map_err(unwritable)?;
    let hash = blake3::hash(cut::text(&json, 1..json.len()).as_bytes()).to_hex();
    json.replace_range(..1, &format!("{SEAL}{hash}\","));
    Ok(json.into_bytes())
}

/// Reads bytes written by [`sealed`]; `None` if any byte was changed.
pub(super) fn unsealed<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (hash, rest) = bytes
        .strip_prefix(SEAL.as_bytes())?
        .split_at_checked(2 * blake3::OUT_LEN)?;
    let is_whole = blake3::hash(rest.strip_prefix(b"\",")?).to_hex().as_bytes() == hash;
    serde_json::from_slice(bytes).ok().filter(|_| is_whole)
}

/// Returns the finding of an input that cannot be read.
fn unreadable(reason: &str) -> Finding {
    Finding::new(&codes::UNREADABLE_INPUT, "the input cannot be read").quoting(reason)
}

fn facts(planned: &PlannedInput) -> InputFacts {
    let unreadable = match &planned.input.kind {
        InputKind::Refused(finding) if finding.code == &codes::UNREADABLE_INPUT => finding.detail.clone(),
        _ => None,
    };
    InputFacts {
        bytes: planned.input.bytes,
        hash: planned.hash.map(|hash| hash.to_hex().to_string()),
        unreadable,
    }
}

fn planned_shard(shard: &Shard) -> PlannedShard {
    PlannedShard {
        inputs: shard.inputs.clone(),
        range: shard.range.as_ref().map(|range| PlannedRange {
            start: range.start,
            end: range.end,
            line: range.line,
            record: range.record,
            is_last: range.is_last,
            hash: range.hash.to_hex().to_string(),
        }),
    }
}

fn shard(number: u32, facts: &PlannedShard) -> Option<Shard> {
    let range = facts.range.as_ref().map(range).transpose().ok()?;
    let inputs = facts.inputs.clone();
    Some(Shard {
        number,
        inputs,
        range,
    })
}

fn range(facts: &PlannedRange) -> Result<LineRange, blake3::HexError> {
    Ok(LineRange {
        start: facts.start,
        end: facts.end,
        line: facts.line,
        record: facts.record,
        is_last: facts.is_last,
        hash: blake3::Hash::from_hex(&facts.hash)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_has_the_options_of_the_plan_but_its_own_threads() {
        let request = Request {
            pipeline: PathBuf::new(),
            overrides: Vec::new(),
            inputs: Vec::new(),
            replace: true,
            verify_every: 7,
        };
        let options = request.options(RunOptions {
            threads: 3,
            ..RunOptions::default()
        });
        assert_eq!(
            (options.threads, options.verify_every, options.replace),
            (3, 7, true)
        );
    }
}
