//! `[select]` and `[dedup]`: which conversations stay. These are the words of the file; [`Selection`](crate::plan::Selection) is what
//! `[select]` means.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[select]`: what is left out counts as filtered, under the name of the first key that leaves it out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SelectSection {
    /// Keeps conversations that end at or after this RFC 3339 time or date (UTC).
    pub since: Option<String>,
    /// Keeps conversations that start before this RFC 3339 time or date (UTC).
    pub until: Option<String>,
    /// Keeps these conversation ids.
    pub conversations: Option<Vec<String>>,
    /// Keeps this share of conversations, chosen by the hash of their id; between 0 and 1.
    pub sample: Option<f64>,
    /// Another number draws other samples, here and of `[[input]]` sections.
    #[serde(skip_serializing_if = "chatmill_diag::is_zero")]
    pub seed: u64,
    /// Keeps conversations of this kind of room: `assistant`, `group_chat` or `unknown`.
    pub scene: Option<String>,
    /// Keeps conversations in whose roster all of these stand, by id or name.
    pub participants: Option<Vec<String>>,
    /// Keeps conversations with at least this many turns: messages of people and agents, system text and tool results not
    /// counted.
    pub min_turns: Option<u64>,
    /// Whether only conversations with a tool call are kept.
    pub with_tool_calls: bool,
    /// Leaves conversations out in which one of these was found: codes (`RF001`), the beginnings of codes (`RF`) or names.
    pub without_findings: Option<Vec<String>>,
    /// Reads this many records and leaves out the rest.
    pub limit: Option<u64>,
}

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
    pub(crate) fn near_threshold(&self) -> Option<f64> {
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
