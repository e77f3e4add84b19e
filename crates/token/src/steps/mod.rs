//! The steps that a tokenizer file takes before it merges: normalise the whole text, then cut it again and again.
//!
//! They are computed as they are written, on whole texts. Counts that go a shorter way are held against this one.

pub(crate) mod aligned;
pub(crate) mod byte_alphabet;
pub(crate) mod normalizer;
pub(crate) mod pre_tokenizer;

use std::sync::Arc;

use self::aligned::Aligned;
use self::normalizer::Normalizer;
use self::pre_tokenizer::PreTokenizer;

/// The steps, in order.
#[derive(Default)]
pub(crate) struct Steps {
    /// Shared with those who take nothing but these.
    pub(crate) normalizers: Arc<[Normalizer]>,
    pub(crate) pre_tokenizers: Vec<PreTokenizer>,
}

impl Steps {
    /// The pieces of a text that begins at a byte of a rendering.
    pub(crate) fn pieces(&self, text: &str, begins: usize) -> Aligned {
        let whole = self
            .normalizers
            .iter()
            .fold(Aligned::of(text), |text, normalizer| normalizer.apply(&text));
        self.pre_tokenizers
            .iter()
            .fold(whole.in_one_piece(), |text, step| step.apply(text, begins))
    }

    /// Whether each normalizer is a form, so that a text may be normalised already.
    pub(crate) fn are_forms(&self) -> bool {
        let mut all = self.normalizers.iter();
        all.all(|normalizer| matches!(normalizer, Normalizer::Form(_)))
    }

    /// Whether a text is normalised already.
    pub(crate) fn leave(&self, text: &str) -> bool {
        self.normalizers.iter().all(|normalizer| normalizer.leaves(text))
    }
}
