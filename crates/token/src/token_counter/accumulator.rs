//! What chunks of a rendering are added to: the tokens of each span, for all encodings that are counted together.

use std::ops::Range;

use chatmill_model::span::ComponentSpan;

use super::chunk_counter::ChunkCounter;
use super::chunks::{Counts, MAX_ENCODINGS_PER_GROUP, PackedCounts};
use crate::counter::{BEHIND, TokenCounts};

/// What chunks are added to.
pub(super) struct Accumulator<'s> {
    spans: &'s [ComponentSpan],
    /// Number of the span in which counting goes on.
    here: usize,
    /// Where that span ends.
    end: usize,
    /// Counted for that span by number, and not yet added.
    sums: [u64; MAX_ENCODINGS_PER_GROUP],
    /// Counted for that span chunk by chunk, and not yet added.
    counts: Counts,
    /// Chunks in these counts.
    chunks: u32,
    totals: &'s mut [TokenCounts],
    /// By encoding, the tokens of each span and of what is behind the last; empty where nobody asks for them.
    pub(super) each: Vec<Vec<u64>>,
}

impl<'s> Accumulator<'s> {
    pub(super) fn new(spans: &'s [ComponentSpan], totals: &'s mut [TokenCounts]) -> Self {
        let mut new = Self {
            end: 0,
            spans,
            here: 0,
            sums: [0; MAX_ENCODINGS_PER_GROUP],
            counts: Counts::default(),
            chunks: 0,
            totals,
            each: Vec::new(),
        };
        new.end = new.span().end;
        new
    }

    /// Counts span by span, too.
    pub(super) fn with_spans(self) -> Self {
        let each = vec![vec![0; self.spans.len() + 1]; self.totals.len()];
        Self { each, ..self }
    }

    /// The span at hand: one of the rendering's, or what is behind the last.
    fn span(&self) -> &'s ComponentSpan {
        self.spans.get(self.here).unwrap_or(&BEHIND)
    }

    /// Adds tokens of one encoding for the span at hand.
    #[expect(clippy::indexing_slicing, reason = "there is a count for each encoding")]
    fn add_to_span(&mut self, encoding: usize, tokens: u64) {
        let span = self.span();
        self.totals[encoding].book_many(span, tokens);
        if let Some(sum) = self
            .each
            .get_mut(encoding)
            .and_then(|each| each.get_mut(self.here))
        {
            *sum += tokens;
        }
    }

    /// Goes on to the span that holds a byte. Bytes must not go backwards.
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

    /// Adds what has been counted for the span at hand.
    pub(super) fn flush(&mut self) {
        let sums = std::mem::take(&mut self.sums);
        for (encoding, sum) in sums.into_iter().enumerate().take(self.totals.len()) {
            let tokens = sum + self.counts.of(encoding);
            if tokens > 0 {
                self.add_to_span(encoding, tokens);
            }
        }
        self.counts = Counts::default();
        self.chunks = 0;
    }

    /// Adds tokens to the span that holds a byte.
    #[inline]
    pub(super) fn tokens(&mut self, byte: usize, tokens: [u64; MAX_ENCODINGS_PER_GROUP]) {
        self.go_to(byte);
        for (sum, more) in self.sums.iter_mut().zip(tokens) {
            *sum += more;
        }
    }

    /// Adds the tokens of a short chunk.
    #[inline]
    pub(super) fn short(&mut self, chunk: &Range<usize>, mut lanes: PackedCounts) {
        let mut start = chunk.start;
        self.go_to(start);
        // A chunk may reach over the ends of spans: each of its tokens is counted by its first byte.
        while chunk.end > self.end {
            let (before, after) = lanes.divide(self.end - chunk.start);
            self.add(before);
            lanes = after;
            start = self.end;
            self.go_to(start);
        }
        self.add(lanes);
    }

    fn add(&mut self, lanes: PackedCounts) {
        self.counts.add(lanes.counts());
        self.chunks += 1;
        if self.chunks == Counts::MAX_CHUNKS {
            self.flush();
        }
    }

    /// Adds the tokens of a long chunk.
    pub(super) fn long(&mut self, chunk: &Range<usize>, words: &[u64]) {
        let mut start = chunk.start;
        while start < chunk.end {
            self.go_to(start);
            let end = self.end.min(chunk.end);
            let part = start - chunk.start..end - chunk.start;
            let of_each = words.chunks(ChunkCounter::words_for(chunk.len()));
            for (encoding, begin) in of_each.enumerate() {
                self.add_to_span(encoding, ones_in(begin, &part));
            }
            start = end;
        }
    }
}

/// Bits that are set in a range of bits.
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
