//! Text on its way into a rendering: stretches that know what their tokens are booked under.

use chatmill_model::{Component, Level, Sink};

/// A stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextRun<'a> {
    /// The text, before escaping.
    pub(crate) text: &'a str,
    /// What it is booked under.
    pub(crate) component: Component,
}

impl<'a> TextRun<'a> {
    /// Words of any kind.
    pub(crate) const fn new(text: &'a str, component: Component) -> Self {
        Self { text, component }
    }

    /// Writes them.
    pub(crate) fn write(self, sink: &mut Sink<'a>, level: Level) {
        sink.content(self.text, level, self.component);
    }
}

/// White space in anybody's sense: what is nothing but this is an empty text to a vendor.
pub(crate) fn is_blank_character(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

/// Removes the white space at the end of a run of words; says whether there was any.
pub(crate) fn trim_end(words: &mut Vec<TextRun<'_>>) -> bool {
    let mut trimmed = false;
    while let Some(last) = words.last_mut() {
        let kept = last.text.trim_end_matches(is_blank_character);
        trimmed |= kept.len() < last.text.len();
        last.text = kept;
        if !kept.is_empty() {
            break;
        }
        words.pop();
    }
    trimmed
}

/// Removes the white space at the start of a run of words; says whether there was any.
pub(crate) fn trim_start(words: &mut Vec<TextRun<'_>>) -> bool {
    let mut trimmed = false;
    let mut empty = 0;
    for run in words.iter_mut() {
        let kept = run.text.trim_start_matches(is_blank_character);
        trimmed |= kept.len() < run.text.len();
        run.text = kept;
        if !kept.is_empty() {
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
        let said = |run: &[TextRun<'_>]| -> String { run.iter().map(|words| words.text).collect() };
        let mut run = words(&["a ", " b\n", " \u{a0}\u{feff}"]);
        assert!(trim_end(&mut run));
        assert_eq!(said(&run), "a  b");
        let mut run = words(&["a b"]);
        assert!(!trim_end(&mut run));
        let mut run = words(&["  "]);
        assert!(trim_end(&mut run) && run.is_empty());
        let mut run = words(&["\n", " a", "b"]);
        assert!(trim_start(&mut run));
        assert_eq!(said(&run), "ab");
        assert!(!trim_start(&mut run));
        let mut run = words(&["", " "]);
        assert!(trim_start(&mut run) && run.is_empty());
    }
}
