//! `[prompt]`, resolved.

use chatmill_diag::suggest::nearest;
use chatmill_dialect::{Prompt, PromptError};

use crate::error::PlanError;
use crate::pipeline::PromptSection;

/// The key that a fault is of.
const KEY: &str = "prompt.system";

/// Reads the prompt of a section.
pub(super) fn prompt(section: &PromptSection) -> Result<Prompt, PlanError> {
    Prompt::parse(&section.system, section.existing).map_err(|error| match error {
        PromptError::UnknownField(word) => PlanError::UnknownWord {
            key: KEY,
            what: "field of a conversation",
            suggestion: nearest(&word, Prompt::fields()).map(str::to_owned),
            word,
        },
        fault @ (PromptError::Empty | PromptError::Brace(_)) => PlanError::Value {
            key: KEY,
            message: fault.to_string(),
        },
    })
}
