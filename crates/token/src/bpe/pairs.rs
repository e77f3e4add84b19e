//! A table from two token ids to a third: open addressing with one word per entry, at most four fifths full.
//!
//! Merging waits for memory, and most pairs that are looked up are in no table. A bit for each possible place of a finer table answers nine
//! of ten such look-ups, and these bits fit into a nearer cache than the words. A separate table for the pairs of the lowest ranks was
//! tried and gave nothing.

/// Bits of a token's id.
pub(crate) const ID_BITS: u32 = 21;

/// The id of a pair that is not a token. It never joins anything.
pub(crate) const NO_TOKEN: u32 = (1 << ID_BITS) - 1;

/// The table. Each entry contains the left, right and joined id, [`ID_BITS`] each.
pub(crate) struct Pairs {
    slots: Vec<u64>,
    /// The number of bits of a hash that are not part of the place.
    shift: u32,
    /// A bit for every [`BITS_PER_SLOT`]th of a place: set if the search for some entry begins there.
    begun: Vec<u64>,
}

/// An empty slot: its ids would have more bits than fit.
const EMPTY: u64 = u64::MAX;

/// Bits of `begun` for each slot.
const BITS_PER_SLOT: usize = 4;

#[expect(
    clippy::indexing_slicing,
    reason = "a hash has as many bits as there are places"
)]
impl Pairs {
    /// Makes a table for at most this many entries.
    pub(crate) fn for_entries(entries: usize) -> Self {
        let slots = (entries + entries / 4)
            .next_power_of_two()
            .max(64 / BITS_PER_SLOT);
        Self {
            slots: vec![EMPTY; slots],
            shift: 64 - slots.trailing_zeros(),
            begun: vec![0; slots * BITS_PER_SLOT / 64],
        }
    }

    /// The id of two tokens together; [`NO_TOKEN`] if they do not join.
    #[inline]
    pub(crate) fn get(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let hash = hash(key);
        let bit = self.bit(hash);
        if self.begun[bit / 64] >> (bit % 64) & 1 == 0 {
            return NO_TOKEN;
        }
        let mut place = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots[place];
            if slot >> ID_BITS == key {
                return slot as u32 & NO_TOKEN;
            }
            if slot == EMPTY {
                return NO_TOKEN;
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
    }

    /// Sets the id of two tokens together, unless it is already set.
    pub(crate) fn insert(&mut self, left: u32, right: u32, joined: u32) {
        let key = key(left, right);
        let hash = hash(key);
        let bit = self.bit(hash);
        self.begun[bit / 64] |= 1 << (bit % 64);
        let mut place = (hash >> self.shift) as usize;
        let last = self.slots.len() - 1;
        loop {
            let slot = &mut self.slots[place];
            if *slot == EMPTY {
                *slot = key << ID_BITS | u64::from(joined);
                return;
            }
            if *slot >> ID_BITS == key {
                return;
            }
            place = (place + 1) & last;
        }
    }

    fn bit(&self, hash: u64) -> usize {
        (hash >> (self.shift - BITS_PER_SLOT.trailing_zeros())) as usize
    }
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << ID_BITS | u64::from(right)
}

/// The hash of a key; as in every product, the highest bits are the best mixed.
fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_finds_all_that_it_holds_and_nothing_else() {
        let highest = NO_TOKEN - 1;
        let mut pairs = Pairs::for_entries(1_002);
        for number in 0..1_000 {
            pairs.insert(number, number * 7, number + 1);
        }
        pairs.insert(highest, highest, highest);
        pairs.insert(0, 0, 99);
        for number in 0..1_000 {
            assert_eq!(pairs.get(number, number * 7), number + 1);
            assert_eq!(pairs.get(number, number * 7 + 1), NO_TOKEN);
        }
        assert_eq!(pairs.get(highest, highest), highest);
        assert_eq!(pairs.get(NO_TOKEN, NO_TOKEN), NO_TOKEN);
        assert_eq!(Pairs::for_entries(0).get(1, 2), NO_TOKEN);
    }
}
