//! `[tools]`: definitions of tools beside those of the records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[tools]`. A record's own definitions come first, then those of the file, then what calls show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsSection {
    /// A JSON file with definitions in the shape of OpenAI, Anthropic, Gemini or Bedrock: a list, or an object with a list under
    /// `tools`. Every rendering through somebody's eyes has them.
    pub file: Option<String>,
    /// Whether tools that the perspective calls and nobody defines are defined by the arguments of all calls in the conversation;
    /// declared as `tool-definition-synthesised`.
    pub infer: bool,
}
