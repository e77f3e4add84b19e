//! `[select]` and `[dedup]`: which conversations stay. These are the words of the file; [`Selection`](crate::plan::Selection) is what
//! `[select]` means.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[select]`: what is left out counts as filtered, under the name of the first key that leaves it out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SelectSection {
    /// The earliest end of a conversation that is kept: an RFC 3339 time or a date (UTC).
    pub since: Option<String>,
    /// The time before which a conversation that is kept starts: an RFC 3339 time or a date (UTC).
    pub until: Option<String>,
    /// The ids of the conversations that are kept.
    pub conversations: Option<Vec<String>>,
    /// The share of conversations that is kept, between 0 and 1, chosen by the hash of their id.
    pub sample: Option<f64>,
    /// The seed of samples, here and in `[[input]]` sections: another number draws other conversations.
    #[serde(skip_serializing_if = "chatmill_diag::is_zero")]
    pub seed: u64,
    /// The kind of chat that is kept: `assistant`, `group_chat` or `unknown`.
    pub scene: Option<String>,
    /// The participants, by id or name, who must all be in the roster of a selected conversation.
    pub participants: Option<Vec<String>>,
    /// The least number of turns of a conversation that is kept: messages of people and agents, without system text and tool
    /// results.
    pub min_turns: Option<u64>,
    /// Whether only conversations with a tool call are kept.
    pub with_tool_calls: bool,
    /// The findings that exclude a conversation: codes (`RF001`), the beginnings of codes (`RF`) or names.
    pub without_findings: Option<Vec<String>>,
    /// The number of records that are read; the rest is left out.
    pub limit: Option<u64>,
}

/// `[dedup]`. The first in the order of the inputs is never a duplicate. Without the section nothing is compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DedupSection {
    /// The treatment of conversations that have the same content as an earlier one, whatever their ids and times.
    pub exact: Treatment,
    /// The treatment of near duplicates: conversations that share most of their shingles of three words with an earlier one,
    /// and are not equal to it.
    pub near: Treatment,
    /// The share of common shingles from which two conversations are near duplicates, between 0.5 and 1.
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

/// The handling of duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Treatment {
    /// Duplicates are not searched for.
    #[default]
    Off,
    /// Duplicates are kept; the columns `cluster` and `duplicate` of `conversations` name them.
    Mark,
    /// Duplicates are left out and count as filtered.
    Filter,
}
