//! Tool use as text: for calls that are not the perspective's, and for results that lost their call.

use chatmill_model::{Component, Level, Rope, ToolCall, ToolResult};

use crate::names::UNNAMED;

/// What stands where no result was recorded.
pub(crate) const MISSING_RESULT: &str = "no result was recorded";

/// Writes `[tool NAME ARGUMENTS]`.
pub(crate) fn call_as_text<'a>(rope: &mut Rope<'a>, call: &'a ToolCall, level: Level) {
    rope.content("[tool ", level, Component::Tools);
    rope.content(call.name.as_deref().unwrap_or(UNNAMED), level, Component::Tools);
    let arguments = call.arguments.source_text();
    if !arguments.is_empty() {
        rope.content(" ", level, Component::Tools);
        rope.content(arguments, level, Component::Tools);
    }
    rope.content("]", level, Component::Tools);
}

/// Writes `[result CONTENT]`.
pub(crate) fn result_as_text<'a>(rope: &mut Rope<'a>, result: &'a ToolResult, level: Level) {
    rope.content("[result ", level, Component::Tools);
    rope.content(result.content.as_str(), level, Component::Tools);
    rope.content("]", level, Component::Tools);
}
