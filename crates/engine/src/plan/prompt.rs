//! Resolves `[prompt]`: the system prompt that a run adds to conversations, with fields such as `{agent.name}`.

use chatmill_dialect::{Prompt, PromptError};

use crate::error::PlanError;
use crate::pipeline::PromptSection;

/// The key in errors.
const KEY: &str = "prompt.system";

/// Parses the prompt of a section.
pub(super) fn prompt(section: &PromptSection) -> Result<Prompt, PlanError> {
    Prompt::parse(&section.system, section.existing).map_err(|error| match error {
        PromptError::UnknownField(word) => {
            PlanError::unknown(KEY, "field of a conversation", &word, Prompt::fields())
        }
        error @ (PromptError::Empty | PromptError::Brace(_)) => PlanError::value(KEY, error.to_string()),
    })
}
