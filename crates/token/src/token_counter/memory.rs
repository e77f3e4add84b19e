//! Remembers some words about texts, in a fixed number of bytes.
//!
//! The whole text is compared, so that no collision of hashes can confuse two texts. Comparing costs about one part in thirty of counting;
//! an address would save it, but the same address can hold another text later. For a long text the BLAKE3 hash is kept and compared
//! instead: collisions of it cannot be found, and megabytes without a place to cut, which cost the most to count, would otherwise use up
//! all the room. When the room is used up, everything is discarded: the renderings that profit from a memory belong to one conversation and
//! follow each other closely.

use std::hash::Hasher;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHasher};

use crate::split::part;

/// The size of a memory, in bytes.
pub(crate) const MAX_MEMORY_BYTES: usize = 8 << 20;

/// The length in bytes from which a text is known by its hash.
const LONG_TEXT_BYTES: usize = 64 << 10;

/// Bytes of an entry without its text and its words.
const ENTRY: usize = 40;

/// A map from texts to a few words each.
#[derive(Default)]
pub(crate) struct Memory {
    entries: FxHashMap<u64, Remembered>,
    texts: Vec<u8>,
    words: Vec<u64>,
}

/// The places of a text and of its words.
#[derive(Clone, Copy)]
struct Remembered {
    text: usize,
    bytes: usize,
    words: usize,
    count: usize,
}

impl Memory {
    /// The words about a text.
    pub(crate) fn get(&self, text: &[u8]) -> Option<&[u64]> {
        self.words.get(self.find(text)?)
    }

    /// The words at a place that [`find`](Self::find) returned.
    pub(crate) fn at(&self, place: Range<usize>) -> &[u64] {
        part(self.words.as_slice(), place)
    }

    /// The place of the words about a text.
    pub(crate) fn find(&self, text: &[u8]) -> Option<Range<usize>> {
        let entry = self.entries.get(&fingerprint(text))?;
        if entry.bytes != text.len() {
            return None;
        }
        let known = self.texts.get(entry.text..)?;
        let is_same = if text.len() < LONG_TEXT_BYTES {
            known.starts_with(text)
        } else {
            known.starts_with(blake3::hash(text).as_bytes())
        };
        is_same.then_some(entry.words..entry.words + entry.count)
    }

    /// Remembers words about a text, unless they need more than the whole room.
    pub(crate) fn keep(&mut self, text: &[u8], words: &[u64]) {
        let hash;
        let known = if text.len() < LONG_TEXT_BYTES {
            text
        } else {
            hash = blake3::hash(text);
            hash.as_bytes()
        };
        let more = known.len() + size_of_val(words) + ENTRY;
        if more > MAX_MEMORY_BYTES {
            return;
        }
        if self.bytes() + more > MAX_MEMORY_BYTES {
            self.entries.clear();
            self.texts.clear();
            self.words.clear();
        }
        let entry = Remembered {
            text: self.texts.len(),
            bytes: text.len(),
            words: self.words.len(),
            count: words.len(),
        };
        self.texts.extend_from_slice(known);
        self.words.extend_from_slice(words);
        self.entries.insert(fingerprint(text), entry);
    }

    /// Bytes that are in use.
    pub(crate) fn bytes(&self) -> usize {
        self.texts.len() + size_of_val(self.words.as_slice()) + self.entries.len() * ENTRY
    }
}

/// A hash of the length, the beginning, the middle and the end, which few texts of a conversation share.
fn fingerprint(text: &[u8]) -> u64 {
    const PART: usize = 16;
    let mut hasher = FxHasher::default();
    hasher.write_usize(text.len());
    let word = |start: usize| {
        let part = text.get(start..).and_then(|rest| rest.first_chunk::<PART>());
        part.map_or(0, |part| u128::from_le_bytes(*part))
    };
    for start in [0, text.len() / 2, text.len().saturating_sub(PART)] {
        hasher.write_u128(word(start));
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_whole_and_not_by_its_hash() {
        let mut memory = Memory::default();
        // Equal at the beginning, in the middle and at the end.
        let mut texts = [[b'x'; 200]; 2];
        texts[1][40] = b'y';
        assert_eq!(fingerprint(&texts[0]), fingerprint(&texts[1]));
        memory.keep(&texts[0], &[1, 2, 3]);
        assert_eq!(memory.get(&texts[0]), Some(&[1, 2, 3][..]));
        assert_eq!(memory.get(&texts[1]), None);
        memory.keep(&texts[1], &[4]);
        assert_eq!(memory.get(&texts[0]), None);
        assert_eq!(memory.get(&texts[1]), Some(&[4][..]));
    }

    #[test]
    fn a_memory_never_holds_more_than_its_room() {
        let mut memory = Memory::default();
        for number in 0_u32..3_000 {
            let text = number.to_le_bytes().repeat(1_000);
            memory.keep(&text, &[u64::from(number); 20]);
            assert!(memory.bytes() <= MAX_MEMORY_BYTES);
            assert_eq!(memory.get(&text), Some(&[u64::from(number); 20][..]));
        }
        let endless = vec![0; MAX_MEMORY_BYTES / 8];
        memory.keep(b"x", &endless);
        assert_eq!(memory.get(b"x"), None);
    }

    #[test]
    fn long_texts_are_stored_as_hashes_that_differ_with_every_byte() {
        let mut memory = Memory::default();
        let longest_whole = vec![b'x'; LONG_TEXT_BYTES - 1];
        memory.keep(&longest_whole, &[1]);
        assert_eq!(memory.bytes(), LONG_TEXT_BYTES - 1 + 8 + ENTRY);
        let mut texts = vec![
            vec![b'x'; LONG_TEXT_BYTES],
            vec![b'x'; 4 << 20],
            vec![b'x'; 4 << 20],
        ];
        // At a byte that the fingerprint does not read.
        texts[2][1 << 20] = b'y';
        assert_eq!(fingerprint(&texts[1]), fingerprint(&texts[2]));
        for (number, text) in (2..).zip(&texts) {
            let before = memory.bytes();
            assert_eq!(memory.get(text), None);
            memory.keep(text, &[number; 2]);
            assert!(memory.bytes() <= before + 32 + 16 + ENTRY);
            assert_eq!(memory.get(text), Some(&[number; 2][..]));
        }
        assert_eq!(memory.get(&longest_whole), Some(&[1][..]));
        // A text that begins with the hash of another one is a different text.
        let mut alike = blake3::hash(&texts[0]).as_bytes().to_vec();
        alike.resize(LONG_TEXT_BYTES, b'x');
        assert_eq!(memory.get(&alike), None);
    }
}
