//! The judge: tiktoken-rs itself, asked now and then whether a count is right.

use chatmill_model::rope::ComponentSpan;
use tiktoken_rs::CoreBPE;

use crate::stretches::{Stretch, each_stretch};

/// White-space bytes in a row from which the reference is not asked: it gives up with a panic on much longer ones.
const LONGEST_BLANK: usize = 100_000;

/// An encoding of tiktoken-rs.
#[derive(Clone, Copy)]
pub struct Judge(pub(crate) &'static CoreBPE);

impl Judge {
    /// Tokens of a text as ordinary text; nothing where the reference cannot be asked.
    pub fn count(&self, text: &str) -> Option<u64> {
        let mut blanks = 0;
        for character in text.chars() {
            blanks = if character.is_whitespace() {
                blanks + character.len_utf8()
            } else {
                0
            };
            if blanks > LONGEST_BLANK {
                return None;
            }
        }
        Some(self.0.encode_ordinary(text).len() as u64)
    }

    /// Tokens of a rendering, by the definition that counters use: a control span is one, and a boundary.
    pub fn tokens(&self, text: &str, spans: &[ComponentSpan]) -> Option<u64> {
        let mut tokens = Some(0);
        each_stretch(text, spans, |stretch| {
            let more = match stretch {
                Stretch::Text(text) => self.count(text),
                Stretch::Control(_) => Some(1),
            };
            tokens = tokens.zip(more).map(|(tokens, more)| tokens + more);
        });
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ENCODINGS;

    #[test]
    fn the_judge_agrees_with_every_counter() {
        for encoding in ENCODINGS {
            for text in [
                "",
                "It's 12345 o'clock.\n\n  Привіт, 世界! <|endoftext|>",
                "a  b\t\n c",
            ] {
                assert_eq!(encoding.judge().count(text), Some(encoding.counter().count(text)));
            }
        }
    }

    #[test]
    fn the_judge_is_not_asked_about_endless_white_space() {
        let judge = ENCODINGS[0].judge();
        assert!(judge.count(&" ".repeat(1_000)).is_some());
        assert_eq!(judge.count(&" ".repeat(LONGEST_BLANK + 1)), None);
    }
}
