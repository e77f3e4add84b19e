//! Tokenizer files that only the `tokenizers` crate can compute, counted on whole texts.
//!
//! Added tokens and the tokens that a file puts around a text are removed first: in a chat they are text, and framing belongs to the
//! dialect.
//!
//! Why: docs/decisions/2026-11-21-tokenizer-json-files.md.

use chatmill_model::span::ComponentSpan;
use serde_json::Value;
use tokenizers::Tokenizer;

use crate::counter::{Counter, SpanCounter};
use crate::error::EncodingError;
use crate::split::oniguruma;
use crate::split::patterns::PatternError;

/// A character that hardly any vocabulary contains: a file without a token for unknown characters fails on it.
const UNKNOWN: &str = "\u{10fffd}";

/// A tokenizer file as a counter, and as the reference of files that are counted as ranks.
pub(crate) struct Crate {
    name: String,
    tokenizer: Tokenizer,
    /// The tokenizer for texts inside a rendering, if the file puts a space before the first text only.
    inner: Option<Tokenizer>,
}

impl Crate {
    pub(crate) fn read(name: &str, json: &str) -> Result<Self, EncodingError> {
        let refused = |problem: String| {
            EncodingError::Vocabulary(format!("the `tokenizers` crate refuses it: {problem}"))
        };
        let mut file: serde_json::Map<String, Value> =
            serde_json::from_str(json).map_err(|error| refused(error.to_string()))?;
        file.insert("added_tokens".to_owned(), Vec::<String>::new().into());
        for around in ["post_processor", "decoder", "truncation", "padding"] {
            file.insert(around.to_owned(), Value::Null);
        }
        for steps in ["normalizer", "pre_tokenizer"] {
            file.get_mut(steps).map_or(Ok(()), translate)?;
        }
        let file = Value::Object(file).to_string();
        let inner = file.replace(r#""prepend_scheme":"first""#, r#""prepend_scheme":"never""#);
        let load = |file: &str| Tokenizer::from_bytes(file).map_err(|error| refused(error.to_string()));
        let inner = (inner != file).then(|| load(&inner)).transpose()?;
        let tokenizer = load(&file)?;
        if tokenizer.encode_fast(UNKNOWN, false).is_err() {
            return Err(refused("it has no token for unknown characters".to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            tokenizer,
            inner,
        })
    }

    /// The number of tokens in its vocabulary.
    pub(crate) fn vocabulary(&self) -> u32 {
        u32::try_from(self.tokenizer.get_vocab_size(false)).unwrap_or(u32::MAX)
    }

    /// The tokens of a text that begins at the byte `begins` of a rendering.
    pub(crate) fn count_at(&self, text: &str, begins: usize) -> u64 {
        let mut tokens = 0;
        self.each_token(text, begins, &mut |_| tokens += 1);
        tokens
    }

    /// Calls `token` with the byte at which each token of a text begins, in order; the text begins at the byte `begins` of a rendering.
    fn each_token(&self, text: &str, begins: usize, token: &mut dyn FnMut(usize)) {
        let inner = self.inner.as_ref().filter(|_| begins > 0);
        let Ok(encoding) = inner.unwrap_or(&self.tokenizer).encode(text, false) else {
            // The crate gives up on a pattern that backtracks too long: halves are shorter, and one character is one token.
            let half = (text.len() / 2).max(1)..text.len();
            let halves = half
                .into_iter()
                .find_map(|middle| Some((middle, text.split_at_checked(middle)?)));
            match halves {
                None => token(0),
                Some((middle, (left, right))) => {
                    self.each_token(left, begins, token);
                    self.each_token(right, begins + middle, &mut |start| token(middle + start));
                }
            }
            return;
        };
        let mut last = 0;
        for (start, _) in encoding.get_offsets() {
            // Tokens of one character may share its bytes, and a normaliser that moves text can put them out of order.
            last = last.max(*start).min(text.len());
            token(last);
        }
    }
}

/// Translates all patterns of some steps: in this build the engine of the crate is not Oniguruma.
fn translate(steps: &mut Value) -> Result<(), PatternError> {
    match steps {
        Value::Array(several) => several.iter_mut().try_for_each(translate),
        Value::Object(step) => step.iter_mut().try_for_each(|(key, value)| match value {
            Value::String(pattern) if key == "Regex" => {
                *pattern = oniguruma::translated(pattern)?;
                Ok(())
            }
            _ => translate(value),
        }),
        _ => Ok(()),
    }
}

impl Counter for Crate {
    fn name(&self) -> &str {
        &self.name
    }

    fn count_spans(&self, text: &str, spans: &[ComponentSpan]) -> Vec<u64> {
        SpanCounter::of_parts(text, spans, |counter, text, begins| {
            self.each_token(text, begins, &mut |start| counter.token_at(begins + start));
        })
    }
}

#[cfg(test)]
mod tests {
    use chatmill_model::span::{Component, Speaker};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::encoding::custom_encoding::tests::BOTH;
    use crate::{Counting, Encoding};

    fn word_pieces(unknown: &str) -> Value {
        json!({
            "version": "1.0",
            "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
            "padding": null,
            "added_tokens": [{"id": 0, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false,
                              "normalized": false, "special": true}],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": null,
            "decoder": null,
            "model": {"type": "WordPiece", "unk_token": unknown, "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 100,
                      "vocab": {"[UNK]": 0, "mill": 1, "##er": 2, "##s": 3, "grind": 4, "[": 5, "]": 6, "unk": 7}},
        })
    }

    fn encoding(file: &Value) -> Encoding {
        Encoding::from_tokenizer("acme", file.to_string()).unwrap()
    }

    #[test]
    fn a_file_that_only_the_crate_can_compute_is_counted_whole() {
        let encoding = encoding(&word_pieces("[UNK]"));
        assert_eq!(encoding.about().counting, Counting::Whole);
        assert_eq!(encoding.about().source, "tokenizer file, by the tokenizers crate");
        // mill ##er ##s grind: neither truncated to two nor framed, and capitals are made small.
        assert_eq!(encoding.counter().count("Millers grind"), 4);
        assert_eq!(encoding.reference().count("Millers grind"), Some(4));
    }

    #[test]
    fn patterns_mean_what_they_mean_in_python() {
        let mut file = word_pieces("[UNK]");
        let split = |pattern: &str| {
            json!({"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false}]})
        };
        // `½` is part of the word, so the whole word is unknown.
        for (pattern, tokens) in [(r"\w+", 1), (r"[\w]+", 2), (r"\p{L}+", 2), (r"mill(?=½)", 2)] {
            file["pre_tokenizer"] = split(pattern);
            assert_eq!(encoding(&file).counter().count("mill½"), tokens, "{pattern}");
        }
        file["pre_tokenizer"] = split(r"\X");
        let refused = Encoding::from_tokenizer("acme", file.to_string())
            .err()
            .unwrap()
            .to_string();
        assert!(
            refused.starts_with(r"the pattern has `\X` at byte 0"),
            "{refused}"
        );
    }

    #[test]
    fn what_looks_like_an_added_token_is_text() {
        assert_eq!(encoding(&word_pieces("[UNK]")).counter().count("[UNK]"), 3);
    }

    #[test]
    fn tokens_belong_to_the_span_of_their_first_byte() {
        let counter = encoding(&word_pieces("[UNK]")).counter();
        let span = |end, component, control| ComponentSpan {
            end,
            component,
            speaker: Speaker::Other,
            control,
            requests: 1,
            written: false,
            answer: None,
        };
        let spans = [
            span(5, Component::Names, false),
            span(9, Component::Framing, true),
            span(20, Component::Content, false),
        ];
        // mill ##er | <|x> | grind mill ##s
        let token_counts = counter.token_counts("Mille<|x>grind mills", &spans);
        assert_eq!(token_counts.parts.to_array(), [3, 1, 1, 0, 0, 0]);
        assert_eq!((token_counts.tokens, token_counts.sent), (5, 5));
    }

    #[test]
    fn a_file_without_a_token_for_the_unknown_is_refused() {
        let file = word_pieces("[NONE]").to_string();
        let refused = Encoding::from_tokenizer("acme", &file).err().unwrap().to_string();
        assert!(
            refused.starts_with("the `tokenizers` crate refuses it"),
            "{refused}"
        );
    }

    proptest! {
        #![proptest_config(chatmill_drawn::law(64))]

        #[test]
        fn files_that_are_read_as_ranks_count_as_the_crate_does(text in "([a-zA-Z0-9' .,!\\n]|\\PC){0,80}") {
            for (encoding, _) in BOTH.iter() {
                prop_assert_eq!(Some(encoding.counter().count(&text)), encoding.reference().count(&text));
            }
        }
    }
}
