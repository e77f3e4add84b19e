//! Ways to the tokens of a chunk: remembered, else split and merged.

use std::ops::Range;
use std::sync::Arc;

use crate::bpe::{Scratch, Tables};
use crate::chunks::{Chunks, LONGEST, Lanes};
use crate::memory::Memory;
use crate::merge::SHORT;

/// Where the tokens of a chunk begin in each encoding.
pub(crate) enum Beginnings<'w> {
    /// Of a chunk of at most [`LONGEST`] bytes.
    Short(Lanes),
    /// Of any other: for each encoding as many words as [`Ways::words_for`] says, a bit for each byte.
    Long(&'w [u64]),
}

/// What one thread needs to find the tokens of chunks.
pub(crate) struct Ways {
    vocabularies: Vec<(Arc<Tables>, Scratch)>,
    short: Chunks,
    long: Memory,
    /// The words of the last long chunk that was not remembered.
    words: Vec<u64>,
}

impl Ways {
    pub(crate) fn new(tables: &[Arc<Tables>]) -> Self {
        Self {
            vocabularies: tables
                .iter()
                .map(|tables| (Arc::clone(tables), tables.scratch()))
                .collect(),
            short: Chunks::default(),
            long: Memory::default(),
            words: Vec::new(),
        }
    }

    /// Words that hold a bit for each of so many bytes.
    pub(crate) fn words_for(bytes: usize) -> usize {
        bytes.div_ceil(64).max(1)
    }

    /// The tokens of a chunk of a text.
    #[inline]
    pub(crate) fn beginnings(&mut self, text: &str, chunk: Range<usize>) -> Beginnings<'_> {
        if chunk.len() > LONGEST {
            return Beginnings::Long(self.long(text.get(chunk).unwrap_or_default()));
        }
        let Self {
            vocabularies, short, ..
        } = self;
        let lanes = short.get_or(text.as_bytes(), chunk.start, chunk.len(), || {
            new_lanes(vocabularies, text.get(chunk).unwrap_or_default())
        });
        Beginnings::Short(lanes.unwrap_or_default())
    }

    fn long(&mut self, chunk: &str) -> &[u64] {
        // A borrow that is returned in one branch only would be one in all of them; so it is looked up again.
        if self.long.get(chunk.as_bytes()).is_none() {
            self.find_long(chunk);
            self.long.keep(chunk.as_bytes(), &self.words);
        }
        self.long.get(chunk.as_bytes()).unwrap_or(&self.words)
    }

    #[cold]
    fn find_long(&mut self, chunk: &str) {
        let each = Self::words_for(chunk.len());
        self.words.clear();
        self.words.resize(each * self.vocabularies.len(), 0);
        for ((tables, scratch), words) in self.vocabularies.iter_mut().zip(self.words.chunks_mut(each)) {
            if let ([word], true) = (&mut *words, chunk.len() <= SHORT) {
                *word = tables.beginnings(scratch, chunk);
                continue;
            }
            let mut at = 0;
            tables.each_token_with(scratch, chunk, |bytes| {
                if let Some(word) = words.get_mut(at / 64) {
                    *word |= 1 << (at % 64);
                }
                at += bytes;
            });
        }
    }

    /// Bytes of long chunks that are remembered at present.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.long.bytes()
    }
}

#[cold]
fn new_lanes(vocabularies: &mut [(Arc<Tables>, Scratch)], chunk: &str) -> Lanes {
    let mut lanes = Lanes::default();
    for (encoding, (tables, scratch)) in vocabularies.iter_mut().enumerate() {
        lanes.set(encoding, tables.beginnings(scratch, chunk));
    }
    lanes
}
