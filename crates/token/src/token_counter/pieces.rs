//! Remembers the pieces that renderings are written in, and the gaps between them.
//!
//! A piece that was seen before is looked up by its number. Its contribution to a count is fixed except at its ends: the tokens between its
//! first and its last [sync point](crate::split::sync) are the same in every text. What is left is a gap: the tail of one piece, whole
//! short pieces, the head of the next. Gaps are looked up by the numbers of these parts, and two parts have the same number only if their
//! bytes are equal. The memory belongs to one thread, holds a fixed number of entries and never changes a count.

use rustc_hash::FxHashMap;

use chatmill_model::sink::{Identity, Piece};

use crate::token_counter::chunks::{ChunkKey, MAX_ENCODINGS_PER_GROUP};

/// The number of parts of the longest gap that is remembered.
pub(crate) const MAX_GAP_PARTS: usize = 8;
/// The length in bytes of the longest part of such a gap: its tokens must fit in a `u8`.
pub(crate) const MAX_PART_BYTES: usize = 200;
/// Gaps of two parts that are remembered, 16 bytes each: 256 KiB. Most gaps have two parts, a tail and a head.
const SHORT_GAPS: usize = 1 << 14;
/// Gaps of any other number of parts, 64 bytes each: 256 KiB.
const LONG_GAPS: usize = 1 << 12;
/// Parts with numbers; when there are more, all numbers are discarded.
const MAX_PARTS: usize = 1 << 15;

/// The number of a part, which is a head, a tail or a piece without sync points; `None` if it is too long for one.
pub(crate) type PartNumber = Option<std::num::NonZeroU32>;

/// The tokens that begin in a part, in each encoding.
pub(crate) type PartTokens = [u8; MAX_ENCODINGS_PER_GROUP];

/// The analysis of a piece. Millions are read, so it is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownPiece {
    /// Its length in bytes.
    pub(crate) length: u32,
    /// The first sync point; the piece's length if there is none.
    pub(crate) first: u32,
    /// The last sync point; the piece's length if there is none.
    pub(crate) last: u32,
    /// The part before the first sync point, or the whole piece.
    pub(crate) head: PartNumber,
    /// The part after the last one.
    pub(crate) tail: PartNumber,
    /// The tokens between the two.
    pub(crate) tokens: [u32; MAX_ENCODINGS_PER_GROUP],
}

/// The parts of a gap, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GapKey([PartNumber; MAX_GAP_PARTS]);

#[derive(Clone, Copy, Default)]
struct LongGap {
    key: GapKey,
    tokens: [PartTokens; MAX_GAP_PARTS],
}

#[derive(Clone, Copy, Default)]
struct ShortGap {
    key: [PartNumber; 2],
    tokens: [PartTokens; 2],
}

/// The memory of pieces and gaps.
#[derive(Default)]
pub(crate) struct Pieces {
    glue_identity: Identity,
    text_identity: Identity,
    glue: Vec<Option<KnownPiece>>,
    texts: Vec<Option<KnownPiece>>,
    short_parts: FxHashMap<ChunkKey, PartNumber>,
    long_parts: FxHashMap<Box<[u8]>, PartNumber>,
    short_gaps: Vec<ShortGap>,
    long_gaps: Vec<LongGap>,
}

impl Pieces {
    /// Prepares for renderings with numbers of these identities, and forgets the pieces of any other.
    pub(crate) fn begin(&mut self, glue: &Identity, texts: &Identity) {
        if self.parts() >= MAX_PARTS {
            *self = Self::default();
        }
        if self.short_gaps.is_empty() {
            self.short_gaps.resize(SHORT_GAPS, ShortGap::default());
            self.long_gaps.resize(LONG_GAPS, LongGap::default());
        }
        if self.glue_identity != *glue {
            self.glue_identity = glue.clone();
            self.glue.clear();
        }
        if self.text_identity != *texts {
            self.text_identity = texts.clone();
            self.texts.clear();
        }
    }

    /// The analysis of a piece, if its length is also equal.
    #[inline]
    pub(crate) fn get(&self, piece: Piece, length: usize) -> Option<&KnownPiece> {
        let known = match piece {
            Piece::Unknown => return None,
            Piece::Glue(number) => self.glue.get(number as usize),
            Piece::Text(number) => self.texts.get(number as usize),
        };
        known?.as_ref().filter(|known| known.length as usize == length)
    }

    /// Remembers a piece that has a number.
    pub(crate) fn keep(&mut self, piece: Piece, known: KnownPiece) {
        let (list, number) = match piece {
            Piece::Unknown => return,
            Piece::Glue(number) => (&mut self.glue, number as usize),
            Piece::Text(number) => (&mut self.texts, number as usize),
        };
        if list.len() <= number {
            list.resize(number + 1, None);
        }
        if let Some(place) = list.get_mut(number) {
            *place = Some(known);
        }
    }

    /// The number of a part.
    pub(crate) fn part(&mut self, bytes: &[u8]) -> PartNumber {
        let next = u32::try_from(self.parts() + 1).ok();
        let next = next.filter(|next| *next as usize <= MAX_PARTS);
        let next = next.and_then(std::num::NonZeroU32::new);
        if let Some(key) = ChunkKey::of(bytes, 0, bytes.len()) {
            let known = self.short_parts.get(&key).copied();
            return known.or_else(|| {
                next?;
                self.short_parts.insert(key, next);
                Some(next)
            })?;
        }
        if bytes.len() > MAX_PART_BYTES {
            return None;
        }
        let known = self.long_parts.get(bytes).copied();
        known.or_else(|| {
            next?;
            self.long_parts.insert(bytes.into(), next);
            Some(next)
        })?
    }

    fn parts(&self) -> usize {
        self.short_parts.len() + self.long_parts.len()
    }

    /// The tokens of a gap, part by part.
    #[inline]
    pub(crate) fn gap(&self, key: &GapKey) -> Option<&[PartTokens]> {
        if let Some(short) = key.as_short() {
            let gap = self.short_gaps.get(key.place(SHORT_GAPS))?;
            return (gap.key == short).then_some(&gap.tokens);
        }
        let gap = self.long_gaps.get(key.place(LONG_GAPS))?;
        (gap.key == *key).then_some(&gap.tokens)
    }

    /// Remembers a gap; it replaces the one in its place.
    pub(crate) fn keep_gap(&mut self, key: GapKey, tokens: [PartTokens; MAX_GAP_PARTS]) {
        if let Some(short) = key.as_short() {
            if let (Some(gap), [one, two, ..]) = (self.short_gaps.get_mut(key.place(SHORT_GAPS)), tokens) {
                *gap = ShortGap {
                    key: short,
                    tokens: [one, two],
                };
            }
        } else if let Some(gap) = self.long_gaps.get_mut(key.place(LONG_GAPS)) {
            *gap = LongGap { key, tokens };
        }
    }
}

impl GapKey {
    /// Sets the part at an index.
    #[inline]
    pub(crate) fn set(&mut self, place: usize, part: PartNumber) {
        if let Some(to) = self.0.get_mut(place) {
            *to = part;
        }
    }

    /// The two parts of a gap of exactly two.
    #[inline]
    fn as_short(&self) -> Option<[PartNumber; 2]> {
        match self.0 {
            [one, two @ Some(_), None, ..] => Some([one, two]),
            _ => None,
        }
    }

    /// The place of the gap in a table of `places` entries, a power of two.
    #[inline]
    fn place(&self, places: usize) -> usize {
        let mut hash = 0_u64;
        for number in self.0.iter().map_while(|part| *part) {
            hash = (hash.rotate_left(23) ^ u64::from(number.get())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        (hash >> (64 - places.trailing_zeros())) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_numbers_by_their_bytes_up_to_a_length() {
        let mut pieces = Pieces::default();
        let long = [b'x'; MAX_PART_BYTES + 1];
        let parts = [&b"a"[..], b"b", &long[..15], &long[..16], &long[..MAX_PART_BYTES]];
        let numbers: Vec<PartNumber> = parts.iter().map(|part| pieces.part(part)).collect();
        assert!(numbers.iter().all(Option::is_some));
        let again: Vec<PartNumber> = parts.iter().map(|part| pieces.part(part)).collect();
        assert_eq!(again, numbers);
        let different: std::collections::BTreeSet<_> = numbers.iter().flatten().collect();
        assert_eq!(different.len(), parts.len());
        assert_eq!(pieces.part(&long), None);
    }

    #[test]
    fn when_all_numbers_of_parts_are_given_everything_is_forgotten_before_the_next_rendering() {
        let (glue, texts) = (Identity::default(), Identity::default());
        let mut pieces = Pieces::default();
        pieces.begin(&glue, &texts);
        for number in 0..MAX_PARTS {
            assert!(pieces.part(&number.to_le_bytes()).is_some());
        }
        assert_eq!(pieces.part(b"one more"), None);
        pieces.begin(&glue, &texts);
        assert!(pieces.part(b"one more").is_some());
    }

    #[test]
    fn a_counted_piece_is_forgotten_when_its_number_is_given_anew() {
        let known = KnownPiece {
            length: 3,
            first: 3,
            last: 3,
            head: None,
            tail: None,
            tokens: [0; MAX_ENCODINGS_PER_GROUP],
        };
        let (glue, texts) = (Identity::default(), Identity::default());
        let mut pieces = Pieces::default();
        pieces.begin(&glue, &texts);
        for piece in [Piece::Glue(7), Piece::Text(7), Piece::Unknown] {
            pieces.keep(piece, known);
        }
        pieces.begin(&glue, &texts);
        assert_eq!(pieces.get(Piece::Glue(7), 3), Some(&known));
        assert_eq!(pieces.get(Piece::Text(7), 3), Some(&known));
        assert_eq!(pieces.get(Piece::Text(7), 4), None);
        assert_eq!(pieces.get(Piece::Unknown, 3), None);
        pieces.begin(&glue, &Identity::default());
        assert_eq!(pieces.get(Piece::Glue(7), 3), Some(&known));
        assert_eq!(pieces.get(Piece::Text(7), 3), None);
        pieces.begin(&Identity::default(), &texts);
        assert_eq!(pieces.get(Piece::Glue(7), 3), None);
    }
}
