//! `[select]`: the words of the file; [`Selection`](crate::select::Selection) is what they mean.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[select]`: what is left out counts as filtered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Select {
    /// Keeps conversations that end at or after this RFC 3339 time or date (UTC).
    pub since: Option<String>,
    /// Keeps conversations that start before this RFC 3339 time or date (UTC).
    pub until: Option<String>,
    /// Keeps these conversation ids.
    pub conversations: Option<Vec<String>>,
    /// Keeps this share of conversations, chosen by the hash of their id; between 0 and 1.
    pub sample: Option<f64>,
    /// Reads this many records and leaves out the rest.
    pub limit: Option<u64>,
}
