//! Remembers the tokens of short chunks of text, in up to four encodings at once.
//!
//! The table grows up to a fixed size and belongs to one thread. A chunk has one place in it, and a later chunk with the same place
//! replaces it: a lookup is one comparison, and a chunk that was replaced is counted again. The value of a chunk is the set of bytes at
//! which its tokens begin, so that the tokens can be divided among components.

/// The number of encodings that one table counts.
pub(crate) const MAX_ENCODINGS_PER_GROUP: usize = 4;

/// The length in bytes of the longest chunk that is remembered here: one less than a lane has bits.
pub(crate) const MAX_CHUNK_BYTES: usize = 15;

/// Places of a new table, 24 bytes each: 24 KiB.
const FEWEST_PLACES: usize = 1 << 10;

/// Places of the largest table: 6 MiB.
const MOST_PLACES: usize = 1 << 18;

/// For each encoding, a bit for every byte at which a token begins, in lanes of 16 bits; the lanes of unused encodings are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedCounts(u64);

/// A one in each lane.
const ONES: u64 = 0x0001_0001_0001_0001;

impl PackedCounts {
    /// Sets the bytes at which the tokens of an encoding begin: the lower 16 bits of `begin`.
    pub(crate) fn set(&mut self, encoding: usize, begin: u64) {
        self.0 |= (begin & 0xffff) << (16 * encoding);
    }

    /// Adds the tokens of a part that begins at the byte `at`.
    pub(crate) fn set_part(&mut self, at: usize, part: Self) {
        self.0 |= part.0 << at;
    }

    /// The bytes at which the tokens of an encoding begin, a bit each.
    pub(crate) fn begin(self, encoding: usize) -> u64 {
        self.0 >> (16 * encoding) & 0xffff
    }

    /// The tokens that begin before a byte, and the others.
    pub(crate) fn divide(self, byte: usize) -> (Self, Self) {
        let before = ((1_u64 << byte.min(MAX_CHUNK_BYTES)) - 1) * ONES;
        (Self(self.0 & before), Self(self.0 & !before))
    }

    /// The number of tokens in each encoding.
    pub(crate) fn counts(self) -> Counts {
        let pairs = self.0 - (self.0 >> 1 & (0x5555 * ONES));
        let fours = (pairs & (0x3333 * ONES)) + (pairs >> 2 & (0x3333 * ONES));
        let bytes = (fours + (fours >> 4)) & (0x0f0f * ONES);
        Counts((bytes + (bytes >> 8)) & (0x00ff * ONES))
    }
}

/// Tokens in each encoding, in lanes of 16 bits; at most [`Counts::MAX_CHUNKS`] chunks may be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts(u64);

impl Counts {
    /// The number of chunks that can be added in every case without an overflow.
    pub(crate) const MAX_CHUNKS: u32 = u16::MAX as u32 / MAX_CHUNK_BYTES as u32;

    /// Adds the tokens of a chunk.
    pub(crate) fn add(&mut self, more: Self) {
        self.0 += more.0;
    }

    /// The tokens of an encoding.
    pub(crate) fn of(self, encoding: usize) -> u64 {
        self.0 >> (16 * encoding) & 0xffff
    }
}

/// The table of chunks.
///
/// Three additions were measured and gave nothing: a small table in front of this one for the last chunks, looking up sixteen chunks before
/// the first is counted, and filling the table from the vocabularies at the start, since only one in ten unknown chunks is a token.
pub(crate) struct Chunks {
    /// The places; their number is a power of two.
    places: Vec<CachedChunk>,
    /// Chunks that were added since the table grew.
    added: usize,
}

#[derive(Clone, Copy, Default)]
struct CachedChunk {
    key: ChunkKey,
    lanes: PackedCounts,
}

impl Default for Chunks {
    fn default() -> Self {
        Self {
            places: vec![CachedChunk::default(); FEWEST_PLACES],
            added: 0,
        }
    }
}

impl Chunks {
    /// The beginnings of a chunk's tokens, if they are remembered.
    #[inline]
    pub(crate) fn get(&self, key: ChunkKey) -> Option<PackedCounts> {
        let place = self.places.get(key.place(self.places.len()))?;
        (place.key == key).then_some(place.lanes)
    }

    /// Remembers a chunk.
    pub(crate) fn keep(&mut self, key: ChunkKey, lanes: PackedCounts) {
        self.added += 1;
        if self.added > self.places.len() / 2 && self.places.len() < MOST_PLACES {
            let larger = vec![CachedChunk::default(); self.places.len() * 16];
            let old = std::mem::replace(&mut self.places, larger);
            old.into_iter()
                .filter(|old| old.key != ChunkKey::default())
                .for_each(|old| self.put(old));
            self.added = 0;
        }
        self.put(CachedChunk { key, lanes });
    }

    fn put(&mut self, chunk: CachedChunk) {
        let place = chunk.key.place(self.places.len());
        if let Some(place) = self.places.get_mut(place) {
            *place = chunk;
        }
    }
}

/// The bytes of a chunk, zeros, and the length in the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ChunkKey([u64; 2]);

/// For each length in bytes, the bits of a window that a chunk of this length has.
const MASKS: [[u64; 2]; MAX_CHUNK_BYTES + 1] = {
    let mut masks = [[0; 2]; MAX_CHUNK_BYTES + 1];
    let mut rest: &mut [[u64; 2]] = &mut masks;
    let mut bytes = 0;
    while let [mask, others @ ..] = rest {
        let all = (1_u128 << (8 * bytes)) - 1;
        *mask = [all as u64, (all >> 64) as u64];
        bytes += 1;
        rest = others;
    }
    masks
};

impl ChunkKey {
    /// The key of the chunk of `bytes` bytes that begins at `start`; `None` if the chunk is too long to be remembered.
    #[inline]
    pub(crate) fn of(text: &[u8], start: usize, bytes: usize) -> Option<Self> {
        let [low_mask, high_mask] = *MASKS.get(bytes)?;
        let rest = text.get(start..)?;
        let window = match rest.first_chunk::<16>() {
            Some(window) => u128::from_le_bytes(*window),
            None => at_the_end(rest),
        };
        let (low, high) = (window as u64 & low_mask, (window >> 64) as u64 & high_mask);
        Some(Self([low, high | (bytes as u64) << 56]))
    }

    /// The place of the chunk in a table of `places` entries, a power of two.
    #[inline]
    fn place(self, places: usize) -> usize {
        const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
        let Self([low, high]) = self;
        let mixed = low.wrapping_mul(MULTIPLIER);
        let mixed = (mixed ^ (mixed >> 32) ^ high).wrapping_mul(MULTIPLIER);
        // The highest bits of a product are the best mixed.
        (mixed >> (64 - places.trailing_zeros())) as usize
    }
}

/// The last bytes of a text, followed by zeros.
fn at_the_end(rest: &[u8]) -> u128 {
    let mut window = [0; 16];
    for (to, from) in window.iter_mut().zip(rest) {
        *to = *from;
    }
    u128::from_le_bytes(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(number: u64) -> PackedCounts {
        let mut lanes = PackedCounts::default();
        lanes.set(1, number);
        lanes
    }

    fn key(text: &[u8]) -> ChunkKey {
        ChunkKey::of(text, 0, text.len()).unwrap()
    }

    #[test]
    fn a_chunk_is_known_wherever_it_stands() {
        let mut chunks = Chunks::default();
        chunks.keep(key(b" hello"), lanes(0b101));
        for text in [&b"x hello"[..], b"x hello, and a longer text"] {
            assert_eq!(chunks.get(ChunkKey::of(text, 1, 6).unwrap()), Some(lanes(0b101)));
        }
        assert_eq!(chunks.get(key(b"hello")), None);
    }

    #[test]
    fn chunks_up_to_the_limit_have_distinct_keys_and_longer_ones_none() {
        let mut chunks = Chunks::default();
        let long = [b'x'; MAX_CHUNK_BYTES + 1];
        // Zeros inside a text differ from those of the padding.
        let texts = [&b"a"[..], b"a\0", b"a\0\0", &long[..MAX_CHUNK_BYTES]];
        for (number, text) in (1..).zip(texts) {
            assert_eq!(chunks.get(key(text)), None);
            chunks.keep(key(text), lanes(number));
            assert_eq!(chunks.get(key(text)), Some(lanes(number)));
        }
        assert_eq!(ChunkKey::of(&long, 0, long.len()), None);
    }

    #[test]
    fn a_table_grows_with_its_chunks_up_to_its_limit_and_forgets_few() {
        let mut chunks = Chunks::default();
        let mut sizes = vec![chunks.places.len()];
        let all: Vec<String> = (0..3 * MOST_PLACES).map(|number| number.to_string()).collect();
        for text in &all {
            chunks.keep(key(text.as_bytes()), lanes(1));
            assert_eq!(chunks.get(key(text.as_bytes())), Some(lanes(1)));
            sizes.push(chunks.places.len());
        }
        sizes.dedup();
        assert_eq!(sizes, [FEWEST_PLACES, 16 * FEWEST_PLACES, MOST_PLACES]);
        let known = all
            .iter()
            .filter(|text| chunks.get(key(text.as_bytes())).is_some());
        assert!(known.count() > MOST_PLACES / 2);
    }

    #[test]
    fn lanes_are_divided_and_counted_apart() {
        let mut all = PackedCounts::default();
        for (encoding, begin) in [0x7fff, 0, 0b1001_0001, 1].into_iter().enumerate() {
            all.set(encoding, begin);
        }
        let each = |lanes: PackedCounts| [0, 1, 2, 3].map(|encoding| lanes.counts().of(encoding));
        assert_eq!(each(all), [15, 0, 3, 1]);
        let (before, after) = all.divide(5);
        assert_eq!(each(before), [5, 0, 2, 1]);
        assert_eq!(each(after), [10, 0, 1, 0]);
        let mut many = Counts::default();
        for _ in 0..Counts::MAX_CHUNKS {
            many.add(all.counts());
        }
        assert_eq!(many.of(0), 15 * u64::from(Counts::MAX_CHUNKS));
        assert_eq!(many.of(3), u64::from(Counts::MAX_CHUNKS));
    }
}
