//! The table of merges: two neighbouring tokens, and the token that they become.

use crate::bpe::pairs::{NO_TOKEN, Pairs};

/// The ids of bytes, and the tokens that pairs become.
pub(crate) struct MergeTable {
    /// The ids of single bytes.
    bytes: Vec<u32>,
    /// The ids of two bytes, indexed by the first and then the second.
    byte_pairs: Vec<u32>,
    /// The ids of all longer tokens, by the two tokens that become them.
    pairs: Pairs,
}

#[expect(
    clippy::indexing_slicing,
    reason = "there is a place for each byte, and for each two"
)]
impl MergeTable {
    /// Makes an empty table with room for this many tokens.
    pub(crate) fn for_entries(tokens: usize) -> Self {
        Self {
            bytes: vec![NO_TOKEN; 256],
            byte_pairs: vec![NO_TOKEN; 256 * 256],
            pairs: Pairs::for_entries(tokens),
        }
    }

    /// Sets the id of a byte.
    pub(crate) fn set_byte(&mut self, byte: u8, id: u32) {
        self.bytes[usize::from(byte)] = id;
    }

    /// Sets the id of two bytes.
    pub(crate) fn set_byte_pair(&mut self, first: u8, second: u8, id: u32) {
        self.byte_pairs[usize::from(first) << 8 | usize::from(second)] = id;
    }

    /// The id of a byte.
    pub(crate) fn byte(&self, byte: u8) -> u32 {
        self.bytes[usize::from(byte)]
    }

    /// The id of two bytes; `NO_TOKEN` if they are not a token.
    pub(crate) fn byte_pair(&self, first: u8, second: u8) -> u32 {
        self.byte_pairs[usize::from(first) << 8 | usize::from(second)]
    }

    /// The id of two tokens together, at least one of which is longer than a byte; `NO_TOKEN` if they do not join.
    pub(crate) fn pair(&self, left: u32, right: u32) -> u32 {
        self.pairs.get(left, right)
    }

    /// Sets the id of two tokens together, at least one of which is longer than a byte.
    pub(crate) fn set_pair(&mut self, left: u32, right: u32, id: u32) {
        self.pairs.insert(left, right, id);
    }
}
