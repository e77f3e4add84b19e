//! Counts with the steps of a tokenizer file: whole texts, normalised and cut before they are merged.

use std::sync::Arc;

use chatmill_model::span::ComponentSpan;

use crate::bpe::tables::Tables;
use crate::counter::{Counter, SpanCounter};
use crate::split::part;
use crate::steps::Steps;

/// The steps of a file, and the tables that merge the pieces.
pub(crate) struct Native {
    pub(crate) name: Box<str>,
    pub(crate) steps: Arc<Steps>,
    pub(crate) tables: Arc<Tables>,
}

impl Native {
    /// Whether the steps leave a text unchanged.
    pub(crate) fn leaves(&self, text: &str) -> bool {
        self.steps.leave(text)
    }

    /// Calls `token` with the byte at which each token of a text begins, in order; the text begins at the byte `begins` of a rendering.
    fn each_token(&self, text: &str, begins: usize, mut token: impl FnMut(usize)) {
        let changed = self.steps.pieces(text, begins);
        for piece in &changed.pieces {
            let mut at = piece.start;
            let words = part(changed.text.as_str(), piece.clone());
            self.tables.each_token(words, |bytes| {
                token(changed.origin(at) as usize);
                at += bytes;
            });
        }
    }
}

impl Counter for Native {
    fn name(&self) -> &str {
        &self.name
    }

    fn count_spans(&self, text: &str, spans: &[ComponentSpan]) -> Vec<u64> {
        SpanCounter::of_parts(text, spans, |counter, text, begins| {
            self.each_token(text, begins, |start| counter.token_at(begins + start));
        })
    }
}
