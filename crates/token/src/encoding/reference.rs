//! Reference implementations, against which counts are checked.

use std::sync::{Arc, OnceLock};

use chatmill_model::span::ComponentSpan;
use tiktoken_rs::CoreBPE;

use crate::bpe::model::Model;
use crate::files::ranks::Ranks;
use crate::split::part;
use crate::split::parts::{TextOrControl, each_part};
use crate::steps::Steps;

/// The number of bytes of white space in a row from which the reference is not asked: on much longer runs it panics.
const MAX_BLANK_BYTES: usize = 100_000;

/// The reference for an encoding; clones share it.
#[derive(Clone)]
pub struct ReferenceTokenizer(Implementation);

#[derive(Clone)]
enum Implementation {
    /// tiktoken-rs with the tokens of an encoding of the registry.
    Embedded(&'static CoreBPE),
    /// tiktoken-rs with the ranks and the pattern of a user.
    CustomEncoding(Arc<CustomReference>),
    /// All steps of a tokenizer file as written, and its merges one by one.
    Merging(Arc<Merging>),
    /// The `tokenizers` crate.
    #[cfg(feature = "tokenizers")]
    Tokenizer(Arc<crate::files::hugging_face::Crate>),
}

/// The steps and the model of a tokenizer file.
pub(crate) struct Merging {
    pub(crate) model: Model,
    pub(crate) steps: Arc<Steps>,
}

impl Merging {
    /// The bytes at which the tokens of a text begin; the text itself begins at the byte `begins` of a rendering. `None` if a piece is too
    /// long.
    fn starts(&self, text: &str, begins: usize) -> Option<Vec<usize>> {
        let changed = self.steps.pieces(text, begins);
        if changed.pieces.iter().any(|piece| piece.len() > MAX_MERGED_BYTES) {
            return None;
        }
        let pieces = changed.pieces.iter().flat_map(|piece| {
            let starts = self.model.starts(part(changed.text.as_str(), piece.clone()));
            starts
                .into_iter()
                .map(|start| changed.origin(piece.start + start) as usize)
        });
        Some(pieces.collect())
    }
}

/// The length in bytes of the longest piece that is merged this way, which takes time with its square.
const MAX_MERGED_BYTES: usize = 50_000;

struct CustomReference {
    ranks: Ranks,
    pattern: String,
    loaded: OnceLock<Option<CoreBPE>>,
}

impl ReferenceTokenizer {
    pub(crate) const fn embedded(reference: &'static CoreBPE) -> Self {
        Self(Implementation::Embedded(reference))
    }

    /// tiktoken-rs with these ranks and the pattern as published; built when it is first asked.
    pub(crate) fn own(ranks: Ranks, pattern: String) -> Self {
        Self(Implementation::CustomEncoding(Arc::new(CustomReference {
            ranks,
            pattern,
            loaded: OnceLock::new(),
        })))
    }

    pub(crate) fn merging(merging: Arc<Merging>) -> Self {
        Self(Implementation::Merging(merging))
    }

    #[cfg(feature = "tokenizers")]
    pub(crate) fn tokenizer(tokenizer: Arc<crate::files::hugging_face::Crate>) -> Self {
        Self(Implementation::Tokenizer(tokenizer))
    }

    /// The encoder of tiktoken-rs, if it can compute the pattern.
    pub(crate) fn core_bpe(&self) -> Option<&CoreBPE> {
        match &self.0 {
            Implementation::Embedded(reference) => Some(reference),
            Implementation::CustomEncoding(own) => own.loaded.get_or_init(|| own.load()).as_ref(),
            Implementation::Merging(_) => None,
            #[cfg(feature = "tokenizers")]
            Implementation::Tokenizer(_) => None,
        }
    }

    /// Counts the tokens of a text as ordinary text; `None` if the reference cannot take the text.
    pub fn count(&self, text: &str) -> Option<u64> {
        self.count_at(text, 0)
    }

    fn count_at(&self, text: &str, begins: usize) -> Option<u64> {
        match &self.0 {
            Implementation::Merging(merging) => Some(merging.starts(text, begins)?.len() as u64),
            _ if is_blank(text) => None,
            #[cfg(feature = "tokenizers")]
            Implementation::Tokenizer(tokenizer) => Some(tokenizer.count_at(text, begins)),
            _ => Some(self.core_bpe()?.encode_ordinary(text).len() as u64),
        }
    }

    /// Calls `token` with the byte at which each token of a text begins; the text itself begins at the byte `begins` of a rendering.
    /// Returns false, without a call, if the reference cannot take the text.
    pub(crate) fn each_token(&self, text: &str, begins: usize, mut token: impl FnMut(usize)) -> bool {
        if let Implementation::Merging(merging) = &self.0 {
            let starts = merging.starts(text, begins);
            return starts.map(|starts| starts.into_iter().for_each(token)).is_some();
        }
        let Some(reference) = self.core_bpe().filter(|_| !is_blank(text)) else {
            return false;
        };
        let mut start = 0;
        for rank in reference.encode_ordinary(text) {
            token(start);
            // The reference returned this rank itself, so it has bytes.
            start += reference.decode_bytes(&[rank]).map_or(0, |bytes| bytes.len());
        }
        true
    }

    /// Counts the tokens of a rendering by the definition of [`Counter`](crate::Counter): a control span is one token, and a boundary.
    /// `None` if the reference cannot take a part.
    pub fn tokens(&self, text: &str, spans: &[ComponentSpan]) -> Option<u64> {
        let mut tokens = Some(0);
        each_part(text, spans, |begins, fragment| {
            let more = match fragment {
                TextOrControl::Text(text) => self.count_at(text, begins),
                TextOrControl::Control(_) => Some(1),
            };
            tokens = tokens.zip(more).map(|(tokens, more)| tokens + more);
        });
        tokens
    }
}

/// Whether a text has a run of white space that is too long for the reference.
fn is_blank(text: &str) -> bool {
    let mut blanks = 0;
    text.chars().any(|character| {
        blanks = if character.is_whitespace() {
            blanks + character.len_utf8()
        } else {
            0
        };
        blanks > MAX_BLANK_BYTES
    })
}

impl CustomReference {
    fn load(&self) -> Option<CoreBPE> {
        let ranks = self.ranks.tokens().iter().cloned().collect();
        CoreBPE::new(ranks, rustc_hash::FxHashMap::default(), &self.pattern).ok()
    }
}

/// The encoder that tiktoken-rs embeds for an encoding of the registry, with its own copy of the vocabulary.
#[cfg(test)]
pub(crate) fn judge(encoding: &str) -> &'static CoreBPE {
    match encoding {
        "o200k_harmony" => tiktoken_rs::o200k_harmony_singleton(),
        "o200k_base" => tiktoken_rs::o200k_base_singleton(),
        "cl100k_base" => tiktoken_rs::cl100k_base_singleton(),
        "p50k_base" => tiktoken_rs::p50k_base_singleton(),
        "r50k_base" => tiktoken_rs::r50k_base_singleton(),
        _ => panic!("tiktoken-rs has no {encoding}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ENCODINGS;

    #[test]
    fn the_reference_agrees_with_every_counter() {
        for encoding in ENCODINGS {
            for text in [
                "",
                "It's 12345 o'clock.\n\n  Привіт, 世界! <|endoftext|>",
                "a  b\t\n c",
            ] {
                let count = encoding.reference().count(text);
                assert_eq!(count, Some(encoding.counter().count(text)));
                assert_eq!(count, Some(judge(encoding.name()).count_ordinary(text) as u64));
            }
        }
    }

    #[test]
    fn the_reference_is_not_asked_about_endless_white_space() {
        let reference = ENCODINGS[0].reference();
        assert!(reference.count(&" ".repeat(1_000)).is_some());
        assert_eq!(reference.count(&" ".repeat(MAX_BLANK_BYTES + 1)), None);
    }
}
