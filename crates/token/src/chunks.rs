//! The tokens of short stretches of text, in all encodings at once, remembered.
//!
//! The table is small, of fixed size, and belongs to one thread. A stretch has one place in it; whoever comes later takes it.
//! What is kept of a stretch is where its tokens begin, so that it can be divided among components, too.

/// Encodings that one table counts.
pub(crate) const MOST: usize = 4;

/// Bytes of the longest stretch that is remembered: one less than there are bits for beginnings.
pub(crate) const LONGEST: usize = 31;

/// Places of a table, 48 bytes each.
const PLACES: usize = 1 << 17;

/// In each encoding, a bit for every byte at which a token begins; unused encodings have none.
pub(crate) type Beginnings = [u32; MOST];

/// The table.
pub(crate) struct Chunks {
    places: Vec<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    /// The bytes, zeros, and the length in the last byte.
    key: [u64; 4],
    beginnings: Beginnings,
}

impl Default for Chunks {
    fn default() -> Self {
        let empty = Place {
            key: [0; 4],
            beginnings: [0; MOST],
        };
        Self {
            places: vec![empty; PLACES],
        }
    }
}

impl Chunks {
    /// Where the tokens of a stretch begin, found by `find` when it is not known; nothing when it is too long to be remembered.
    pub(crate) fn get_or(&mut self, bytes: &[u8], find: impl FnOnce() -> Beginnings) -> Option<Beginnings> {
        let key = key(bytes)?;
        let place = self.places.get_mut(place_of(&key))?;
        if place.key != key {
            *place = Place {
                key,
                beginnings: find(),
            };
        }
        Some(place.beginnings)
    }
}

fn key(bytes: &[u8]) -> Option<[u64; 4]> {
    let mut padded = [0_u8; 32];
    let length = u8::try_from(bytes.len())
        .ok()
        .filter(|_| bytes.len() <= LONGEST)?;
    padded.get_mut(..bytes.len())?.copy_from_slice(bytes);
    if let Some(last) = padded.last_mut() {
        *last = length;
    }
    let (words, _) = padded.as_chunks::<8>();
    let mut key = [0; 4];
    for (to, word) in key.iter_mut().zip(words) {
        *to = u64::from_le_bytes(*word);
    }
    Some(key)
}

fn place_of(key: &[u64; 4]) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let [first, second, third, fourth] = *key;
    let low = (first ^ second.rotate_left(29)).wrapping_mul(ODD);
    let mixed = (low ^ (low >> 32) ^ third.rotate_left(17) ^ fourth).wrapping_mul(ODD);
    // The best bits of a product are its highest.
    (mixed >> (64 - PLACES.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_not_found_again() {
        let mut chunks = Chunks::default();
        let mut found = 0;
        for _ in 0..3 {
            let beginnings = chunks.get_or(b" hello", || {
                found += 1;
                [1, 0b101, 0, 0]
            });
            assert_eq!(beginnings, Some([1, 0b101, 0, 0]));
        }
        assert_eq!(found, 1);
    }

    #[test]
    fn stretches_up_to_the_limit_are_told_apart_and_longer_ones_are_not_kept() {
        let mut chunks = Chunks::default();
        let beginnings = |number: u32| [number, 0, 0, 0];
        // Zeros inside a text are not those of the padding.
        for (number, text) in (1..).zip([&b"a"[..], b"a\0", b"a\0\0", &[b'x'; LONGEST]]) {
            assert_eq!(
                chunks.get_or(text, || beginnings(number)),
                Some(beginnings(number))
            );
            assert_eq!(chunks.get_or(text, || beginnings(99)), Some(beginnings(number)));
        }
        assert_eq!(chunks.get_or(&[b'x'; LONGEST + 1], || beginnings(1)), None);
    }
}
