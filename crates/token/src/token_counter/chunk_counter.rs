//! Finds the tokens of a chunk: from memory, else by splitting and merging.

use std::ops::Range;
use std::sync::Arc;

use crate::bpe::merge::{SHORT_PIECE_BYTES, each_length};
use crate::bpe::tables::{Scratch, Tables};
use crate::bpe::vocabulary::Vocabulary;
use crate::split::part;
use crate::token_counter::chunks::{
    ChunkKey, Chunks, MAX_CHUNK_BYTES, MAX_ENCODINGS_PER_GROUP, PackedCounts,
};
use crate::token_counter::memory::Memory;

/// The bytes at which the tokens of a chunk begin, in each encoding.
pub(crate) enum Beginnings<'w> {
    /// For a chunk of at most [`MAX_CHUNK_BYTES`] bytes.
    Short(PackedCounts),
    /// For a longer chunk: for each encoding [`ChunkCounter::words_for`] words, with a bit for each byte.
    Long(&'w [u64]),
}

/// The vocabularies and memories with which one thread finds the tokens of chunks.
pub(crate) struct ChunkCounter {
    vocabularies: Vec<(Arc<Tables>, Scratch)>,
    short: Chunks,
    long: Memory,
    /// The words of the last new long chunk.
    words: Vec<u64>,
}

impl ChunkCounter {
    pub(crate) fn new(tables: &[Arc<Tables>]) -> Self {
        Self {
            vocabularies: tables
                .iter()
                .map(|tables| (Arc::clone(tables), Scratch::default()))
                .collect(),
            short: Chunks::default(),
            long: Memory::default(),
            words: Vec::new(),
        }
    }

    /// The number of encodings that it counts.
    pub(crate) fn encodings(&self) -> usize {
        self.vocabularies.len()
    }

    /// The number of words that hold a bit for each of `bytes` bytes.
    pub(crate) fn words_for(bytes: usize) -> usize {
        bytes.div_ceil(64).max(1)
    }

    /// The tokens of a chunk of a text.
    #[inline]
    pub(crate) fn beginnings(&mut self, text: &str, chunk: Range<usize>) -> Beginnings<'_> {
        match ChunkKey::of(text.as_bytes(), chunk.start, chunk.len()) {
            Some(key) => Beginnings::Short(match self.short.get(key) {
                Some(lanes) => lanes,
                None => self.find_short(part(text, chunk), key),
            }),
            None => Beginnings::Long(self.long(part(text, chunk))),
        }
    }

    fn long(&mut self, chunk: &str) -> &[u64] {
        // A borrow that is returned in one branch would last for all of them; a place is no borrow.
        if let Some(place) = self.long.find(chunk.as_bytes()) {
            return self.long.at(place);
        }
        self.find_long(chunk);
        self.long.keep(chunk.as_bytes(), &self.words);
        &self.words
    }

    #[cold]
    fn find_short(&mut self, chunk: &str, key: ChunkKey) -> PackedCounts {
        let mut lanes = PackedCounts::default();
        if let Some(pieces) = self.common_pieces(chunk) {
            each_piece(chunk, pieces, |at, piece| lanes.set_part(at, self.piece(piece)));
        } else {
            for encoding in 0..self.encodings() {
                lanes.set(encoding, self.beginnings_in(encoding, chunk));
            }
        }
        self.short.keep(key, lanes);
        lanes
    }

    #[cold]
    #[expect(clippy::indexing_slicing, reason = "there is a bit for each byte")]
    fn find_long(&mut self, chunk: &str) {
        let each = Self::words_for(chunk.len());
        self.words.clear();
        self.words.resize(each * self.vocabularies.len(), 0);
        if chunk.len() <= SHORT_PIECE_BYTES {
            return self.find_in_words(chunk);
        }
        for ((tables, scratch), words) in self.vocabularies.iter_mut().zip(self.words.chunks_mut(each)) {
            let mut at = 0;
            tables.each_token_with(scratch, chunk, |bytes| {
                words[at / 64] |= 1 << (at % 64);
                at += bytes;
            });
        }
    }

    /// Finds the tokens of a chunk of at most [`SHORT_PIECE_BYTES`] bytes: one word for each encoding.
    fn find_in_words(&mut self, chunk: &str) {
        let Some(pieces) = self.common_pieces(chunk) else {
            self.words = (0..self.encodings())
                .map(|encoding| self.beginnings_in(encoding, chunk))
                .collect();
            return;
        };
        each_piece(chunk, pieces, |at, piece| {
            let begin = if piece.len() <= MAX_CHUNK_BYTES {
                let lanes = self.piece(piece);
                std::array::from_fn(|encoding| lanes.begin(encoding))
            } else {
                self.merged(piece)
            };
            for (word, begin) in self.words.iter_mut().zip(begin) {
                *word |= begin << at;
            }
        });
    }

    /// The bytes at which the pieces of a chunk of at most [`SHORT_PIECE_BYTES`] bytes begin, a bit each; `None` unless all encodings cut
    /// it alike.
    fn common_pieces(&mut self, chunk: &str) -> Option<u64> {
        let mut all = self.vocabularies.iter_mut();
        let pieces = |(tables, scratch): &mut (Arc<Tables>, Scratch)| tables.pieces(scratch, chunk);
        let first = pieces(all.next()?);
        all.all(|each| pieces(each) == first).then_some(first)
    }

    /// The bytes at which the tokens of a chunk of at most [`SHORT_PIECE_BYTES`] bytes begin in one encoding, a bit each, with the pieces
    /// of this encoding.
    fn beginnings_in(&mut self, encoding: usize, chunk: &str) -> u64 {
        let Some((tables, scratch)) = self.vocabularies.get_mut(encoding) else {
            return 0;
        };
        let mut all = 0;
        each_piece(chunk, tables.pieces(scratch, chunk), |at, piece| {
            let key = ChunkKey::of(piece, 0, piece.len());
            let known = key.and_then(|key| self.short.get(key));
            let merged = || tables.vocabulary.beginnings(piece);
            all |= known.map_or_else(merged, |lanes| lanes.begin(encoding)) << at;
        });
        all
    }

    /// The tokens of a piece of a short chunk. A piece of a text is also one piece when it is the whole text, so it can be remembered as a
    /// chunk.
    fn piece(&mut self, piece: &[u8]) -> PackedCounts {
        let key = ChunkKey::of(piece, 0, piece.len());
        if let Some(lanes) = key.and_then(|key| self.short.get(key)) {
            return lanes;
        }
        let mut lanes = PackedCounts::default();
        for (encoding, begin) in self.merged(piece).into_iter().enumerate() {
            lanes.set(encoding, begin);
        }
        if let Some(key) = key {
            self.short.keep(key, lanes);
        }
        lanes
    }

    /// The bytes at which the tokens of a piece of at most [`SHORT_PIECE_BYTES`] bytes begin in each encoding, a bit each.
    fn merged(&self, piece: &[u8]) -> [u64; MAX_ENCODINGS_PER_GROUP] {
        let mut all = [0; MAX_ENCODINGS_PER_GROUP];
        for (found, vocabularies) in all.chunks_mut(2).zip(self.vocabularies.chunks(2)) {
            match (found, vocabularies) {
                ([one, other], [(first, _), (second, _)]) => {
                    [*one, *other] =
                        Vocabulary::beginnings_in_both([&first.vocabulary, &second.vocabulary], piece);
                }
                ([one, ..], [(first, _)]) => *one = first.vocabulary.beginnings(piece),
                _ => {}
            }
        }
        all
    }

    /// Bytes of long chunks that are remembered now.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.long.bytes()
    }
}

/// Calls `each` with the pieces of a chunk, and with the bytes at which they begin.
fn each_piece(chunk: &str, pieces: u64, mut each: impl FnMut(usize, &[u8])) {
    let mut at = 0;
    each_length(pieces, chunk.len(), |bytes| {
        each(at, part(chunk.as_bytes(), at..at + bytes));
        at += bytes;
    });
}
