//! `[dedup]`: what becomes of conversations that repeat others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[dedup]`. The first in the order of the inputs is never a duplicate. Without the section nothing is compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DedupSection {
    /// Conversations that say the same as an earlier one, whatever their ids and times.
    pub exact: Treatment,
    /// Conversations that have most of their runs of three words in common with an earlier one, but for those that say the same.
    pub near: Treatment,
    /// The share of runs in common that makes near duplicates, between 0.5 and 1.
    pub threshold: f64,
}

impl Default for DedupSection {
    fn default() -> Self {
        Self {
            exact: Treatment::Off,
            near: Treatment::Off,
            threshold: 0.8,
        }
    }
}

impl DedupSection {
    /// Whether conversations are compared at all.
    pub fn is_on(&self) -> bool {
        self.exact != Treatment::Off || self.near != Treatment::Off
    }

    /// The threshold, where near duplicates are looked for.
    pub fn near_threshold(&self) -> Option<f64> {
        (self.near != Treatment::Off).then_some(self.threshold)
    }
}

/// What becomes of duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Treatment {
    /// They are not looked for.
    #[default]
    Off,
    /// They are kept, and the columns `cluster` and `duplicate` of `conversations` name them.
    Mark,
    /// They are left out and count as filtered.
    Filter,
}
