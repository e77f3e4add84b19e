//! The choices that a dialect leaves open: section `[policy]` of the pipeline file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How renderings treat what a dialect can carry in more than one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Where the names of speakers go.
    pub names: Names,
    /// What becomes of replies in dialects that have no field for them.
    pub references: References,
    /// What becomes of pictures, sounds and files.
    pub media: MediaPolicy,
    /// What becomes of a model's reasoning.
    pub reasoning: Reasoning,
    /// What becomes of calls without a result that a turn follows, and of results without a call.
    pub orphans: Orphans,
    /// What becomes of a template's control tokens in chat text.
    pub control_tokens: ControlTokens,
    /// Where system text comes from.
    pub system: System,
    /// What of a compressed message is rendered.
    pub compressed: Compressed,
    /// What becomes of `[meta]` blocks inside a bot's text.
    pub leaked_metadata: LeakedMetadata,
    /// What becomes of turns of one role in a row.
    pub turns: TurnsInARow,
}

/// What becomes of turns of one role in a row, in lists of messages and chat templates that allow them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TurnsInARow {
    /// They stay as they are.
    #[default]
    Keep,
    /// They become one, with a blank line between messages; not where a field names different speakers, or holds ids.
    Merge,
}

/// Where the names of speakers go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    /// Into the dialect's own field; where there is none, before the text when several people speak.
    #[default]
    Auto,
    /// Into the dialect's own field; where there is none, nowhere.
    Field,
    /// In front of the text.
    Prefix,
    /// Nowhere.
    #[serde(alias = "none")]
    Drop,
}

/// What becomes of replies in dialects that have no field for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum References {
    /// The text of the target is quoted.
    Quote,
    /// Of a target that the rendering shows, the beginning is quoted; of others all of it.
    #[default]
    Excerpt,
    /// Of a target that the rendering shows, it is said whose it is; others are quoted.
    Mark,
    /// They are dropped.
    Drop,
}

/// What becomes of pictures, sounds and files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Media")]
pub enum MediaPolicy {
    /// They are carried where the dialect can, else named in the text.
    #[default]
    Keep,
    /// They are named in the text.
    Placeholder,
    /// They are dropped.
    Drop,
}

/// What becomes of a model's reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reasoning {
    /// It is carried where the dialect can.
    Keep,
    /// It is dropped.
    #[default]
    Drop,
}

/// What becomes of calls without a result that a turn follows, and of results without a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Orphans {
    /// A missing result is made up, a result without a call becomes text; both are declared.
    #[default]
    Repair,
    /// Both are dropped.
    Drop,
    /// Both stay, and the rendering is invalid.
    Reject,
}

/// What becomes of a template's control tokens in chat text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ControlTokens {
    /// They are escaped.
    #[default]
    Escape,
    /// They stay, and a rendering whose turns they would forge is invalid.
    Keep,
}

/// Where system text comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// From the system messages of the source.
    #[default]
    Source,
    /// From the instructions that the roster holds for the perspective.
    Agent,
    /// There is none.
    None,
}

/// What of a compressed message is rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compressed {
    /// What the model saw.
    #[default]
    AsSent,
    /// What the archive holds.
    Stored,
}

/// What becomes of `[meta]` blocks inside a bot's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeakedMetadata {
    /// They are removed.
    #[default]
    Clean,
    /// They stay.
    Keep,
}
