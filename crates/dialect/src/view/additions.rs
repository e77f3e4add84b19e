//! Additions of a pipeline to every conversation: system text and definitions of tools. The canonical record stays unchanged.

use chatmill_model::RawJson;

use crate::view::prompt::Prompt;

/// What is added to a conversation; nothing by default. Dialects without a perspective write the record and ignore additions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Additions<'a> {
    /// System text.
    pub prompt: Option<&'a Prompt>,
    /// Definitions of tools, in any vendor's shape, in addition to those of the record.
    pub tools: &'a [RawJson],
    /// Definitions that were inferred from calls in this and other conversations; each is used if no other defines a tool of that name.
    pub called_tools: &'a [RawJson],
    /// Whether a definition is inferred from the calls for each tool that the perspective calls and that is not defined.
    pub infers_tools: bool,
}
