//! The rank table of an encoding: which byte strings are tokens, and in which order they were learned.

use rustc_hash::FxHashMap;
use tiktoken_rs::CoreBPE;

/// What a byte string that is no token has for a rank.
pub(crate) const NO_RANK: u32 = u32::MAX;

/// The ordinary tokens of an encoding; special tokens are left out.
///
/// Most tokens are short: their bytes and their length are packed into a number, which is cheaper to look up than a slice.
#[derive(Default)]
pub(crate) struct Vocabulary {
    /// Tokens of up to 7 bytes.
    short: FxHashMap<u64, u32>,
    /// Tokens of up to 15 bytes.
    middle: FxHashMap<u128, u32>,
    long: FxHashMap<Box<[u8]>, u32>,
}

impl Vocabulary {
    /// Reads the ordinary tokens below rank `end` out of tiktoken-rs, which embeds them.
    pub(crate) fn read(reference: &CoreBPE, end: u32) -> Self {
        let special = reference.special_tokens();
        let mut vocabulary = Self::default();
        for rank in 0..end {
            let Ok(bytes) = reference.decode_bytes(&[rank]) else {
                continue;
            };
            if std::str::from_utf8(&bytes).is_ok_and(|text| special.contains(text)) {
                continue;
            }
            match Packed::of(&bytes) {
                Packed::Short(key) => vocabulary.short.insert(key, rank),
                Packed::Middle(key) => vocabulary.middle.insert(key, rank),
                Packed::Long(bytes) => vocabulary.long.insert(bytes.into(), rank),
            };
        }
        vocabulary
    }

    /// The rank of a token, `NO_RANK` for anything else.
    pub(crate) fn rank(&self, bytes: &[u8]) -> u32 {
        let rank = match Packed::of(bytes) {
            Packed::Short(key) => self.short.get(&key),
            Packed::Middle(key) => self.middle.get(&key),
            Packed::Long(bytes) => self.long.get(bytes),
        };
        rank.copied().unwrap_or(NO_RANK)
    }

    /// Whether `bytes` is a token.
    pub(crate) fn has(&self, bytes: &[u8]) -> bool {
        self.rank(bytes) != NO_RANK
    }

    /// The number of ordinary tokens.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.short.len() + self.middle.len() + self.long.len()
    }
}

/// A byte string as the smallest key that holds it; the last byte of a number is the length.
enum Packed<'b> {
    Short(u64),
    Middle(u128),
    Long(&'b [u8]),
}

impl<'b> Packed<'b> {
    fn of(bytes: &'b [u8]) -> Self {
        let length = bytes.len();
        if length < 8 {
            let mut key = [0; 8];
            fill(&mut key, bytes);
            Self::Short(u64::from_le_bytes(key))
        } else if length < 16 {
            let mut key = [0; 16];
            fill(&mut key, bytes);
            Self::Middle(u128::from_le_bytes(key))
        } else {
            Self::Long(bytes)
        }
    }
}

/// Writes bytes at the beginning and their number at the end.
fn fill(key: &mut [u8], bytes: &[u8]) {
    if let Some(place) = key.get_mut(..bytes.len()) {
        place.copy_from_slice(bytes);
    }
    if let Some(last) = key.last_mut() {
        *last = bytes.len() as u8;
    }
}
