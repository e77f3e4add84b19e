//! `[night]`: what `chatmill night` keeps, objects to and tells.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[night]`; a run pays no attention to it, and it is never part of the fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NightSection {
    /// Good nights whose datasets are kept, from 1 to 3650, beside the first of each month.
    pub keep: u32,
    /// Conditions that make a night fail, for example `rejects > 0`; those of `chatmill diff --fail-if`.
    pub fail_if: Vec<String>,
    /// Conditions that are only told.
    pub warn_if: Vec<String>,
    /// Program and arguments that are started when a night has ended; its environment says which and where.
    pub notify: Vec<String>,
    /// Price file (TOML), for money; relative paths start at this file's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<PathBuf>,
}

/// Good nights that are kept where the file does not say.
const KEEP: u32 = 14;
/// Good nights that can be kept: those of ten years.
const MAX_KEEP: u32 = 3650;

impl Default for NightSection {
    fn default() -> Self {
        Self {
            keep: KEEP,
            fail_if: Vec::new(),
            warn_if: Vec::new(),
            notify: Vec::new(),
            prices: None,
        }
    }
}

impl NightSection {
    /// Whether so many nights can be kept.
    pub(crate) fn keeps_some(&self) -> bool {
        (1..=MAX_KEEP).contains(&self.keep)
    }
}
