//! Counts of short stretches of text, in all encodings at once, remembered.
//!
//! The table is small, of fixed size, and belongs to one thread. A stretch has one place in it; whoever comes later takes it.

/// Encodings that one table counts.
pub(crate) const MOST: usize = 8;

/// Bytes of the longest stretch that is remembered.
const LONGEST: usize = 23;

/// Places of a table, 32 bytes each.
const PLACES: usize = 1 << 17;

/// Tokens in each encoding; unused places are zero.
pub(crate) type Counts = [u8; MOST];

/// The table.
pub(crate) struct Chunks {
    places: Vec<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    /// The bytes, zeros, and the length in the last byte.
    key: [u64; 3],
    counts: Counts,
}

impl Default for Chunks {
    fn default() -> Self {
        let empty = Place {
            key: [0; 3],
            counts: [0; MOST],
        };
        Self {
            places: vec![empty; PLACES],
        }
    }
}

impl Chunks {
    /// The counts of a stretch, made by `count` when they are not known; nothing when it is too long to be remembered.
    pub(crate) fn get_or(&mut self, bytes: &[u8], count: impl FnOnce() -> Counts) -> Option<Counts> {
        let key = key(bytes)?;
        let place = self.places.get_mut(place_of(&key))?;
        if place.key != key {
            *place = Place { key, counts: count() };
        }
        Some(place.counts)
    }
}

fn key(bytes: &[u8]) -> Option<[u64; 3]> {
    let mut padded = [0_u8; 24];
    let length = u8::try_from(bytes.len())
        .ok()
        .filter(|_| bytes.len() <= LONGEST)?;
    padded.get_mut(..bytes.len())?.copy_from_slice(bytes);
    if let Some(last) = padded.last_mut() {
        *last = length;
    }
    let (words, _) = padded.as_chunks::<8>();
    let mut key = [0; 3];
    for (to, word) in key.iter_mut().zip(words) {
        *to = u64::from_le_bytes(*word);
    }
    Some(key)
}

fn place_of(key: &[u64; 3]) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let [first, second, third] = *key;
    let mixed = (first ^ second.rotate_left(23) ^ third.rotate_left(41)).wrapping_mul(ODD);
    // The best bits of a product are its highest.
    (mixed >> (64 - PLACES.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_not_counted_again() {
        let mut chunks = Chunks::default();
        let mut counted = 0;
        for _ in 0..3 {
            let counts = chunks.get_or(b" hello", || {
                counted += 1;
                [1, 2, 0, 0, 0, 0, 0, 0]
            });
            assert_eq!(counts, Some([1, 2, 0, 0, 0, 0, 0, 0]));
        }
        assert_eq!(counted, 1);
    }

    #[test]
    fn stretches_up_to_the_limit_are_told_apart_and_longer_ones_are_not_kept() {
        let mut chunks = Chunks::default();
        let counts = |number: u8| [number, 0, 0, 0, 0, 0, 0, 0];
        // Zeros inside a text are not those of the padding.
        for text in [&b"a"[..], b"a\0", b"a\0\0", &[b'x'; LONGEST]] {
            let number = text.len() as u8;
            assert_eq!(chunks.get_or(text, || counts(number)), Some(counts(number)));
            assert_eq!(chunks.get_or(text, || counts(99)), Some(counts(number)));
        }
        assert_eq!(chunks.get_or(&[b'x'; LONGEST + 1], || counts(1)), None);
    }
}
