//! Byte-pair merging of one piece: always the pair of lowest rank, the leftmost of equals, until no pair is a token.
//!
//! Two ways to the same result. A short piece scans a small array after every merge; a long one keeps its pairs in a heap, so
//! that a megabyte without a space costs a second and not a day. Tests hold the two against each other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::vocabulary::{NO_RANK, Vocabulary};

/// Bytes up to which scanning beats the heap.
const SHORT: usize = 96;

/// Bytes up to which the heap's offsets fit; beyond, a piece is merged in stretches. No limit lets a text grow so long.
const STRETCH: usize = 1 << 31;

/// Merges pieces; keeps the array of the short ones.
#[derive(Default)]
pub(crate) struct Merger {
    parts: Vec<Part>,
}

/// A growing token of a short piece; one more part marks the end.
#[derive(Clone, Copy)]
struct Part {
    /// First byte.
    start: usize,
    /// Rank of this part joined with the next.
    pair: u32,
}

impl Merger {
    /// Calls `token` with the length in bytes of each token of `piece`, in order.
    pub(crate) fn each(&mut self, vocabulary: &Vocabulary, piece: &[u8], mut token: impl FnMut(usize)) {
        if piece.len() <= SHORT {
            self.each_of_short(vocabulary, piece, token);
        } else {
            for stretch in piece.chunks(STRETCH) {
                each_of_long(vocabulary, stretch, &mut token);
            }
        }
    }

    fn each_of_short(&mut self, vocabulary: &Vocabulary, piece: &[u8], mut token: impl FnMut(usize)) {
        let parts = &mut self.parts;
        parts.clear();
        parts.extend((0..=piece.len()).map(|start| {
            Part {
                start,
                pair: piece
                    .get(start..start + 2)
                    .map_or(NO_RANK, |pair| vocabulary.rank(pair)),
            }
        }));
        while let Some((index, part)) = parts.iter().enumerate().min_by_key(|(_, part)| part.pair)
            && part.pair != NO_RANK
        {
            parts.remove(index + 1);
            for changed in index.saturating_sub(1)..=index {
                let pair = pair_of(parts, changed, vocabulary, piece);
                if let Some(part) = parts.get_mut(changed) {
                    part.pair = pair;
                }
            }
        }
        for (part, next) in parts.iter().zip(parts.iter().skip(1)) {
            token(next.start - part.start);
        }
    }
}

/// The rank of part `index` joined with its neighbour.
fn pair_of(parts: &[Part], index: usize, vocabulary: &Vocabulary, piece: &[u8]) -> u32 {
    let (Some(first), Some(end)) = (parts.get(index), parts.get(index + 2)) else {
        return NO_RANK;
    };
    piece
        .get(first.start..end.start)
        .map_or(NO_RANK, |pair| vocabulary.rank(pair))
}

/// A growing token of a long piece, found by its first byte.
#[derive(Clone, Copy)]
struct Link {
    /// First byte of the part before; its own for the first part.
    before: u32,
    /// One past the last byte.
    end: u32,
    /// Rank of this part joined with the next.
    pair: u32,
}

/// The pairs of a long piece, lowest rank and leftmost first; pairs that changed since are recognised by their rank.
type Pairs = BinaryHeap<Reverse<(u32, u32)>>;

fn each_of_long(vocabulary: &Vocabulary, piece: &[u8], mut token: impl FnMut(usize)) {
    let mut links: Vec<Link> = (0..)
        .zip(piece)
        .map(|(start, _): (u32, _)| Link {
            before: start.saturating_sub(1),
            end: start + 1,
            pair: NO_RANK,
        })
        .collect();
    let mut pairs = Pairs::with_capacity(piece.len());
    for start in (0..).take(piece.len()) {
        renew_pair(vocabulary, piece, &mut links, &mut pairs, start);
    }
    while let Some(Reverse((rank, start))) = pairs.pop() {
        let Some(left) = link(&links, start).filter(|left| left.pair == rank) else {
            continue;
        };
        let Some(right) = links.get_mut(left.end as usize) else {
            continue;
        };
        right.pair = NO_RANK;
        let end = right.end;
        if let Some(next) = links.get_mut(end as usize) {
            next.before = start;
        }
        if let Some(left) = links.get_mut(start as usize) {
            left.end = end;
        }
        renew_pair(vocabulary, piece, &mut links, &mut pairs, start);
        if left.before != start {
            renew_pair(vocabulary, piece, &mut links, &mut pairs, left.before);
        }
    }
    let mut at = 0;
    while let Some(part) = link(&links, at) {
        token((part.end - at) as usize);
        at = part.end;
    }
}

fn link(links: &[Link], start: u32) -> Option<Link> {
    links.get(start as usize).copied()
}

/// Looks up the pair that begins at `start` and queues it when it is a token.
fn renew_pair(vocabulary: &Vocabulary, piece: &[u8], links: &mut [Link], pairs: &mut Pairs, start: u32) {
    let right = link(links, start).and_then(|left| link(links, left.end));
    let rank = right
        .and_then(|right| piece.get(start as usize..right.end as usize))
        .map_or(NO_RANK, |pair| vocabulary.rank(pair));
    if let Some(left) = links.get_mut(start as usize) {
        left.pair = rank;
    }
    if rank != NO_RANK {
        pairs.push(Reverse((rank, start)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens_of(merge: impl FnOnce(&mut dyn FnMut(usize))) -> Vec<usize> {
        let mut tokens = Vec::new();
        merge(&mut |bytes| tokens.push(bytes));
        tokens
    }

    fn both_ways(encoding: &str, piece: &[u8]) -> (Vec<usize>, Vec<usize>) {
        let vocabulary = &crate::find(encoding).unwrap().loaded().tables.vocabulary;
        let short = tokens_of(|token| Merger::default().each_of_short(vocabulary, piece, token));
        let long = tokens_of(|token| each_of_long(vocabulary, piece, token));
        (short, long)
    }

    #[test]
    fn repeats_of_a_few_bytes_merge_alike_by_scan_and_by_heap() {
        for unit in ["a", "ab", "aab", " ", "\n", "=", "-=", "é", "的", "haha", "😀"] {
            for bytes in 1..200 {
                let piece: Vec<u8> = unit.bytes().cycle().take(bytes).collect();
                let (short, long) = both_ways("o200k_base", &piece);
                assert_eq!(short, long, "{bytes} bytes of {unit:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_merge_alike_by_scan_and_by_heap(
            piece in prop_oneof![
                proptest::collection::vec(any::<u8>(), 1..300),
                "[a-e ]{1,300}".prop_map(String::into_bytes),
                "[а-яієїґ]{1,150}".prop_map(String::into_bytes),
                "\\PC{1,100}".prop_map(String::into_bytes),
            ],
        ) {
            for encoding in ["o200k_base", "cl100k_base", "p50k_base"] {
                let (short, long) = both_ways(encoding, &piece);
                prop_assert_eq!(&short, &long);
                prop_assert_eq!(short.iter().sum::<usize>(), piece.len());
            }
        }
    }
}
