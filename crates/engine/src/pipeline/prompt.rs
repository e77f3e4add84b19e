//! `[prompt]`: system text of the pipeline's own.

use chatmill_dialect::Existing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[prompt]`. Dialects without a perspective write the record and take no notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptSection {
    /// The text, with fields such as `{agent.name}` and `{room.title|a room}`: the words after `|` stand where a conversation
    /// does not know the field. Without them such a conversation gets no prompt, which is counted.
    pub system: String,
    /// What becomes of system text that is there already.
    #[serde(default)]
    pub existing: Existing,
}
