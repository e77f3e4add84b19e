//! Calls and results as text: for calls that are not the perspective's, and for results without a call.

use chatmill_model::{Component, ToolCall};

use crate::naming::participants::UNNAMED;
use crate::text::run::TextRun;

/// The content of a synthetic result.
pub(crate) const MISSING_RESULT: &str = "no result was recorded";

/// Returns a call as `[tool NAME ARGUMENTS]`.
pub(crate) fn call_words(call: &ToolCall) -> impl Iterator<Item = TextRun<'_>> {
    let name = call.name.as_deref().unwrap_or(UNNAMED);
    let arguments = call.arguments.source_text();
    let space = if arguments.is_empty() { "" } else { " " };
    let words = ["[tool ", name, space, arguments, "]"].into_iter();
    let words = words.filter(|text| !text.is_empty());
    words.map(|text| TextRun::new(text, Component::Tools))
}

/// Returns a result as `[result CONTENT]`.
pub(crate) fn result_words(content: &str) -> [TextRun<'_>; 3] {
    ["[result ", content, "]"].map(|text| TextRun::new(text, Component::Tools))
}
