//! `[night]`: retention, conditions and notification of `chatmill night`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[night]`: settings of `chatmill night`. They are not part of the fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NightSection {
    /// The number of good nights whose datasets are kept, in addition to the first of each month.
    pub keep: u32,
    /// Conditions that make a night fail, for example `rejects > 0`, in the language of `chatmill diff --fail-if`.
    pub fail_if: Vec<String>,
    /// Conditions that are reported and do not make a night fail.
    pub warn_if: Vec<String>,
    /// The program that is started after a night, with its arguments;
    /// environment variables contain the night and its folder.
    pub notify: Vec<String>,
    /// The prices for costs in reports: a price file (TOML), or the unchanged list
    /// of `LiteLLM` or of models.dev; a relative path starts at this file's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<PathBuf>,
}

/// Complete runs that are kept by default.
const KEEP: u32 = 14;
/// The most nights that can be kept: ten years.
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
    /// Returns whether the number of nights to keep is allowed.
    pub(crate) fn keeps_some(&self) -> bool {
        (1..=MAX_KEEP).contains(&self.keep)
    }
}
