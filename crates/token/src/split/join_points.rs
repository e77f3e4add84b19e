//! Join points: places within a word that no token of a vocabulary crosses.
//!
//! Scripts without spaces write whole sentences as one word. Their letters have no case, so no pattern separates them by class; but most
//! neighbours are adjacent in no token at all, and no merge makes a pair that is in no token. Such a place may be cut like a [sync
//! point](crate::split::sync), and the short words that result repeat often enough to be worth remembering.
//!
//! Neighbours are kept as bits of a hash table without keys. Two that share a bit with a real pair are taken for joined, which costs a cut
//! and never changes a count.

/// The number of bits of a filter, 128 KiB.
const BITS: usize = 1 << 20;

/// The pairs of characters that are adjacent in some token.
#[derive(Clone, Default)]
pub(crate) struct JoinPoints {
    /// The bits; empty if no vocabulary is known, and then any two characters may be joined.
    joined: Vec<u64>,
    /// Whether there are tokens that exist only as whole pieces.
    has_whole: bool,
}

impl JoinPoints {
    /// Makes a filter without tokens.
    pub(crate) fn of_no_token() -> Self {
        Self {
            joined: vec![0; BITS / 64],
            has_whole: false,
        }
    }

    /// Adds a token that no merges lead to. It is a token only as a whole piece, and no cut may make a piece of it; so there is no join
    /// point before its first character, nor after its last.
    pub(crate) fn add_whole(&mut self, token: &[u8]) {
        let Ok(text) = std::str::from_utf8(token) else {
            return;
        };
        if let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) {
            self.set(begins(first));
            self.set(ends(last));
            self.has_whole = true;
        }
    }

    /// Adds the neighbours within a token.
    pub(crate) fn add(&mut self, token: &[u8]) {
        // Most tokens return here, without a loop over their bytes.
        if token.is_ascii() {
            return;
        }
        for (at, pair) in (1..).zip(token.windows(2)) {
            // The first byte of a character, after another character that is not ASCII.
            if let [last @ 0x80..=0xff, first @ 0xc0..=0xff] = *pair {
                let (before, after) = token.split_at(at);
                match (last_character(before), first_character(after)) {
                    (Some(left), Some(right)) => self.set(characters(left, right)),
                    // A token may begin or end within a character.
                    _ => self.set(bytes(last, first)),
                }
            }
        }
    }

    /// Adds the neighbours within a token of a vocabulary with characters, and not bytes, as symbols.
    pub(crate) fn add_characters(&mut self, token: &str) {
        for (left, right) in token.chars().zip(token.chars().skip(1)) {
            self.set(characters(left, right));
        }
    }

    /// Whether a token of such a vocabulary may contain these neighbours.
    pub(crate) fn may_hold(&self, left: char, right: char) -> bool {
        self.has(characters(left, right))
    }

    /// Adds all pairs of another filter.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        for (word, more) in self.joined.iter_mut().zip(&other.joined) {
            *word |= more;
        }
        self.has_whole |= other.has_whole;
        self
    }

    /// Whether a token may contain these neighbours, whole or in part.
    pub(crate) fn may_join(&self, left: char, right: char) -> bool {
        let (mut before, mut after) = ([0; 4], [0; 4]);
        let last = left.encode_utf8(&mut before).as_bytes().last();
        let first = right.encode_utf8(&mut after).as_bytes().first();
        let in_part = last
            .zip(first)
            .is_none_or(|(last, first)| self.has(bytes(*last, *first)));
        let by_whole = self.has_whole && (self.has(ends(left)) || self.has(begins(right)));
        in_part || by_whole || self.has(characters(left, right))
    }

    fn set(&mut self, bit: usize) {
        if let Some(word) = self.joined.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
    }

    fn has(&self, bit: usize) -> bool {
        self.joined
            .get(bit / 64)
            .is_none_or(|word| word >> (bit % 64) & 1 == 1)
    }
}

/// The character at the end of a part of a token, if it is whole.
fn last_character(bytes: &[u8]) -> Option<char> {
    let start = bytes.iter().rposition(|byte| !is_inner(*byte))?;
    only_character(bytes.get(start..)?)
}

/// The character at the beginning of a part of a token, if it is whole.
fn first_character(bytes: &[u8]) -> Option<char> {
    let inner = bytes.iter().skip(1).take_while(|byte| is_inner(**byte)).count();
    only_character(bytes.get(..=inner)?)
}

/// Whether a byte is a continuation byte of UTF-8.
fn is_inner(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The first character of bytes that are UTF-8.
fn only_character(bytes: &[u8]) -> Option<char> {
    std::str::from_utf8(bytes).ok()?.chars().next()
}

/// The bit of two characters.
fn characters(left: char, right: char) -> usize {
    bit(u64::from(left) << 32 | u64::from(right))
}

/// The bit of a character that begins a token that exists only as a whole piece.
fn begins(first: char) -> usize {
    bit(u64::from(first) | 1 << 62)
}

/// The bit of a character that ends such a token.
fn ends(last: char) -> usize {
    bit(u64::from(last) | 1 << 61)
}

/// The bit of the last byte of a character and the first byte of the next.
fn bytes(last: u8, first: u8) -> usize {
    bit(u64::from(last) << 8 | u64::from(first) | 1 << 63)
}

fn bit(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_a_token_are_joined_and_others_are_not() {
        let mut join_points = JoinPoints::of_no_token();
        join_points.add(" 日本語".as_bytes());
        assert!(join_points.may_join('日', '本') && join_points.may_join('本', '語'));
        assert!(!join_points.may_join('語', '日') && !join_points.may_join('本', '日'));
        assert!(JoinPoints::default().may_join('語', '日'));
    }

    #[test]
    fn a_token_that_holds_parts_of_characters_joins_all_that_look_alike() {
        let (before, after) = ("語".as_bytes(), "日".as_bytes());
        for (left, right) in [(1, 3), (2, 1), (3, 2), (1, 1)] {
            let mut join_points = JoinPoints::of_no_token();
            join_points.add(&[&before[3 - left..], &after[..right]].concat());
            assert!(join_points.may_join('語', '日'), "{left} and {right} bytes");
            assert!(!join_points.may_join('本', '日'), "{left} and {right} bytes");
        }
    }

    #[test]
    fn characters_join_around_a_token_that_only_whole_pieces_are() {
        let mut join_points = JoinPoints::of_no_token();
        join_points.add("日本".as_bytes());
        assert!(!join_points.may_join('語', '日') && !join_points.may_join('本', '語'));
        join_points.add_whole("日本".as_bytes());
        assert!(join_points.may_join('語', '日') && join_points.may_join('本', '語'));
        assert!(!join_points.may_join('日', '語'));
    }

    #[test]
    fn two_filters_together_hold_what_either_holds() {
        let (mut one, mut other) = (JoinPoints::of_no_token(), JoinPoints::of_no_token());
        one.add("日本".as_bytes());
        other.add("語日".as_bytes());
        let both = one.and(&other);
        assert!(both.may_join('日', '本') && both.may_join('語', '日'));
        assert!(!both.may_join('本', '語'));
    }
}
