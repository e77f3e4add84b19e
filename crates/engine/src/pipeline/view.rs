//! `[perspective]`, `[prompt]` and `[tools]`: the perspective of renderings, and the prompt and tools that
//! are added.

use chatmill_dialect::Existing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[perspective]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PerspectiveSection {
    /// The participant who speaks as the assistant: a rule, or a list of participants by id or name.
    #[serde(rename = "as")]
    pub speaker: PerspectiveChoice,
}

/// The speaker of the assistant's messages: a word, or a list of participants.
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
    /// No participant.
    None,
    /// Each agent in turn.
    EachAgent,
    /// Each participant in turn.
    EachParticipant,
}

/// `[prompt]`. Dialects without a perspective write the record and take no notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptSection {
    /// The text of the prompt, with fields such as `{agent.name}` and `{room.title|a room}`: the words after `|` stand in for a
    /// field that a conversation lacks. Without such words, the conversation gets no prompt, which is counted.
    pub system: String,
    /// The treatment of system text that a conversation has already.
    #[serde(default)]
    pub existing: Existing,
}

/// `[tools]`. A record's own definitions come first, then those of the file, then what calls show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsSection {
    /// The JSON file with tool definitions in the shape of OpenAI, Anthropic, Gemini or Bedrock: a list, or an object with a
    /// list under `tools`. Every rendering with a perspective gets them.
    pub file: Option<String>,
    /// Whether a tool that the perspective calls and nobody defines gets a definition, inferred from the arguments of all its
    /// calls in the conversation and declared as `tool-definition-synthesised`. With `"input"` it is inferred from the calls in all
    /// conversations of the `[[input]]` section, and stands in every rendering of them.
    pub infer: Inference,
}

/// What definitions of tools are inferred from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "it must be true, false or \"input\"")]
pub enum Inference {
    /// The calls of the conversation, or nothing.
    Conversation(bool),
    /// More than the conversation.
    Beyond(InferenceScope),
}

/// The conversations beyond one whose calls define tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InferenceScope {
    /// Those of the `[[input]]` section.
    Input,
}

impl Default for Inference {
    fn default() -> Self {
        Self::Conversation(false)
    }
}
