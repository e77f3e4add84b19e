//! The counter of every encoding: it splits a text, looks each piece up, and merges the pieces that are not tokens.

use std::sync::{Arc, Mutex, PoisonError};

use chatmill_model::span::ComponentSpan;

use crate::bpe::merge::Merger;
use crate::bpe::vocabulary::Vocabulary;
use crate::counter::{Counter, SpanCounter};
use crate::split::prefix::Prefix;
use crate::split::splitter::{SplitCache, Splitter};
use crate::split::sync::{BLANK, BoundaryClasses};

/// A pool of values that threads borrow: each value is in use by one thread at a time, or idle.
pub(crate) struct Pool<T>(pub(crate) Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> Pool<T> {
    /// Calls `work` with an idle value, or with a new one if none is idle.
    pub(crate) fn with<R>(&self, new: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = idle().pop();
        let mut value = value.unwrap_or_else(new);
        let result = work(&mut value);
        idle().push(value);
        result
    }
}

/// Loaded once per vocabulary; encodings that differ only in special tokens share it.
pub(crate) struct Tables {
    pub(crate) splitter: Splitter,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) boundaries: BoundaryClasses,
    /// The space that is added before a text.
    pub(crate) prefix: Prefix,
    scratch: Pool<Scratch>,
}

/// The buffers of one running count; no two threads share one, nor two vocabularies.
#[derive(Default)]
pub(crate) struct Scratch {
    cache: SplitCache,
    merger: Merger,
}

impl Tables {
    pub(crate) fn new(splitter: Splitter, vocabulary: Vocabulary, boundaries: BoundaryClasses) -> Self {
        Self {
            splitter,
            vocabulary,
            boundaries,
            prefix: Prefix::None,
            scratch: Pool::default(),
        }
    }

    /// Calls `token` with the length in bytes of each token of `text`, in order.
    pub(crate) fn each_token(&self, text: &str, token: impl FnMut(usize)) {
        self.scratch.with(Scratch::default, |scratch| {
            self.each_token_with(scratch, text, token);
        });
    }

    /// The same for a text that begins at the byte `begins` of a rendering; a space that is added before it has no bytes.
    pub(crate) fn each_token_at(&self, text: &str, begins: usize, mut token: impl FnMut(usize)) {
        if text.is_empty() || !self.prefix.is_put(text.starts_with([' ', BLANK]), begins) {
            return self.each_token(text, token);
        }
        let mut thought = 1;
        self.each_token(&format!(" {text}"), |bytes| {
            token(bytes - std::mem::take(&mut thought));
        });
    }

    /// Whether there are places at which every text may be cut.
    pub(crate) fn may_be_cut(&self) -> bool {
        self.boundaries != BoundaryClasses::NONE || self.vocabulary.has_neighbours
    }

    /// The same with the caller's buffers.
    pub(crate) fn each_token_with(&self, scratch: &mut Scratch, text: &str, mut token: impl FnMut(usize)) {
        let Scratch { cache, merger } = scratch;
        self.splitter.each(cache, text, |piece| {
            self.vocabulary.each_token(merger, piece, &mut token);
        });
    }

    /// The bytes at which the pieces of a text begin, a bit each; the text is not longer than [`SHORT_PIECE_BYTES`](crate::bpe::merge::SHORT_PIECE_BYTES).
    pub(crate) fn pieces(&self, scratch: &mut Scratch, text: &str) -> u64 {
        let (mut bits, mut at) = (0, 0);
        self.splitter.each(&mut scratch.cache, text, |piece| {
            bits |= 1 << at;
            at += piece.len();
        });
        bits
    }
}

/// An encoding as a counter.
pub(crate) struct Bpe {
    pub(crate) name: Box<str>,
    pub(crate) tables: Arc<Tables>,
}

impl Counter for Bpe {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> u64 {
        let mut tokens = 0;
        self.tables.each_token_at(text, 0, |_| tokens += 1);
        tokens
    }

    fn count_spans(&self, text: &str, spans: &[ComponentSpan]) -> Vec<u64> {
        SpanCounter::of_parts(text, spans, |counter, text, begins| {
            self.tables
                .each_token_at(text, begins, |bytes| counter.token(bytes));
        })
    }
}
