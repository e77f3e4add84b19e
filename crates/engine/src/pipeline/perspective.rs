//! `[perspective]`: who speaks as the assistant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[perspective]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Perspective {
    /// Who speaks as the assistant.
    #[serde(rename = "as")]
    pub speaker: PerspectiveChoice,
}

/// Who speaks as the assistant: a word, or a list of participants.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "it must be \"auto\", \"none\", \"each-agent\", \"each-participant\" or a list of ids and names"
)]
pub enum PerspectiveChoice {
    /// A rule.
    Rule(PerspectiveRule),
    /// Participants by id or name, one rendering each.
    Participants(Vec<String>),
}

impl Default for PerspectiveChoice {
    fn default() -> Self {
        Self::Rule(PerspectiveRule::Auto)
    }
}

/// A rule that chooses the perspective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PerspectiveRule {
    /// The busiest agent, else nobody.
    Auto,
    /// Nobody.
    None,
    /// Each agent in turn.
    EachAgent,
    /// Each participant in turn.
    EachParticipant,
}
