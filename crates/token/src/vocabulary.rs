//! The rank table of an encoding: which byte strings are tokens, and in which order they were learned.

use rustc_hash::FxHashMap;
use tiktoken_rs::CoreBPE;

/// What a byte string that is no token has for a rank.
pub(crate) const NO_RANK: u32 = u32::MAX;

/// The ordinary tokens of an encoding; special tokens are left out.
pub(crate) struct Vocabulary {
    ranks: FxHashMap<Box<[u8]>, u32>,
}

impl Vocabulary {
    /// Reads the ordinary tokens below rank `end` out of tiktoken-rs, which embeds them.
    pub(crate) fn read(reference: &CoreBPE, end: u32) -> Self {
        let special = reference.special_tokens();
        let tokens = (0..end).filter_map(|rank| {
            let bytes = reference.decode_bytes(&[rank]).ok()?;
            let is_special = std::str::from_utf8(&bytes).is_ok_and(|text| special.contains(text));
            (!is_special).then(|| (bytes.into_boxed_slice(), rank))
        });
        Self {
            ranks: tokens.collect(),
        }
    }

    /// The rank of a token, `NO_RANK` for anything else.
    pub(crate) fn rank(&self, bytes: &[u8]) -> u32 {
        self.ranks.get(bytes).copied().unwrap_or(NO_RANK)
    }

    /// Whether `bytes` is a token.
    pub(crate) fn has(&self, bytes: &[u8]) -> bool {
        self.ranks.contains_key(bytes)
    }

    /// The number of ordinary tokens.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.ranks.len()
    }
}
