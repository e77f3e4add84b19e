//! Counts the renderings of a plan, in every encoding at once, at the price of the text that is new.
//!
//! A dozen dialects repeat the same contents in other envelopes. The inside of a long stretch, between its first and its last
//! [sync point](crate::split::sync), has the same tokens wherever it stands: it is counted once and remembered. Only the joints
//! between such insides are counted in each rendering, cut at sync points into chunks whose tokens are remembered too.
//! All memories belong to one thread, hold a fixed number of bytes (for each [`MAX_ENCODINGS_PER_GROUP`] encodings: 6 MiB of short chunks, and twice
//! 8 MiB of long texts) and never change a count, only its price.
//!
//! An encoding without sync points is counted on whole texts.

mod books;
mod chunk_counter;
mod chunks;
mod memory;
mod pieces;

use std::ops::Range;
use std::sync::Arc;

use chatmill_model::Sink;
use chatmill_model::span::{Component, ComponentSpan};

use self::books::Books;
use self::chunk_counter::{Beginnings, ChunkCounter};
use self::chunks::MAX_ENCODINGS_PER_GROUP;
use self::memory::Memory;
use self::pieces::{JointKey, KnownPiece, MAX_JOINT_PARTS, PartNumber, PartTokens, Pieces};
use crate::bpe::tables::Tables;
use crate::counter::{BEHIND, Counter, TokenCounts};
use crate::encoding::Encoding;
use crate::split::join_points::JoinPoints;
use crate::split::part;
use crate::split::sync::{BoundaryClasses, SyncPoints};

/// Bytes of the longest piece of which numbers of 32 bits can say everything; longer ones are joints.
const MAX_KNOWN_BYTES: usize = u32::MAX as usize;

/// Bytes of a stretch from which its inside is remembered.
const LONG_RUN_BYTES: usize = 64;

/// Counts in a fixed list of encodings; belongs to one thread.
pub struct TokenCounter {
    /// At most [`MAX_ENCODINGS_PER_GROUP`] vocabularies each.
    batches: Vec<Batch>,
    /// By encoding: who counts it.
    places: Vec<CountedBy>,
    /// By batch, then by vocabulary.
    counted: Vec<TokenCounts>,
}

/// Who counts an encoding.
enum CountedBy {
    /// The vocabulary of that number.
    Batch(usize),
    /// Its own counter, on whole texts.
    Whole(Arc<dyn Counter>),
}

impl TokenCounter {
    /// A counter for these encodings, in this order.
    pub fn new(encodings: &[Encoding]) -> Self {
        let mut known: Vec<Arc<Tables>> = Vec::new();
        let mut places = Vec::with_capacity(encodings.len());
        for encoding in encodings {
            let tables = encoding
                .tables()
                .filter(|tables| tables.borders != BoundaryClasses::NONE);
            places.push(match tables {
                None => CountedBy::Whole(encoding.counter()),
                Some(tables) => {
                    // Encodings that differ in special tokens only are counted once.
                    let number = known.iter().position(|other| Arc::ptr_eq(other, tables));
                    CountedBy::Batch(number.unwrap_or_else(|| {
                        known.push(Arc::clone(tables));
                        known.len() - 1
                    }))
                }
            });
        }
        Self {
            batches: known.chunks(MAX_ENCODINGS_PER_GROUP).map(Batch::new).collect(),
            counted: vec![TokenCounts::default(); known.len()],
            places,
        }
    }

    /// One that asks these counters about every text, and remembers nothing.
    pub fn of_counters(counters: Vec<Arc<dyn Counter>>) -> Self {
        Self {
            batches: Vec::new(),
            places: counters.into_iter().map(CountedBy::Whole).collect(),
            counted: Vec::new(),
        }
    }

    /// The tokens of a rendering in each encoding, divided by components as [`Counter::tally`](crate::Counter::tally) does.
    pub fn tally(&mut self, text: &str, spans: &[ComponentSpan]) -> Vec<TokenCounts> {
        self.each_batch(|batch, counted| batch.tally(text, spans, counted));
        self.of_each(&self.counted, |counter| counter.tally(text, spans))
            .collect()
    }

    /// The tokens of the rendering that a sink holds, in each encoding: what [`tally`](Self::tally) counts in its text and spans,
    /// at the price of the pieces that were never counted before.
    pub fn tally_sink(&mut self, sink: &Sink<'_>, tallies: &mut Vec<TokenCounts>) {
        self.each_batch(|batch, counted| {
            batch.tally_sink(sink, Books::new(sink.spans(), counted));
        });
        tallies.clear();
        tallies.extend(self.of_each(&self.counted, |counter| counter.tally(sink.text(), sink.spans())));
    }

    /// The tokens of each span of the rendering that a sink holds, and of what is behind the last, in each encoding.
    pub fn tally_spans(&mut self, sink: &Sink<'_>) -> Vec<Vec<u64>> {
        let mut of_batches = Vec::new();
        self.each_batch(|batch, counted| {
            of_batches.extend(batch.tally_sink(sink, Books::new(sink.spans(), counted).with_spans()));
        });
        self.of_each(&of_batches, |counter| {
            counter.tally_spans(sink.text(), sink.spans())
        })
        .collect()
    }

    /// Lets each batch count into the places of its vocabularies.
    fn each_batch(&mut self, mut count: impl FnMut(&mut Batch, &mut [TokenCounts])) {
        let groups = self.counted.chunks_mut(MAX_ENCODINGS_PER_GROUP);
        for (batch, counted) in self.batches.iter_mut().zip(groups) {
            counted.fill(TokenCounts::default());
            count(batch, counted);
        }
    }

    /// By encoding: what was counted for its vocabulary, or what its own counter says.
    fn of_each<T: Clone>(&self, batched: &[T], whole: impl Fn(&dyn Counter) -> T) -> impl Iterator<Item = T> {
        self.places.iter().map(move |place| match place {
            #[expect(clippy::indexing_slicing, reason = "every vocabulary was counted")]
            CountedBy::Batch(number) => batched[*number].clone(),
            CountedBy::Whole(counter) => whole(counter.as_ref()),
        })
    }

    /// The tokens of a text in each encoding.
    pub fn count(&mut self, text: &str) -> Vec<u64> {
        let whole = [ComponentSpan {
            end: text.len(),
            component: Component::Content,
            ..BEHIND
        }];
        let tallies = self.tally(text, &whole);
        tallies.into_iter().map(|tally| tally.tokens).collect()
    }
}

/// Up to [`MAX_ENCODINGS_PER_GROUP`] vocabularies that are counted together.
struct Batch {
    points: SyncPoints,
    ways: ChunkCounter,
    insides: Memory,
    pieces: Pieces,
}

/// The stretch between the first and the last sync point of a text, and its tokens in each encoding. Empty when there are
/// no two such points.
struct Inside {
    first: usize,
    last: usize,
    counts: [u64; MAX_ENCODINGS_PER_GROUP],
}

impl Batch {
    fn new(tables: &[Arc<Tables>]) -> Self {
        let all = tables.iter().map(|tables| tables.borders);
        let common = all.reduce(BoundaryClasses::both).unwrap_or(BoundaryClasses::NONE);
        let seams = tables.iter().fold(JoinPoints::of_no_token(), |seams, tables| {
            seams.and(&tables.vocabulary.seams)
        });
        Self {
            points: SyncPoints::new(common, seams),
            ways: ChunkCounter::new(tables),
            insides: Memory::default(),
            pieces: Pieces::default(),
        }
    }

    fn tally_sink(&mut self, sink: &Sink<'_>, mut books: Books<'_>) -> Vec<Vec<u64>> {
        let (text, spans) = (sink.text(), sink.spans());
        self.pieces.begin(sink.glue_identity(), sink.text_identity());
        let mut open = OpenJoint::at(0);
        let mut start = 0;
        let mut here = 0;
        for run in sink.runs() {
            while spans.get(here).is_some_and(|span| span.end <= start) {
                here += 1;
            }
            if spans.get(here).is_some_and(|span| span.control) {
                self.settle(text, start, &open, &mut books);
                books.tokens(start, [1; MAX_ENCODINGS_PER_GROUP]);
                open.begin(run.end);
                start = run.end;
                continue;
            }
            let known = if let Some(known) = self.pieces.get(run.piece, run.end - start) {
                *known
            } else {
                let known = self.look(part(text, start..run.end));
                self.pieces.keep(run.piece, known);
                known
            };
            open.push(known.head, start);
            if known.first < known.length {
                self.settle(text, start + known.first as usize, &open, &mut books);
                books.tokens(start, known.tokens.map(u64::from));
                open.begin(start + known.last as usize);
                open.push(known.tail, start + known.last as usize);
            }
            start = run.end;
        }
        self.settle(text, text.len(), &open, &mut books);
        books.settle();
        books.each
    }

    /// Counts the parts since the last sync point, up to this one.
    fn settle(&mut self, text: &str, end: usize, open: &OpenJoint, books: &mut Books<'_>) {
        if open.number == 0 {
            return;
        }
        if open.is_known {
            let learned;
            let tokens = if let Some(tokens) = self.pieces.joint(&open.key) {
                tokens
            } else {
                learned = self.learn(text, end, open);
                &learned
            };
            for (start, tokens) in open.starts.iter().zip(tokens).take(open.number) {
                books.tokens(*start, tokens.map(u64::from));
            }
        } else {
            self.joint(text, open.start..end, books);
        }
    }

    /// Counts a joint for the first time.
    #[cold]
    #[expect(
        clippy::indexing_slicing,
        reason = "a joint that is known has a place for each part"
    )]
    fn learn(&mut self, text: &str, end: usize, open: &OpenJoint) -> [PartTokens; MAX_JOINT_PARTS] {
        let starts = part(&open.starts, 0..open.number);
        let mut learned = [PartTokens::default(); MAX_JOINT_PARTS];
        self.each_beginning(text, open.start..end, |encoding, byte| {
            let part = starts.partition_point(|start| *start <= byte).saturating_sub(1);
            let tokens = &mut learned[part][encoding];
            *tokens = tokens.saturating_add(1);
        });
        self.pieces.keep_joint(open.key, learned);
        learned
    }

    /// Calls `each` with an encoding and a byte at which one of its tokens begins, for all of a stretch that begins and ends at
    /// borders.
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

    /// Finds out what there is to know of a piece.
    fn look(&mut self, piece: &str) -> KnownPiece {
        let length = piece.len();
        let inside = if length >= LONG_RUN_BYTES {
            self.inside(piece)
        } else {
            let (first, last) = self.points.interior(piece).unwrap_or_default();
            let counts = self.count(piece, first..last);
            Inside { first, last, counts }
        };
        // Sync points stand behind the first character.
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

    fn tally(&mut self, text: &str, spans: &[ComponentSpan], tallies: &mut [TokenCounts]) {
        let mut books = Books::new(spans, tallies);
        // Everything before this byte is booked.
        let mut booked = 0;
        let mut start = 0;
        for span in spans {
            let end = span.end.min(text.len());
            if span.control && end > start {
                self.joint(text, booked..start, &mut books);
                books.tokens(start, [1; MAX_ENCODINGS_PER_GROUP]);
                booked = end;
            } else if end.saturating_sub(start) >= LONG_RUN_BYTES
                && let Some(stretch) = text.get(start..end)
                && let inside = self.inside(stretch)
                && inside.first < inside.last
            {
                self.joint(text, booked..start + inside.first, &mut books);
                books.tokens(start, inside.counts);
                booked = start + inside.last;
            }
            start = end;
        }
        self.joint(text, booked..text.len(), &mut books);
        books.settle();
    }

    /// Counts a stretch that begins and ends at borders, chunk by chunk.
    fn joint(&mut self, text: &str, range: Range<usize>, books: &mut Books<'_>) {
        self.each_chunk(text, range, |chunk, beginnings| match beginnings {
            Beginnings::Short(lanes) => books.short(chunk, lanes),
            Beginnings::Long(words) => books.long(chunk, words),
        });
    }

    /// Calls `each` with the chunks of a stretch that begins and ends at borders, and with where their tokens begin.
    fn each_chunk(
        &mut self,
        text: &str,
        range: Range<usize>,
        mut each: impl FnMut(&Range<usize>, Beginnings<'_>),
    ) {
        let stretch = part(text, range.clone());
        let Self { points, ways, .. } = self;
        let mut start = range.start;
        points.each_end(stretch, |end| {
            let chunk = start..range.start + end;
            start = chunk.end;
            each(&chunk, ways.beginnings(text, chunk.clone()));
        });
    }

    /// The inside of a stretch, counted now or before.
    fn inside(&mut self, stretch: &str) -> Inside {
        if let Some([first, last, counts @ ..]) = self.insides.get(stretch.as_bytes()) {
            let mut inside = Inside {
                first: *first as usize,
                last: *last as usize,
                counts: [0; MAX_ENCODINGS_PER_GROUP],
            };
            for (to, from) in inside.counts.iter_mut().zip(counts) {
                *to = *from;
            }
            return inside;
        }
        let (first, last) = self.points.interior(stretch).unwrap_or_default();
        let counts = self.count(stretch, first..last);
        let mut words = [first as u64, last as u64, 0, 0, 0, 0];
        for (to, from) in words.iter_mut().skip(2).zip(counts) {
            *to = from;
        }
        self.insides.keep(stretch.as_bytes(), &words);
        Inside { first, last, counts }
    }

    /// The tokens of a part of a text that begins and ends at borders.
    fn count(&mut self, text: &str, range: Range<usize>) -> [u64; MAX_ENCODINGS_PER_GROUP] {
        let mut counted = [TokenCounts::default(); MAX_ENCODINGS_PER_GROUP];
        let mut books = Books::new(&[], &mut counted);
        self.joint(text, range, &mut books);
        books.settle();
        counted.map(|tally| tally.tokens)
    }
}

/// The parts since the last sync point of a rendering.
struct OpenJoint {
    /// Its first byte.
    start: usize,
    /// How many parts there are.
    number: usize,
    /// Whether all of them have numbers and a place.
    is_known: bool,
    key: JointKey,
    /// Where they begin.
    starts: [usize; MAX_JOINT_PARTS],
}

impl OpenJoint {
    /// A joint without parts that begins at a byte.
    fn at(start: usize) -> Self {
        Self {
            start,
            number: 0,
            is_known: true,
            key: JointKey::default(),
            starts: [0; MAX_JOINT_PARTS],
        }
    }

    /// Begins the next one.
    #[inline]
    fn begin(&mut self, start: usize) {
        self.start = start;
        self.number = 0;
        self.is_known = true;
        self.key = JointKey::default();
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

/// Calls `each` with the number of each bit that is set.
fn each_bit(mut bits: u64, mut each: impl FnMut(usize)) {
    while bits != 0 {
        each(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl TokenCounter {
        /// Bytes that long texts take in each memory at present, at most.
        pub(crate) fn remembered(&self) -> usize {
            let bytes = |batch: &Batch| batch.insides.bytes().max(batch.ways.remembered());
            self.batches.iter().map(bytes).max().unwrap_or_default()
        }
    }
}
