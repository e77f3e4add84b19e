//! Counts the renderings of a plan, in every encoding at once, at the price of the text that is new.
//!
//! A dozen dialects repeat the same contents in other envelopes. The inside of a long stretch, between its first and its last
//! [sync point](crate::sync), has the same tokens wherever it stands: it is counted once and remembered. Only the joints
//! between such insides are counted in each rendering, cut at sync points into chunks whose counts are remembered too.
//! Both memories belong to one thread, hold a fixed number of bytes, and never change a count, only its price.

use std::sync::Arc;

use chatmill_model::rope::{Component, ComponentSpan, Voice};
use rustc_hash::{FxHashMap, FxHasher};

use crate::bpe::{Scratch, Tables};
use crate::chunks::{Chunks, Counts, MOST};
use crate::counter::{Bookkeeper, Tally};
use crate::encoding::Encoding;
use crate::sync::SyncPoints;

/// Bytes of a stretch from which its inside is remembered.
const LONG: usize = 64;

/// Bytes of text whose insides are remembered; beyond, all are forgotten.
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
            .map(|batch| batch.insides.bytes)
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
    tables: Vec<Arc<Tables>>,
    scratch: Vec<Scratch>,
    points: SyncPoints,
    chunks: Chunks,
    insides: Insides,
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
            scratch: tables.iter().map(|tables| tables.scratch()).collect(),
            points: SyncPoints::new(&families),
            chunks: Chunks::default(),
            insides: Insides::default(),
            tables,
        }
    }

    fn tally(&mut self, text: &str, spans: &[ComponentSpan], tallies: &mut Vec<Tally>) {
        let mut books = Books {
            spans,
            here: 0,
            tallies: vec![Tally::default(); self.tables.len()],
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
    fn joint(&mut self, text: &str, range: std::ops::Range<usize>, books: &mut Books<'_>) {
        let Some(stretch) = text.get(range.clone()) else {
            return;
        };
        let Self {
            tables,
            scratch,
            points,
            chunks,
            ..
        } = self;
        let mut from = 0;
        points.each_end(stretch, |end| {
            let Some(chunk) = stretch.get(from..end) else {
                return;
            };
            let start = range.start + from;
            let (span_end, component, voice) = books.span_at(start);
            if range.start + end <= span_end {
                count_chunk(chunk, tables, scratch, chunks, |index, tokens| {
                    if let Some(tally) = books.tallies.get_mut(index) {
                        tally.book_many(component, voice, tokens);
                    }
                });
            } else {
                // It reaches over the end of a span: each of its tokens is booked by its first byte.
                let spans = books.spans.get(books.here..).unwrap_or_default();
                for ((tables, scratch), tally) in
                    tables.iter().zip(scratch.iter_mut()).zip(&mut books.tallies)
                {
                    let mut keeper = Bookkeeper::from(spans, start);
                    tables.each_token_with(scratch, chunk, |bytes| keeper.token(bytes));
                    *tally += keeper.finish();
                }
            }
            from = end;
        });
    }

    /// The inside of a stretch, counted now or before.
    fn inside(&mut self, stretch: &str) -> Inside {
        if let Some(known) = self.insides.get(stretch) {
            return known;
        }
        let inside = self
            .points
            .interior(stretch)
            .map_or_else(Inside::default, |(first, last)| {
                let mut counts = [0; MOST];
                let text = stretch.get(first..last).unwrap_or_default();
                let Self {
                    tables,
                    scratch,
                    points,
                    chunks,
                    ..
                } = self;
                let mut from = 0;
                points.each_end(text, |end| {
                    let chunk = text.get(from..end).unwrap_or_default();
                    count_chunk(chunk, tables, scratch, chunks, |index, tokens| {
                        if let Some(count) = counts.get_mut(index) {
                            *count += tokens;
                        }
                    });
                    from = end;
                });
                Inside { first, last, counts }
            });
        self.insides.keep(stretch, inside);
        inside
    }
}

/// Calls `book` with the index of each encoding and the tokens of a chunk in it.
fn count_chunk(
    chunk: &str,
    tables: &[Arc<Tables>],
    scratch: &mut [Scratch],
    chunks: &mut Chunks,
    mut book: impl FnMut(usize, u64),
) {
    let short = chunks.get_or(chunk.as_bytes(), || {
        let mut counts: Counts = [0; MOST];
        for ((tables, scratch), count) in tables.iter().zip(scratch.iter_mut()).zip(&mut counts) {
            tables.each_token_with(scratch, chunk, |_| *count += 1);
        }
        counts
    });
    if let Some(counts) = short {
        for (index, tokens) in counts.into_iter().take(tables.len()).enumerate() {
            book(index, u64::from(tokens));
        }
        return;
    }
    for (index, (tables, scratch)) in tables.iter().zip(scratch).enumerate() {
        let mut tokens = 0;
        tables.each_token_with(scratch, chunk, |_| tokens += 1);
        book(index, tokens);
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

/// Texts whose inside was counted. The whole text is compared, so that no hash can make two texts one.
#[derive(Default)]
struct Insides {
    known: FxHashMap<u64, (Box<str>, Inside)>,
    bytes: usize,
}

impl Insides {
    fn get(&self, text: &str) -> Option<Inside> {
        self.known
            .get(&fingerprint(text))
            .filter(|(known, _)| **known == *text)
            .map(|(_, inside)| *inside)
    }

    fn keep(&mut self, text: &str, inside: Inside) {
        if self.bytes + text.len() > REMEMBERED {
            self.known.clear();
            self.bytes = 0;
        }
        if text.len() > REMEMBERED {
            return;
        }
        self.bytes += text.len();
        if let Some((before, _)) = self.known.insert(fingerprint(text), (text.into(), inside)) {
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
