//! Text to be rendered, in runs with the component that their tokens count for.

use chatmill_model::{Component, Level, Sink};

/// A run of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextRun<'a> {
    /// The text, before escaping.
    pub(crate) text: &'a str,
    /// The component that its tokens count for.
    pub(crate) component: Component,
}

impl<'a> TextRun<'a> {
    /// Creates a run of text.
    pub(crate) const fn new(text: &'a str, component: Component) -> Self {
        Self { text, component }
    }

    /// Writes the run into a sink.
    pub(crate) fn write(self, sink: &mut Sink<'a>, level: Level) {
        sink.content(self.text, level, self.component);
    }
}

/// Whether a character is white space for any vendor: a text with no other characters is empty to some.
pub(crate) fn is_blank_character(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

/// Removes the white space at the end of runs; returns whether there was any.
pub(crate) fn trim_end(words: &mut Vec<TextRun<'_>>) -> bool {
    let mut trimmed = false;
    while let Some(last) = words.last_mut() {
        let rest = last.text.trim_end_matches(is_blank_character);
        trimmed |= rest.len() < last.text.len();
        last.text = rest;
        if !rest.is_empty() {
            break;
        }
        words.pop();
    }
    trimmed
}

/// Removes the white space at the start of runs; returns whether there was any.
pub(crate) fn trim_start(words: &mut Vec<TextRun<'_>>) -> bool {
    let mut trimmed = false;
    let mut empty = 0;
    for run in words.iter_mut() {
        let rest = run.text.trim_start_matches(is_blank_character);
        trimmed |= rest.len() < run.text.len();
        run.text = rest;
        if !rest.is_empty() {
            break;
        }
        empty += 1;
    }
    words.drain(..empty);
    trimmed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_several_words_is_trimmed_as_one_text() {
        let words = |texts: &[&'static str]| -> Vec<TextRun<'static>> {
            let runs = texts.iter().map(|text| TextRun::new(text, Component::Content));
            runs.collect()
        };
        let text = |run: &[TextRun<'_>]| -> String { run.iter().map(|words| words.text).collect() };
        let mut run = words(&["a ", " b\n", " \u{a0}\u{feff}"]);
        assert!(trim_end(&mut run));
        assert_eq!(text(&run), "a  b");
        let mut run = words(&["a b"]);
        assert!(!trim_end(&mut run));
        let mut run = words(&["  "]);
        assert!(trim_end(&mut run) && run.is_empty());
        let mut run = words(&["\n", " a", "b"]);
        assert!(trim_start(&mut run));
        assert_eq!(text(&run), "ab");
        assert!(!trim_start(&mut run));
        let mut run = words(&["", " "]);
        assert!(trim_start(&mut run) && run.is_empty());
    }
}
