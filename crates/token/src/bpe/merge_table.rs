//! Which two tokens, side by side, become a third.

use crate::bpe::pairs::{NO_TOKEN, Pairs};

/// The ids of bytes, and what pairs of tokens become.
pub(crate) struct MergeTable {
    /// Ids of single bytes.
    bytes: Vec<u32>,
    /// Ids of two bytes, by the first and then the second.
    byte_pairs: Vec<u32>,
    /// Ids of all longer tokens, by the two tokens that become them.
    pairs: Pairs,
}

#[expect(
    clippy::indexing_slicing,
    reason = "there is a place for each byte, and for each two"
)]
impl MergeTable {
    /// One without tokens, and with room for so many.
    pub(crate) fn for_entries(tokens: usize) -> Self {
        Self {
            bytes: vec![NO_TOKEN; 256],
            byte_pairs: vec![NO_TOKEN; 256 * 256],
            pairs: Pairs::for_entries(tokens),
        }
    }

    /// Says what the id of a byte is.
    pub(crate) fn set_byte(&mut self, byte: u8, id: u32) {
        self.bytes[usize::from(byte)] = id;
    }

    /// Says what two bytes become.
    pub(crate) fn set_byte_pair(&mut self, first: u8, second: u8, id: u32) {
        self.byte_pairs[usize::from(first) << 8 | usize::from(second)] = id;
    }

    /// The id of a byte.
    pub(crate) fn byte(&self, byte: u8) -> u32 {
        self.bytes[usize::from(byte)]
    }

    /// The id of two bytes, `NO_TOKEN` where they are none.
    pub(crate) fn byte_pair(&self, first: u8, second: u8) -> u32 {
        self.byte_pairs[usize::from(first) << 8 | usize::from(second)]
    }

    /// What two tokens become, of which one at least is longer than a byte; `NO_TOKEN` where they stay two.
    pub(crate) fn pair(&self, left: u32, right: u32) -> u32 {
        self.pairs.get(left, right)
    }

    /// Says what two tokens become, of which one at least is longer than a byte.
    pub(crate) fn set_pair(&mut self, left: u32, right: u32, id: u32) {
        self.pairs.insert(left, right, id);
    }
}
