//! Counts the renderings of a plan, in every encoding at once, at the price of the text that is new.
//!
//! A dozen dialects repeat the same contents in other envelopes. The inside of a long stretch, between its first and its last
//! [sync point](crate::sync), has the same tokens wherever it stands: it is counted once and remembered. Only the joints
//! between such insides are counted in each rendering, cut at sync points into chunks whose counts are remembered too.
//! Both memories belong to one thread, hold a fixed number of bytes, and never change a count, only its price.

use std::ops::Range;
use std::sync::Arc;

use chatmill_model::rope::{Component, ComponentSpan, Voice};
use rustc_hash::{FxHashMap, FxHasher};

use crate::bpe::{Scratch, Tables};
use crate::chunks::{Beginnings, Chunks, MOST};
use crate::counter::{Bookkeeper, Tally};
use crate::encoding::Encoding;
use crate::sync::SyncPoints;

/// Bytes of a stretch from which its inside is remembered.
const LONG: usize = 64;

/// Bytes of text that each memory holds; beyond, all of it is forgotten.
const REMEMBERED: usize = 8 << 20;

/// Counts in a fixed list of encodings; belongs to one thread.
pub struct Tallier {
    /// At most [`MOST`] encodings each.
    batches: Vec<Batch>,
    encodings: usize,
}

impl Tallier {
    /// A tallier for these encodings, in this order.
    pub fn new(encodings: &[&'static Encoding]) -> Self {
        Self {
            batches: encodings.chunks(MOST).map(Batch::new).collect(),
            encodings: encodings.len(),
        }
    }

    /// The tokens of a rendering in each encoding, divided by components as [`Counter::tally`](crate::Counter::tally) does.
    pub fn tally(&mut self, text: &str, spans: &[ComponentSpan]) -> Vec<Tally> {
        let mut tallies = Vec::with_capacity(self.encodings);
        for batch in &mut self.batches {
            batch.tally(text, spans, &mut tallies);
        }
        tallies
    }

    /// Bytes of text that are remembered at present.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.batches
            .iter()
            .map(|batch| batch.insides.bytes.max(batch.ways.long.bytes))
            .max()
            .unwrap_or_default()
    }

    /// The tokens of a text in each encoding.
    pub fn count(&mut self, text: &str) -> Vec<u64> {
        let whole = [ComponentSpan {
            end: text.len(),
            component: Component::Content,
            voice: Voice::Other,
            control: false,
        }];
        let tallies = self.tally(text, &whole);
        tallies.into_iter().map(|tally| tally.tokens).collect()
    }
}

/// Up to [`MOST`] encodings that are counted together.
struct Batch {
    points: SyncPoints,
    ways: Ways,
    insides: Memory<Inside>,
}

/// What a joint is counted into.
struct Books<'s> {
    spans: &'s [ComponentSpan],
    /// Index of the span in which counting goes on.
    here: usize,
    tallies: Vec<Tally>,
}

impl Books<'_> {
    /// The span that holds a byte: its end, and what is booked there. Bytes must not go backwards.
    fn span_at(&mut self, byte: usize) -> (usize, Component, Voice) {
        while self.spans.get(self.here).is_some_and(|span| span.end <= byte) {
            self.here += 1;
        }
        self.spans
            .get(self.here)
            .map_or((usize::MAX, Component::Framing, Voice::Other), |span| {
                (span.end, span.component, span.voice)
            })
    }
}

impl Batch {
    fn new(encodings: &[&'static Encoding]) -> Self {
        let tables: Vec<Arc<Tables>> = encodings
            .iter()
            .map(|encoding| Arc::clone(&encoding.loaded().tables))
            .collect();
        let families: Vec<_> = tables.iter().map(|tables| tables.family).collect();
        Self {
            points: SyncPoints::new(&families),
            ways: Ways {
                scratch: tables.iter().map(|tables| tables.scratch()).collect(),
                chunks: Chunks::default(),
                long: Memory::default(),
                tables,
            },
            insides: Memory::default(),
        }
    }

    fn tally(&mut self, text: &str, spans: &[ComponentSpan], tallies: &mut Vec<Tally>) {
        let mut books = Books {
            spans,
            here: 0,
            tallies: vec![Tally::default(); self.ways.tables.len()],
        };
        // Everything before this byte is booked.
        let mut booked = 0;
        let mut start = 0;
        for span in spans {
            let end = span.end.min(text.len());
            if span.control && end > start {
                self.joint(text, booked..start, &mut books);
                for tally in &mut books.tallies {
                    tally.book_many(span.component, span.voice, 1);
                }
                booked = end;
            } else if end.saturating_sub(start) >= LONG
                && let Some(stretch) = text.get(start..end)
                && let inside = self.inside(stretch)
                && inside.first < inside.last
            {
                self.joint(text, booked..start + inside.first, &mut books);
                for (tally, tokens) in books.tallies.iter_mut().zip(inside.counts) {
                    tally.book_many(span.component, span.voice, tokens);
                }
                booked = start + inside.last;
            }
            start = end;
        }
        self.joint(text, booked..text.len(), &mut books);
        tallies.append(&mut books.tallies);
    }

    /// Counts a stretch that begins and ends at borders, chunk by chunk.
    fn joint(&mut self, text: &str, range: Range<usize>, books: &mut Books<'_>) {
        let Some(stretch) = text.get(range.clone()) else {
            return;
        };
        let Self { points, ways, .. } = self;
        let mut from = 0;
        points.each_end(stretch, |end| {
            let chunk = stretch.get(from..end).unwrap_or_default();
            let start = range.start + from;
            from = end;
            let (span_end, component, voice) = books.span_at(start);
            if start + chunk.len() <= span_end {
                for (tally, tokens) in books.tallies.iter_mut().zip(ways.count(chunk)) {
                    tally.book_many(component, voice, tokens);
                }
                return;
            }
            // It reaches over the end of a span: each of its tokens is booked by its first byte.
            let spans = books.spans.get(books.here..).unwrap_or_default();
            for (index, tally) in books.tallies.iter_mut().enumerate() {
                let mut keeper = Bookkeeper::from(spans, start);
                ways.each_token(index, chunk, |bytes| keeper.token(bytes));
                *tally += keeper.finish();
            }
        });
    }

    /// The inside of a stretch, counted now or before.
    fn inside(&mut self, stretch: &str) -> Inside {
        if let Some(known) = self.insides.get(stretch) {
            return known;
        }
        let mut inside = Inside::default();
        if let Some((first, last)) = self.points.interior(stretch) {
            let text = stretch.get(first..last).unwrap_or_default();
            let Self { points, ways, .. } = self;
            let mut from = 0;
            let mut counts = [0; MOST];
            points.each_end(text, |end| {
                let chunk = text.get(from..end).unwrap_or_default();
                from = end;
                for (count, tokens) in counts.iter_mut().zip(ways.count(chunk)) {
                    *count += tokens;
                }
            });
            inside = Inside { first, last, counts };
        }
        self.insides.keep(stretch, inside);
        inside
    }
}

/// Ways to the tokens of a chunk: remembered, else split and merged.
struct Ways {
    tables: Vec<Arc<Tables>>,
    scratch: Vec<Scratch>,
    chunks: Chunks,
    /// Chunks that are too long for the table: the lengths of their tokens in each encoding.
    long: Memory<Arc<[Vec<u32>]>>,
}

impl Ways {
    /// Tokens of a chunk in each encoding.
    fn count(&mut self, chunk: &str) -> [u64; MOST] {
        if let Some(beginnings) = self.beginnings(chunk) {
            return beginnings.map(|bits| u64::from(bits.count_ones()));
        }
        let mut counts = [0; MOST];
        for (count, tokens) in counts.iter_mut().zip(self.lengths(chunk).iter()) {
            *count = tokens.len() as u64;
        }
        counts
    }

    /// The lengths of a long chunk's tokens, by encoding.
    fn lengths(&mut self, chunk: &str) -> Arc<[Vec<u32>]> {
        if let Some(known) = self.long.get(chunk) {
            return known;
        }
        let mut lengths = vec![Vec::new(); self.tables.len()];
        for ((tables, scratch), lengths) in self.tables.iter().zip(&mut self.scratch).zip(&mut lengths) {
            tables.each_token_with(scratch, chunk, |bytes| lengths.push(bytes as u32));
        }
        let lengths: Arc<[Vec<u32>]> = lengths.into();
        self.long.keep(chunk, Arc::clone(&lengths));
        lengths
    }

    /// Calls `token` with the length of each token of a chunk in one encoding.
    fn each_token(&mut self, encoding: usize, chunk: &str, mut token: impl FnMut(usize)) {
        if let Some(beginnings) = self.beginnings(chunk) {
            let mut bits = beginnings.get(encoding).copied().unwrap_or_default();
            while bits != 0 {
                let begin = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let end = if bits == 0 {
                    chunk.len()
                } else {
                    bits.trailing_zeros() as usize
                };
                token(end - begin);
            }
        } else if let Some(lengths) = self.lengths(chunk).get(encoding) {
            for bytes in lengths {
                token(*bytes as usize);
            }
        }
    }

    fn beginnings(&mut self, chunk: &str) -> Option<Beginnings> {
        let Self {
            tables,
            scratch,
            chunks,
            ..
        } = self;
        chunks.get_or(chunk.as_bytes(), || {
            let mut beginnings = [0; MOST];
            for ((tables, scratch), bits) in tables.iter().zip(scratch).zip(&mut beginnings) {
                let mut at = 0;
                tables.each_token_with(scratch, chunk, |bytes| {
                    *bits |= 1 << at;
                    at += bytes;
                });
            }
            beginnings
        })
    }
}

/// The stretch between the first and the last sync point of a text, and its tokens in each encoding. Empty when there are
/// no two such points.
#[derive(Clone, Copy, Default)]
struct Inside {
    first: usize,
    last: usize,
    counts: [u64; MOST],
}

/// Texts of which something is known. The whole text is compared, so that no hash can make two texts one.
#[derive(Default)]
struct Memory<V> {
    known: FxHashMap<u64, (Box<str>, V)>,
    bytes: usize,
}

impl<V: Clone> Memory<V> {
    fn get(&self, text: &str) -> Option<V> {
        self.known
            .get(&fingerprint(text))
            .filter(|(known, _)| **known == *text)
            .map(|(_, value)| value.clone())
    }

    fn keep(&mut self, text: &str, value: V) {
        if self.bytes + text.len() > REMEMBERED {
            self.known.clear();
            self.bytes = 0;
        }
        if text.len() > REMEMBERED {
            return;
        }
        self.bytes += text.len();
        if let Some((before, _)) = self.known.insert(fingerprint(text), (text.into(), value)) {
            self.bytes -= before.len();
        }
    }
}

/// A number that few texts of a conversation share: of the length, the beginning, the middle and the end.
fn fingerprint(text: &str) -> u64 {
    use std::hash::Hasher;
    const PART: usize = 32;
    let bytes = text.as_bytes();
    let mut hasher = FxHasher::default();
    hasher.write_usize(bytes.len());
    for start in [0, bytes.len() / 2, bytes.len().saturating_sub(PART)] {
        let end = (start + PART).min(bytes.len());
        hasher.write(bytes.get(start..end).unwrap_or_default());
    }
    hasher.finish()
}
