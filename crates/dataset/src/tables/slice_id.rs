//! The number of a slice: the number of its shard, and its number in that shard. It is in the names of part files and receipts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a slice. Shards are numbered over the run, slices within their shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SliceId {
    /// Number of the shard, from 0.
    #[serde(rename = "lot")]
    pub shard: u32,
    /// Number of the slice in its shard, from 0.
    pub slice: u32,
}

impl SliceId {
    /// Parses a number in its form in file names.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (shard, slice) = text.split_once('-')?;
        let id = Self {
            shard: shard.parse().ok()?,
            slice: slice.parse().ok()?,
        };
        (id.to_string() == text).then_some(id)
    }

    /// Whether a text is the number of a slice in the file names of formats without shards.
    pub(crate) fn is_of_old(text: &str) -> bool {
        text.parse().is_ok_and(|slice: u32| format!("{slice:05}") == text)
    }
}

impl From<u32> for SliceId {
    /// The slice of this number in the first shard.
    fn from(slice: u32) -> Self {
        Self { shard: 0, slice }
    }
}

impl fmt::Display for SliceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:05}-{:05}", self.shard, self.slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_in_another_spelling_is_refused() {
        for id in [(0, 0), (3, 12), (123_456, 1_234_567)] {
            let id = SliceId {
                shard: id.0,
                slice: id.1,
            };
            assert_eq!(SliceId::parse(&id.to_string()), Some(id));
        }
        for text in [
            "",
            "00000",
            "0-0",
            "00000-+0001",
            "00000-00000-00000",
            "000000-00000",
        ] {
            assert_eq!(SliceId::parse(text), None, "{text}");
        }
        assert!(SliceId::is_of_old("00012") && SliceId::is_of_old("123456"));
        assert!(!SliceId::is_of_old("12") && !SliceId::is_of_old("00000-00000"));
    }
}
