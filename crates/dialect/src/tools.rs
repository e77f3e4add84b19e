//! Tool use as text: for calls that are not the perspective's, and for results that lost their call.

use std::borrow::Cow;

use chatmill_model::{Component, Level, Sink, ToolCall};

use crate::names::UNNAMED;
use crate::text_run::TextRun;

/// What stands where no result was recorded.
pub(crate) const MISSING_RESULT: &str = "no result was recorded";

/// `[tool NAME ARGUMENTS]`.
pub(crate) fn call_words(call: &ToolCall) -> Vec<TextRun<'_>> {
    let name = call.name.as_deref().unwrap_or(UNNAMED);
    let arguments = call.arguments.source_text();
    let mut words = vec!["[tool ", name];
    if !arguments.is_empty() {
        words.extend([" ", arguments]);
    }
    words.push("]");
    let words = words.into_iter();
    words.map(|text| TextRun::new(text, Component::Tools)).collect()
}

/// `[result CONTENT]`.
pub(crate) fn result_words<'a>(content: Cow<'a, str>) -> Vec<TextRun<'a>> {
    let words = ["[result ".into(), content, "]".into()].into_iter();
    words
        .map(|text: Cow<'a, str>| TextRun::new(text, Component::Tools))
        .collect()
}

/// Writes a call as text.
pub(crate) fn call_as_text<'a>(sink: &mut Sink<'a>, call: &'a ToolCall, level: Level) {
    for words in call_words(call) {
        words.write(sink, level);
    }
}

/// Writes what a tool answered as text.
pub(crate) fn result_as_text<'a>(sink: &mut Sink<'a>, content: Cow<'a, str>, level: Level) {
    for words in result_words(content) {
        words.write(sink, level);
    }
}
