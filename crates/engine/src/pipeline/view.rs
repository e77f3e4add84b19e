//! `[perspective]`, `[prompt]` and `[tools]`: the perspective of
//! renderings, and the prompt and tools that are added to them.

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

/// The participant who speaks as the assistant: a rule, or a list of participants.
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
    /// The agent with the most messages; none if there is no agent.
    Auto,
    /// No participant.
    None,
    /// Each agent in turn.
    EachAgent,
    /// Each participant in turn.
    EachParticipant,
}

/// `[prompt]`. Dialects without a perspective write the record unchanged and ignore it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptSection {
    /// The text of the prompt, with fields such as `{agent.name}` and `{room.title|a room}`: the words
    /// after `|` replace a field that a conversation lacks. Without such words, the conversation gets no
    /// prompt, which is counted.
    pub system: String,
    /// The treatment of system text that a conversation already has.
    #[serde(default)]
    pub existing: Existing,
}

/// `[tools]`. Definitions of the record come first, then
/// those of the file, then definitions inferred from calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsSection {
    /// The JSON file with tool definitions in the shape of OpenAI, Anthropic, Gemini or Bedrock: a list, or an object with a
    /// list under `tools`. Every rendering with a perspective gets them.
    pub file: Option<String>,
    /// Whether tools that the perspective calls, but that have no definition, get one. It is
    /// inferred from the arguments of all calls of the tool in the conversation and declared
    /// as `tool-definition-synthesised`. With `"input"` it is inferred from the calls in all
    /// conversations of the `[[input]]` section, and added to every rendering of them.
    pub infer: Inference,
}

/// The calls that tool definitions are inferred from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "it must be true, false or \"input\"")]
pub enum Inference {
    /// Only the calls of the conversation (`true`), or none (`false`).
    Conversation(bool),
    /// The calls of more than one conversation.
    Beyond(InferenceScope),
}

/// The group of conversations from which the calls are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InferenceScope {
    /// All conversations of the `[[input]]` section.
    Input,
}

impl Default for Inference {
    fn default() -> Self {
        Self::Conversation(false)
    }
}
