//! Counts renderings in many encodings at once, at the cost of the text that is new.
//!
//! A dozen dialects repeat the same contents in different envelopes. The inside of a long fragment, between its first and its last [sync
//! point](crate::split::sync), has the same tokens in every text that contains it, so it is counted once and remembered. Only the gaps
//! between such insides are counted in each rendering, cut at sync points into chunks, and the tokens of chunks are remembered too.
//!
//! Every memory belongs to one thread and holds at most a fixed number of bytes (for each [`MAX_ENCODINGS_PER_GROUP`] encodings: 6 MiB of
//! short chunks, and twice 8 MiB of long texts). A memory never changes a count, only its cost. An encoding without sync points is counted
//! on whole texts.

mod accumulator;
mod chunk_counter;
mod chunks;
mod memory;
mod pieces;
pub(crate) mod shared;

use std::ops::Range;
use std::sync::Arc;

use chatmill_model::Sink;
use chatmill_model::span::{Component, ComponentSpan};

use self::accumulator::{Accumulator, Sum};
use self::chunk_counter::{Beginnings, ChunkCounter};
use self::chunks::MAX_ENCODINGS_PER_GROUP;
use self::memory::Memory;
use self::pieces::{GapKey, KnownPiece, MAX_GAP_PARTS, PartNumber, PartTokens, Pieces};
use crate::bpe::tables::Tables;
use crate::counter::{AFTER_LAST_SPAN, Counter, TokenCounts};
use crate::encoding::Encoding;
use crate::encoding::native::Native;
use crate::split::join_points::JoinPoints;
use crate::split::part;
use crate::split::prefix::Prefix;
use crate::split::sync::{BoundaryClasses, SyncPoints};

/// The length in bytes of the longest piece that is remembered, since [`KnownPiece`] holds 32-bit numbers; longer pieces are gaps.
const MAX_KNOWN_BYTES: usize = u32::MAX as usize;

/// The length in bytes from which the inside of a fragment is remembered.
const LONG_RUN_BYTES: usize = 64;

/// Counts tokens in a fixed list of encodings; belongs to one thread.
pub struct TokenCounter {
    /// Groups of at most [`MAX_ENCODINGS_PER_GROUP`] vocabularies.
    batches: Vec<Batch>,
    /// The counter of each encoding.
    places: Vec<CountedBy>,
    /// The counts of each vocabulary, batch by batch.
    counted: Vec<TokenCounts>,
}

/// The counter of an encoding.
enum CountedBy {
    /// A vocabulary in the batches, by number; the native counter takes the texts that its normalizer changes.
    Batch(usize, Option<Arc<Native>>),
    /// A separate counter, on whole texts.
    Whole(Arc<dyn Counter>),
}

impl TokenCounter {
    /// Makes a counter for these encodings, in this order.
    pub fn new(encodings: &[Encoding]) -> Self {
        let mut known: Vec<Arc<Tables>> = Vec::new();
        let mut places = Vec::with_capacity(encodings.len());
        for encoding in encodings {
            let tables = encoding.tables().filter(|tables| tables.may_be_cut());
            places.push(match tables {
                None => CountedBy::Whole(encoding.counter()),
                Some(tables) => {
                    // Encodings that differ only in special tokens are counted once.
                    let number = known.iter().position(|other| Arc::ptr_eq(other, tables));
                    let number = number.unwrap_or_else(|| {
                        known.push(Arc::clone(tables));
                        known.len() - 1
                    });
                    CountedBy::Batch(number, encoding.normalised().cloned())
                }
            });
        }
        // A vocabulary that is cut only between neighbours shares no chunks with others.
        let is_alone = |tables: &Arc<Tables>| tables.vocabulary.has_neighbours;
        let groups: Vec<&[Arc<Tables>]> = known
            .chunk_by(|one, other| !is_alone(one) && !is_alone(other))
            .flat_map(|group| group.chunks(MAX_ENCODINGS_PER_GROUP))
            .collect();
        Self {
            batches: groups.into_iter().map(Batch::new).collect(),
            counted: vec![TokenCounts::default(); known.len()],
            places,
        }
    }

    /// Makes a counter that asks these counters about every text, and remembers nothing.
    pub fn of_counters(counters: Vec<Arc<dyn Counter>>) -> Self {
        Self {
            batches: Vec::new(),
            places: counters.into_iter().map(CountedBy::Whole).collect(),
            counted: Vec::new(),
        }
    }

    /// The tokens of a rendering in each encoding, divided by component as [`Counter::token_counts`](crate::Counter::token_counts) does.
    pub fn token_counts(&mut self, text: &str, spans: &[ComponentSpan]) -> Vec<TokenCounts> {
        self.each_batch(|batch, counted| {
            batch.count_text(text, spans, Accumulator::new(spans, counted));
        });
        self.of_each(text, &self.counted, |counter| counter.token_counts(text, spans))
            .collect()
    }

    /// Counts the rendering that a sink holds, in each encoding: equal to [`token_counts`](Self::token_counts) of its text and spans, at
    /// the cost of the pieces that were not counted before.
    pub fn count_sink(&mut self, sink: &Sink<'_>, counts_by_encoding: &mut Vec<TokenCounts>) {
        self.each_batch(|batch, counted| {
            batch.count_sink(sink, Accumulator::new(sink.spans(), counted));
        });
        counts_by_encoding.clear();
        counts_by_encoding.extend(self.of_each(sink.text(), &self.counted, |counter| {
            counter.token_counts(sink.text(), sink.spans())
        }));
    }

    /// The tokens of each span of the rendering that a sink holds, and of the bytes after the last one, in each encoding.
    pub fn count_spans(&mut self, sink: &Sink<'_>) -> Vec<Vec<u64>> {
        let mut of_batches = Vec::new();
        self.each_batch(|batch, counted| {
            of_batches.extend(batch.count_sink(sink, Accumulator::new(sink.spans(), counted).with_spans()));
        });
        self.of_each(sink.text(), &of_batches, |counter| {
            counter.count_spans(sink.text(), sink.spans())
        })
        .collect()
    }

    /// Calls `count` with each batch and the totals of its vocabularies.
    fn each_batch(&mut self, mut count: impl FnMut(&mut Batch, &mut [TokenCounts])) {
        let mut rest = self.counted.as_mut_slice();
        for batch in &mut self.batches {
            let (counted, others) = rest.split_at_mut(batch.counter.encodings());
            rest = others;
            counted.fill(TokenCounts::default());
            count(batch, counted);
        }
    }

    /// The result of each encoding: the count of its vocabulary, or that of its separate counter.
    fn of_each<T: Clone>(
        &self,
        text: &str,
        batched: &[T],
        whole: impl Fn(&dyn Counter) -> T,
    ) -> impl Iterator<Item = T> {
        self.places.iter().map(move |place| match place {
            CountedBy::Batch(_, Some(native)) if !native.leaves(text) => whole(native.as_ref()),
            #[expect(clippy::indexing_slicing, reason = "every vocabulary was counted")]
            CountedBy::Batch(number, _) => batched[*number].clone(),
            CountedBy::Whole(counter) => whole(counter.as_ref()),
        })
    }

    /// The tokens of a text in each encoding.
    pub fn count(&mut self, text: &str) -> Vec<u64> {
        let whole = [ComponentSpan {
            end: text.len(),
            component: Component::Content,
            ..AFTER_LAST_SPAN
        }];
        let counts_by_encoding = self.token_counts(text, &whole);
        counts_by_encoding
            .into_iter()
            .map(|token_counts| token_counts.tokens)
            .collect()
    }
}

/// Up to [`MAX_ENCODINGS_PER_GROUP`] vocabularies that are counted together.
struct Batch {
    points: SyncPoints,
    counter: ChunkCounter,
    insides: Memory,
    pieces: Pieces,
    /// The tables for the beginning of a text, in a vocabulary that adds a space before it.
    beginning: Option<Arc<Tables>>,
}

/// The fragment between the first and the last sync point of a text, and its tokens in each encoding. Empty without two such points.
struct Inside {
    first: usize,
    last: usize,
    counts: [u64; MAX_ENCODINGS_PER_GROUP],
}

impl Batch {
    fn new(tables: &[Arc<Tables>]) -> Self {
        let all = tables.iter().map(|tables| tables.boundaries);
        let common = all.reduce(BoundaryClasses::both).unwrap_or(BoundaryClasses::NONE);
        let join_points = tables
            .iter()
            .fold(JoinPoints::of_no_token(), |join_points, tables| {
                join_points.and(&tables.vocabulary.join_points)
            });
        let alone = tables.first().filter(|tables| tables.vocabulary.has_neighbours);
        Self {
            points: match alone {
                Some(tables) => SyncPoints::of_neighbours(tables.vocabulary.join_points.clone()),
                None => SyncPoints::new(common, join_points),
            },
            counter: ChunkCounter::new(tables),
            insides: Memory::default(),
            pieces: Pieces::default(),
            beginning: alone.filter(|tables| tables.prefix != Prefix::None).cloned(),
        }
    }

    fn count_sink(&mut self, sink: &Sink<'_>, mut accumulator: Accumulator<'_>) -> Vec<Vec<u64>> {
        let (text, spans) = (sink.text(), sink.spans());
        if self.beginning.is_some() {
            return self.count_text(text, spans, accumulator);
        }
        self.pieces.begin(sink.glue_identity(), sink.text_identity());
        let mut open = OpenGap::at(0);
        let mut start = 0;
        let mut here = 0;
        for run in sink.runs() {
            while spans.get(here).is_some_and(|span| span.end <= start) {
                here += 1;
            }
            if spans.get(here).is_some_and(|span| span.control) {
                self.close_gap(text, start, &open, &mut accumulator);
                accumulator.tokens(start, [1; MAX_ENCODINGS_PER_GROUP]);
                open.begin(run.end);
                start = run.end;
                continue;
            }
            let known = if let Some(known) = self.pieces.get(run.piece, run.end - start) {
                *known
            } else {
                let known = self.analyse(part(text, start..run.end));
                self.pieces.keep(run.piece, known);
                known
            };
            open.push(known.head, start);
            if known.first < known.length {
                self.close_gap(text, start + known.first as usize, &open, &mut accumulator);
                accumulator.tokens(start, known.tokens.map(u64::from));
                open.begin(start + known.last as usize);
                open.push(known.tail, start + known.last as usize);
            }
            start = run.end;
        }
        self.close_gap(text, text.len(), &open, &mut accumulator);
        accumulator.finish()
    }

    /// Counts the parts since the last sync point, up to `end`.
    fn close_gap(&mut self, text: &str, end: usize, open: &OpenGap, accumulator: &mut Accumulator<'_>) {
        if open.number == 0 {
            return;
        }
        if open.is_known {
            let counted;
            let tokens = if let Some(tokens) = self.pieces.gap(&open.key) {
                tokens
            } else {
                counted = self.count_new_gap(text, end, open);
                &counted
            };
            for (start, tokens) in open.starts.iter().zip(tokens).take(open.number) {
                accumulator.tokens(*start, tokens.map(u64::from));
            }
        } else {
            self.gap(text, open.start..end, accumulator);
        }
    }

    /// Counts a gap for the first time.
    #[cold]
    #[expect(clippy::indexing_slicing, reason = "a known gap has a place for each part")]
    fn count_new_gap(&mut self, text: &str, end: usize, open: &OpenGap) -> [PartTokens; MAX_GAP_PARTS] {
        let starts = part(&open.starts, 0..open.number);
        let mut counted = [PartTokens::default(); MAX_GAP_PARTS];
        self.each_beginning(text, open.start..end, |encoding, byte| {
            let part = starts.partition_point(|start| *start <= byte).saturating_sub(1);
            let tokens = &mut counted[part][encoding];
            *tokens = tokens.saturating_add(1);
        });
        self.pieces.keep_gap(open.key, counted);
        counted
    }

    /// Calls `each` with an encoding and a byte at which one of its tokens begins, for all of a fragment that begins and ends at
    /// boundaries.
    fn each_beginning(&mut self, text: &str, range: Range<usize>, mut each: impl FnMut(usize, usize)) {
        self.each_chunk(text, range, |chunk, beginnings| match beginnings {
            Beginnings::Short(lanes) => {
                for encoding in 0..MAX_ENCODINGS_PER_GROUP {
                    each_bit(lanes.begin(encoding), |bit| each(encoding, chunk.start + bit));
                }
            }
            Beginnings::Long(words) => {
                let of_each = words.chunks(ChunkCounter::words_for(chunk.len()));
                for (encoding, words) in of_each.enumerate() {
                    for (number, word) in words.iter().enumerate() {
                        each_bit(*word, |bit| each(encoding, chunk.start + 64 * number + bit));
                    }
                }
            }
        });
    }

    /// Finds the sync points, parts and inner tokens of a piece.
    fn analyse(&mut self, piece: &str) -> KnownPiece {
        let length = piece.len();
        let inside = if length >= LONG_RUN_BYTES {
            self.inside(piece)
        } else {
            let (first, last) = self.points.interior(piece).unwrap_or_default();
            let counts = self.count(piece, first..last);
            Inside { first, last, counts }
        };
        // A sync point is never before the first character, so 0 means that there is none.
        let has_points = inside.last > 0 && length <= MAX_KNOWN_BYTES;
        let (first, last) = if has_points {
            (inside.first, inside.last)
        } else {
            (length, length)
        };
        let bytes = |range| part(piece.as_bytes(), range);
        KnownPiece {
            length: length as u32,
            first: first as u32,
            last: last as u32,
            head: self.pieces.part(bytes(0..first)),
            tail: self.pieces.part(bytes(last..length)),
            tokens: inside.counts.map(|tokens| tokens as u32),
        }
    }

    fn count_text(
        &mut self,
        text: &str,
        spans: &[ComponentSpan],
        mut accumulator: Accumulator<'_>,
    ) -> Vec<Vec<u64>> {
        // Everything before this byte is counted, except for the space that is added before the text that begins there.
        let mut counted_to = 0;
        let mut begins = true;
        let mut start = 0;
        for span in spans {
            let end = span.end.min(text.len());
            if span.control && end > start {
                self.first_gap(text, counted_to..start, begins, &mut accumulator);
                accumulator.tokens(start, [1; MAX_ENCODINGS_PER_GROUP]);
                (counted_to, begins) = (end, true);
            } else if end.saturating_sub(start) >= LONG_RUN_BYTES
                && let Some(fragment) = text.get(start..end)
                && let inside = self.inside(fragment)
                && inside.first < inside.last
            {
                self.first_gap(text, counted_to..start + inside.first, begins, &mut accumulator);
                accumulator.tokens(start, inside.counts);
                (counted_to, begins) = (start + inside.last, false);
            }
            start = end;
        }
        self.first_gap(text, counted_to..text.len(), begins, &mut accumulator);
        accumulator.finish()
    }

    /// Counts a fragment that begins and ends at boundaries; at the beginning of a text, a space may be added before it.
    fn first_gap(
        &mut self,
        text: &str,
        mut range: Range<usize>,
        begins: bool,
        accumulator: &mut Accumulator<'_>,
    ) {
        if let Some(tables) = self.beginning.as_ref().filter(|_| begins) {
            let fragment = part(text, range.clone());
            let first = self
                .points
                .interior(fragment)
                .map_or(fragment.len(), |(first, _)| first);
            let mut at = range.start;
            tables.each_token_at(part(fragment, 0..first), range.start, |bytes| {
                accumulator.tokens(at, [1, 0, 0, 0]);
                at += bytes;
            });
            range.start += first;
        }
        self.gap(text, range, accumulator);
    }

    /// Counts a fragment that begins and ends at boundaries, chunk by chunk.
    fn gap(&mut self, text: &str, range: Range<usize>, accumulator: &mut Accumulator<'_>) {
        self.each_chunk(text, range, |chunk, beginnings| match beginnings {
            Beginnings::Short(lanes) => accumulator.short(chunk, lanes),
            Beginnings::Long(words) => accumulator.long(chunk, words),
        });
    }

    /// Calls `each` with the chunks of a fragment that begins and ends at boundaries, and with the bytes at which their tokens begin.
    fn each_chunk(
        &mut self,
        text: &str,
        range: Range<usize>,
        mut each: impl FnMut(&Range<usize>, Beginnings<'_>),
    ) {
        let fragment = part(text, range.clone());
        let Self { points, counter, .. } = self;
        let mut start = range.start;
        points.each_end(fragment, |end| {
            let chunk = start..range.start + end;
            start = chunk.end;
            each(&chunk, counter.beginnings(text, chunk.clone()));
        });
    }

    /// The inside of a fragment, from memory or counted now.
    fn inside(&mut self, fragment: &str) -> Inside {
        if let Some([first, last, counts @ ..]) = self.insides.get(fragment.as_bytes())
            && let Ok(counts) = counts.try_into()
        {
            return Inside {
                first: *first as usize,
                last: *last as usize,
                counts,
            };
        }
        let (first, last) = self.points.interior(fragment).unwrap_or_default();
        let counts = self.count(fragment, first..last);
        let [a, b, c, d] = counts;
        let words = [first as u64, last as u64, a, b, c, d];
        self.insides.keep(fragment.as_bytes(), &words);
        Inside { first, last, counts }
    }

    /// The tokens of a part of a text that begins and ends at boundaries.
    fn count(&mut self, text: &str, range: Range<usize>) -> [u64; MAX_ENCODINGS_PER_GROUP] {
        let mut sum = Sum::default();
        self.each_chunk(text, range, |chunk, beginnings| match beginnings {
            Beginnings::Short(lanes) => sum.short(lanes),
            Beginnings::Long(words) => sum.long(chunk.len(), words),
        });
        sum.take()
    }
}

/// The parts since the last sync point of a rendering.
struct OpenGap {
    /// The first byte of the gap.
    start: usize,
    /// The number of its parts.
    number: usize,
    /// Whether every part has a number and there is room for all of them.
    is_known: bool,
    key: GapKey,
    /// The first byte of each part.
    starts: [usize; MAX_GAP_PARTS],
}

impl OpenGap {
    /// A gap without parts that begins at a byte.
    fn at(start: usize) -> Self {
        Self {
            start,
            number: 0,
            is_known: true,
            key: GapKey::default(),
            starts: [0; MAX_GAP_PARTS],
        }
    }

    /// Begins the next gap.
    #[inline]
    fn begin(&mut self, start: usize) {
        self.start = start;
        self.number = 0;
        self.is_known = true;
        self.key = GapKey::default();
    }

    #[inline]
    fn push(&mut self, part: PartNumber, start: usize) {
        match self.starts.get_mut(self.number) {
            Some(to) if part.is_some() => {
                *to = start;
                self.key.set(self.number, part);
            }
            _ => self.is_known = false,
        }
        self.number += 1;
    }
}

/// Calls `each` with the index of each bit that is set.
fn each_bit(mut bits: u64, mut each: impl FnMut(usize)) {
    while bits != 0 {
        each(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

#[cfg(test)]
mod tests;
