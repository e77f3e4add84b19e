//! What a finished run says about itself, always read from its manifest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chatmill_dataset::{DatasetError, Manifest};
use serde::{Deserialize, Serialize};

use crate::receipt::FindingCount;

/// The `totals` of a manifest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunTotals {
    /// Records cut from the inputs.
    pub framed: u64,
    /// Records that became conversations.
    pub accepted: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Records left out by the request.
    pub filtered: u64,
    /// Records left out, by reason.
    pub filtered_by: BTreeMap<String, u64>,
    /// Conversations.
    pub conversations: u64,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Renderings.
    pub renderings: u64,
    /// Renderings that a configured participant's absence prevented.
    pub unrenderable: u64,
    /// Perspectives of conversations without a turn to render, where each turn has a rendering of its own.
    #[serde(default)]
    pub without_turns: u64,
    /// Findings by code.
    pub findings: BTreeMap<String, FindingCount>,
    /// Tokens per dialect, profile, encoding and coverage.
    pub tokens: Vec<TokenTotal>,
}

/// Tokens of a dialect in an encoding.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TokenTotal {
    /// Dialect id.
    pub dialect: String,
    /// Profile.
    pub profile: String,
    /// Encoding; empty when nothing is counted.
    pub encoding: String,
    /// Coverage.
    pub coverage: String,
    /// Renderings' bytes.
    pub bytes: u64,
    /// Messages rendered.
    pub messages_rendered: u64,
    /// Tokens.
    pub tokens: u64,
    /// Renderings that break a rule of their dialect.
    pub invalid: u64,
    /// Rows in the losses table.
    pub losses: u64,
}

/// What a finished run says about itself.
pub struct Summary {
    /// Where the dataset stands.
    pub out: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// The manifest's totals.
    pub totals: RunTotals,
    /// How long this run took; none when the dataset was there already.
    pub elapsed: Option<Duration>,
}

/// The verdict of a run whose rejects are within the threshold.
pub const COMPLETE: &str = "complete";
/// The verdict of a run that rejected more than the threshold allows.
pub const TOO_MANY_REJECTS: &str = "too-many-rejects";

impl Summary {
    /// The summary of a dataset that was published just now.
    pub fn of_run(out: &Path, elapsed: Duration) -> Result<Self, DatasetError> {
        let manifest = chatmill_dataset::read_manifest(out)?;
        Ok(Self {
            elapsed: Some(elapsed),
            ..Self::of_finished(out, manifest)
        })
    }

    /// The summary of a dataset that was there already.
    pub fn of_finished(out: &Path, manifest: Manifest) -> Self {
        let totals = serde_json::from_value(manifest.totals.clone()).unwrap_or_default();
        Self {
            out: out.to_path_buf(),
            manifest,
            totals,
            elapsed: None,
        }
    }

    /// Whether rejects stayed within the threshold.
    pub fn is_within_threshold(&self) -> bool {
        self.manifest.verdict == COMPLETE
    }
}
