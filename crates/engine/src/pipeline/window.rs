//! `[window]`: how much of a conversation a rendering shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[window]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Window {
    /// How much history a rendering shows.
    pub history: History,
    /// Silence that starts a new rendering.
    pub session_gap: SessionGap,
}

/// Silence that starts a new rendering; so far, none does.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionGap {
    /// However long people are silent, it is one rendering.
    #[default]
    None,
}

/// How much history a rendering shows: a word, or a number of messages.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum History {
    /// A rule.
    Rule(HistoryRule),
    /// The last N messages.
    Messages(u32),
}

impl Default for History {
    fn default() -> Self {
        Self::Rule(HistoryRule::Document)
    }
}

/// A rule for the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryRule {
    /// What the dialect's document says.
    Document,
    /// All of it.
    All,
}
