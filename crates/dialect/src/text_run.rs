//! Text on its way into a rendering: stretches that know what their tokens are booked under.

use std::borrow::Cow;

use chatmill_model::{Component, Level, Sink};

/// A stretch of text.
#[derive(Clone, Debug)]
pub(crate) struct TextRun<'a> {
    /// The text, before escaping.
    pub(crate) text: Cow<'a, str>,
    /// What it is booked under.
    pub(crate) component: Component,
}

impl<'a> TextRun<'a> {
    /// Words of any kind.
    pub(crate) fn new(text: impl Into<Cow<'a, str>>, component: Component) -> Self {
        Self {
            text: text.into(),
            component,
        }
    }

    /// The only words of a text, with room for a name before them.
    pub(crate) fn alone(self) -> Vec<Self> {
        let mut text = Vec::with_capacity(3);
        text.push(self);
        text
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
        let length = last.text.trim_end_matches(is_blank_character).len();
        trimmed |= length < last.text.len();
        if length > 0 {
            if length < last.text.len() {
                last.text = match std::mem::take(&mut last.text) {
                    Cow::Borrowed(text) => Cow::Borrowed(text.get(..length).unwrap_or(text)),
                    Cow::Owned(mut text) => {
                        text.truncate(length);
                        Cow::Owned(text)
                    }
                };
            }
            break;
        }
        words.pop();
    }
    trimmed
}

/// Removes the white space at the start of a run of words; says whether there was any.
pub(crate) fn trim_start(words: &mut Vec<TextRun<'_>>) -> bool {
    let mut trimmed = false;
    while let Some(first) = words.first_mut() {
        let kept = first.text.trim_start_matches(is_blank_character).len();
        let cut = first.text.len() - kept;
        trimmed |= cut > 0;
        if kept > 0 {
            if cut > 0 {
                first.text = match std::mem::take(&mut first.text) {
                    Cow::Borrowed(text) => Cow::Borrowed(text.get(cut..).unwrap_or(text)),
                    Cow::Owned(text) => Cow::Owned(text.get(cut..).unwrap_or_default().to_owned()),
                };
            }
            break;
        }
        words.remove(0);
    }
    trimmed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_several_words_is_trimmed_as_one_text() {
        let words = |texts: &[&str]| -> Vec<TextRun<'static>> {
            texts
                .iter()
                .map(|text| TextRun::new((*text).to_owned(), Component::Content))
                .collect()
        };
        let mut run = words(&["a ", " b\n", " \u{a0}\u{feff}"]);
        assert!(trim_end(&mut run));
        let left: String = run.iter().map(|words| words.text.as_ref()).collect();
        assert_eq!(left, "a  b");
        let mut run = words(&["a b"]);
        assert!(!trim_end(&mut run));
        let mut run = words(&["  "]);
        assert!(trim_end(&mut run) && run.is_empty());
        let mut run = words(&["\n", " a", "b"]);
        assert!(trim_start(&mut run));
        let left: String = run.iter().map(|words| words.text.as_ref()).collect();
        assert_eq!(left, "ab");
        assert!(!trim_start(&mut run));
    }
}
