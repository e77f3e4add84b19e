//! The distinct values of a column as the dictionary page contains them, and the index of each.
//!
//! Values that were chosen to collide cannot make it slow: when the search for one takes too many steps, the dictionary
//! accepts no more values and the column continues without it. Only the values decide that, so equal rows give equal
//! files.

use std::hash::Hasher;

use parquet::errors::{ParquetError, Result};
use rustc_hash::FxHasher;

/// The maximum number of slots that are searched for a value. The table is at most half full, so only values with
/// colliding hashes need more; for these, ending the dictionary is cheaper than a long search for each value.
const SEARCHED: usize = 64;

/// A dictionary while its column is written.
pub(crate) struct Dictionary {
    /// The number of bytes in front of each value: the length prefix of a text.
    head: usize,
    /// The values in the form of the dictionary page.
    page: Vec<u8>,
    /// The end of each value in `page`.
    ends: Vec<u32>,
    /// The slots of the hash table: an index plus one, or 0 where empty. Their number is a power of two.
    slots: Vec<u32>,
}

impl Dictionary {
    /// A dictionary of texts, or of other bytes with a length prefix.
    pub(crate) fn of_texts() -> Self {
        Self::new(size_of::<u32>())
    }

    /// A dictionary of numbers.
    pub(crate) fn of_numbers() -> Self {
        Self::new(0)
    }

    fn new(head: usize) -> Self {
        Self {
            head,
            page: Vec::new(),
            ends: Vec::new(),
            slots: Vec::new(),
        }
    }

    /// The index of a value, which is added where it is missing; `None` where the page would exceed `limit` bytes.
    pub(crate) fn index(&mut self, value: &[u8], limit: usize) -> Option<u32> {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let begin = hash(value);
        for step in 0..SEARCHED {
            let slot = begin.wrapping_add(step) & mask;
            match *self.slots.get(slot)? {
                0 => return self.add(slot, value, limit),
                known if is_equal(self.value(known - 1), value) => return Some(known - 1),
                _ => {}
            }
        }
        None
    }

    fn add(&mut self, slot: usize, value: &[u8], limit: usize) -> Option<u32> {
        if self.page.len() + self.head + value.len() > limit {
            return None;
        }
        let index = self.append(value).ok()?;
        *self.slots.get_mut(slot)? = index + 1;
        Some(index)
    }

    /// Adds a value that is known to be new, without a limit.
    pub(crate) fn append(&mut self, value: &[u8]) -> Result<u32> {
        let too_large = |_| ParquetError::General("a dictionary has more than 4 GiB".to_owned());
        let index = self.len();
        let end = u32::try_from(self.page.len() + self.head + value.len()).map_err(too_large)?;
        if self.head > 0 {
            self.page.extend_from_slice(&(value.len() as u32).to_le_bytes());
        }
        self.page.extend_from_slice(value);
        self.ends.push(end);
        Ok(index)
    }

    /// The value with an index.
    #[expect(
        clippy::indexing_slicing,
        reason = "every index has an end, and the page contains the bytes before it"
    )]
    fn value(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let before = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.page[before as usize + self.head..self.ends[index] as usize]
    }

    fn grow(&mut self) {
        let places = (self.slots.len() * 2).max(16);
        let mut slots = vec![0; places];
        for (index, value) in (0..).zip(self.values()) {
            let mut slot = hash(value);
            while let Some(taken) = slots.get_mut(slot & (places - 1)) {
                if *taken == 0 {
                    *taken = index + 1;
                    break;
                }
                slot = slot.wrapping_add(1);
            }
        }
        self.slots = slots;
    }

    /// The values in the order of their indices.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.value(index))
    }

    /// The number of values.
    pub(crate) fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Takes the dictionary page; the dictionary is empty afterwards.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let page = std::mem::take(&mut self.page);
        self.ends.clear();
        self.slots.clear();
        page
    }
}

/// Compares values; most are numbers, for which no function is called.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    match (<[u8; 8]>::try_from(one), <[u8; 8]>::try_from(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

fn hash(value: &[u8]) -> usize {
    let mut hasher = FxHasher::default();
    match <[u8; 8]>::try_from(value) {
        Ok(number) => hasher.write_u64(u64::from_le_bytes(number)),
        Err(_) => hasher.write(value),
    }
    hasher.finish() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_the_index_of_its_first_sight() {
        let mut dictionary = Dictionary::of_texts();
        for round in 0..2 {
            for number in 0..5000_u32 {
                let text = "n".repeat(number as usize % 7) + &number.to_string();
                let index = dictionary.index(text.as_bytes(), usize::MAX);
                assert_eq!(index, Some(number), "round {round}");
            }
        }
        assert_eq!(dictionary.len(), 5000);
        assert_eq!(dictionary.values().nth(7).unwrap(), b"7");
    }

    #[test]
    fn a_page_holds_texts_with_their_length_and_numbers_as_they_are() {
        let mut texts = Dictionary::of_texts();
        for text in ["ab", "", "ab", "c"] {
            texts.index(text.as_bytes(), usize::MAX).unwrap();
        }
        assert_eq!(texts.take(), b"\x02\0\0\0ab\0\0\0\0\x01\0\0\0c");
        assert_eq!(texts.len(), 0);
        assert_eq!(texts.index(b"c", usize::MAX), Some(0));
        let mut numbers = Dictionary::of_numbers();
        for number in [7_i64, -1, 7] {
            numbers.index(&number.to_le_bytes(), usize::MAX).unwrap();
        }
        assert_eq!(
            numbers.take(),
            [7_i64.to_le_bytes(), (-1_i64).to_le_bytes()].concat()
        );
    }

    #[test]
    fn a_value_that_fills_the_page_is_taken_up_and_one_more_byte_is_not() {
        let mut dictionary = Dictionary::of_texts();
        assert_eq!(dictionary.index(b"12345", 8), None);
        assert_eq!(dictionary.index(b"1234", 8), Some(0));
        assert_eq!(dictionary.index(b"", 8), None);
        assert_eq!(dictionary.index(b"1234", 8), Some(0));
    }

    #[test]
    fn values_that_fall_together_end_the_dictionary_and_not_the_run() {
        // The hash of a number is its rotated product with an odd number, so numbers with small products share a slot.
        let factor = (hash(&1_u64.to_le_bytes()) as u64).rotate_right(26);
        let inverse = (0..6).fold(factor, |inverse: u64, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(factor.wrapping_mul(inverse)))
        });
        let value = |product: u64| inverse.wrapping_mul(product).to_le_bytes();
        let mut dictionary = Dictionary::of_numbers();
        for product in 0..SEARCHED as u64 {
            assert_eq!(
                dictionary.index(&value(product), usize::MAX),
                Some(product as u32)
            );
        }
        assert_eq!(dictionary.index(&value(SEARCHED as u64), usize::MAX), None);
        assert_eq!(dictionary.index(&value(0), usize::MAX), Some(0));
    }
}
