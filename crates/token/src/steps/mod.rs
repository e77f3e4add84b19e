//! The steps of a tokenizer file before the merges: normalise the whole text, then cut it in one step after the other.
//!
//! The steps are computed as written, on whole texts, and keep the origin of every byte (`aligned`). `encoding` uses them for counts that
//! have no shorter way, and as the reference against which shorter ways are tested.

pub(crate) mod aligned;
pub(crate) mod byte_alphabet;
pub(crate) mod normalizer;
pub(crate) mod pre_tokenizer;

use std::sync::Arc;

use self::aligned::Aligned;
use self::normalizer::Normalizer;
use self::pre_tokenizer::PreTokenizer;

/// The steps of a file, in order.
#[derive(Default)]
pub(crate) struct Steps {
    /// Shared with counters that take only these.
    pub(crate) normalizers: Arc<[Normalizer]>,
    pub(crate) pre_tokenizers: Vec<PreTokenizer>,
}

impl Steps {
    /// The pieces of a text that begins at the byte `begins` of a rendering.
    pub(crate) fn pieces(&self, text: &str, begins: usize) -> Aligned {
        let whole = self
            .normalizers
            .iter()
            .fold(Aligned::of(text), |text, normalizer| normalizer.apply(&text));
        self.pre_tokenizers
            .iter()
            .fold(whole.in_one_piece(), |text, step| step.apply(text, begins))
    }

    /// Whether each normalizer is a Unicode form, so that a text may already be normalised.
    pub(crate) fn are_forms(&self) -> bool {
        let mut all = self.normalizers.iter();
        all.all(|normalizer| matches!(normalizer, Normalizer::Form(_)))
    }

    /// Whether a text is already normalised.
    pub(crate) fn leave(&self, text: &str) -> bool {
        self.normalizers.iter().all(|normalizer| normalizer.leaves(text))
    }
}
