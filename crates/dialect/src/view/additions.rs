//! What a pipeline adds to every conversation: system text, and definitions of tools. The canonical record stays as it is.

use chatmill_model::RawJson;

use crate::view::prompt::Prompt;

/// What is added to a conversation; nothing by default. Dialects without a perspective write the record and take no notice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Additions<'a> {
    /// System text.
    pub prompt: Option<&'a Prompt>,
    /// Definitions of tools, in any vendor's shape, beside those of the record.
    pub tools: &'a [RawJson],
    /// Definitions of tools as calls show them, also calls elsewhere; each counts where nobody defines a tool of that name.
    pub called_tools: &'a [RawJson],
    /// Whether tools that the perspective calls and nobody defines are defined by the arguments that they get.
    pub infers_tools: bool,
}
