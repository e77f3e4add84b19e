//! Adds up the chunks of a rendering: the tokens of each span, for all encodings that are counted together.

use std::ops::Range;

use chatmill_model::span::ComponentSpan;

use super::chunk_counter::ChunkCounter;
use super::chunks::{Counts, MAX_ENCODINGS_PER_GROUP, PackedCounts};
use crate::counter::{AFTER_LAST_SPAN, TokenCounts};

/// A number for each encoding.
type EachEncoding = [u64; MAX_ENCODINGS_PER_GROUP];

/// Sums tokens in each encoding, chunk by chunk.
#[derive(Default)]
pub(super) struct Sum {
    tokens: EachEncoding,
    /// Counts of the last chunks, not yet added to the tokens.
    counts: Counts,
    /// The number of chunks in `counts`.
    chunks: u32,
}

impl Sum {
    /// Adds tokens of each encoding.
    #[inline]
    pub(super) fn tokens(&mut self, tokens: EachEncoding) {
        for (sum, more) in self.tokens.iter_mut().zip(tokens) {
            *sum += more;
        }
    }

    /// Adds the tokens of a short chunk.
    #[inline]
    pub(super) fn short(&mut self, lanes: PackedCounts) {
        self.counts.add(lanes.counts());
        self.chunks += 1;
        if self.chunks == Counts::MAX_CHUNKS {
            self.add_up();
        }
    }

    /// Adds the tokens of a long chunk.
    pub(super) fn long(&mut self, bytes: usize, words: &[u64]) {
        let of_each = words.chunks(ChunkCounter::words_for(bytes));
        for (sum, begin) in self.tokens.iter_mut().zip(of_each) {
            *sum += begin.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
    }

    fn add_up(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        self.tokens(std::array::from_fn(|encoding| counts.of(encoding)));
        self.chunks = 0;
    }

    /// Returns everything that was added since the last call.
    pub(super) fn take(&mut self) -> EachEncoding {
        self.add_up();
        std::mem::take(&mut self.tokens)
    }
}

/// Adds chunks to the spans of a rendering.
pub(super) struct Accumulator<'s> {
    spans: &'s [ComponentSpan],
    /// The index of the current span.
    here: usize,
    /// The end of the current span, in bytes.
    end: usize,
    /// Tokens of the current span that are not yet in the totals.
    sum: Sum,
    totals: &'s mut [TokenCounts],
    /// For each encoding the tokens of each span and of the bytes after the last one; empty unless requested.
    each: Vec<Vec<u64>>,
}

impl<'s> Accumulator<'s> {
    pub(super) fn new(spans: &'s [ComponentSpan], totals: &'s mut [TokenCounts]) -> Self {
        let mut new = Self {
            end: 0,
            spans,
            here: 0,
            sum: Sum::default(),
            totals,
            each: Vec::new(),
        };
        new.end = new.span().end;
        new
    }

    /// Requests the tokens of each span as well.
    pub(super) fn with_spans(self) -> Self {
        let each = vec![vec![0; self.spans.len() + 1]; self.totals.len()];
        Self { each, ..self }
    }

    /// The current span, or [`AFTER_LAST_SPAN`] after the last one.
    fn span(&self) -> &'s ComponentSpan {
        self.spans.get(self.here).unwrap_or(&AFTER_LAST_SPAN)
    }

    /// Moves to the span that contains a byte. The bytes of successive calls never decrease.
    fn go_to(&mut self, byte: usize) {
        if byte < self.end {
            return;
        }
        self.flush();
        while self.spans.get(self.here).is_some_and(|span| span.end <= byte) {
            self.here += 1;
        }
        self.end = self.span().end;
    }

    /// Adds the tokens of the current span to the totals.
    fn flush(&mut self) {
        let tokens = self.sum.take();
        let span = self.span();
        for (totals, tokens) in self.totals.iter_mut().zip(tokens) {
            totals.book_many(span, tokens);
        }
        for (each, tokens) in self.each.iter_mut().zip(tokens) {
            if let Some(sum) = each.get_mut(self.here) {
                *sum += tokens;
            }
        }
    }

    /// Adds what is left, and returns the tokens of each span if they were requested.
    pub(super) fn finish(mut self) -> Vec<Vec<u64>> {
        self.flush();
        self.each
    }

    /// Adds tokens to the span that contains a byte.
    #[inline]
    pub(super) fn tokens(&mut self, byte: usize, tokens: EachEncoding) {
        self.go_to(byte);
        self.sum.tokens(tokens);
    }

    /// Adds the tokens of a short chunk.
    #[inline]
    pub(super) fn short(&mut self, chunk: &Range<usize>, mut lanes: PackedCounts) {
        let mut start = chunk.start;
        self.go_to(start);
        // A chunk may cross the ends of spans: each token counts for the span of its first byte.
        while chunk.end > self.end {
            let (before, after) = lanes.divide(self.end - chunk.start);
            self.sum.short(before);
            lanes = after;
            start = self.end;
            self.go_to(start);
        }
        self.sum.short(lanes);
    }

    /// Adds the tokens of a long chunk.
    pub(super) fn long(&mut self, chunk: &Range<usize>, words: &[u64]) {
        let mut start = chunk.start;
        while start < chunk.end {
            self.go_to(start);
            let end = self.end.min(chunk.end);
            let part = start - chunk.start..end - chunk.start;
            let mut tokens = EachEncoding::default();
            let of_each = words.chunks(ChunkCounter::words_for(chunk.len()));
            for (tokens, begin) in tokens.iter_mut().zip(of_each) {
                *tokens = ones_in(begin, &part);
            }
            self.sum.tokens(tokens);
            start = end;
        }
    }
}

/// The number of set bits in a range of bits.
fn ones_in(words: &[u64], range: &Range<usize>) -> u64 {
    let mut ones = 0;
    for (number, word) in words.iter().enumerate() {
        let first = number * 64;
        let from = range.start.clamp(first, first + 64) - first;
        let to = range.end.clamp(first, first + 64) - first;
        if from < to {
            let part = u64::MAX >> (64 - (to - from)) << from;
            ones += u64::from((word & part).count_ones());
        }
    }
    ones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_within_a_range_over_words() {
        let words = [u64::MAX, 0b1011, 1 << 63];
        for (range, expected) in [
            (0..0, 0),
            (0..64, 64),
            (3..64, 61),
            (63..66, 3),
            (64..192, 4),
            (66..67, 0),
            (191..192, 1),
            (0..192, 68),
        ] {
            assert_eq!(ones_in(&words, &range), expected, "{range:?}");
        }
    }
}
