//! A model of merges as a file describes it: tokens by their text, and a rank for each pair of tokens that becomes a third.
//!
//! A model merges one pair after the other. That is slow; it serves to find the merges that ever happen, and to check counts. Production
//! counts with the [vocabulary](crate::bpe::vocabulary) that is made from it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bpe::symbols::{Others, Symbols};
use crate::split::sync::BLANK;

/// Tokens and merges.
pub(crate) struct Model {
    /// Ids of tokens, by text.
    pub(crate) tokens: FxHashMap<String, u32>,
    /// For each pair of tokens, the rank of its merge and the resulting token.
    pub(crate) merges: FxHashMap<(u32, u32), (u32, u32)>,
    /// The symbols that a text consists of before any merge.
    pub(crate) symbols: Symbols,
    /// Whether a piece that is a token is never merged.
    pub(crate) ignore_merges: bool,
}

/// The result of merging a piece.
pub(crate) struct Merged {
    /// The first byte of each token, and its id.
    pub(crate) tokens: Vec<(usize, u32)>,
    /// The pair that was merged last, and its rank.
    pub(crate) last: Option<((u32, u32), u32)>,
}

/// A token of a piece that is being merged.
struct Link {
    start: usize,
    id: u32,
    before: Option<usize>,
    /// The index of the next token, or one past the last; `None` once the token has been merged into the one before it.
    next: Option<usize>,
}

impl Model {
    /// A model of these tokens and merges; `None` if a merge joins a token for unknown characters.
    pub(crate) fn new(
        tokens: FxHashMap<String, u32>,
        merges: FxHashMap<(u32, u32), (u32, u32)>,
        others: Others,
        ignore_merges: bool,
    ) -> Option<Self> {
        let unknown: FxHashSet<&u32> = others.ids().iter().collect();
        let is_other = |id: &u32| unknown.contains(id);
        if merges
            .keys()
            .any(|(left, right)| is_other(left) || is_other(right))
        {
            return None;
        }
        let single = tokens.iter().filter_map(|(token, id)| {
            let mut characters = token.chars();
            let first = characters.next()?;
            characters.next().is_none().then_some((first, *id))
        });
        let symbols = Symbols {
            characters: single.collect(),
            others,
        };
        Some(Self {
            tokens,
            merges,
            symbols,
            ignore_merges,
        })
    }

    /// Whether the sign for a space is a token, and pieces are never looked up whole.
    pub(crate) fn has_blanks(&self) -> bool {
        !self.ignore_merges && self.symbols.characters.contains_key(&BLANK)
    }

    /// Merges a piece: always the pair of lowest rank, the leftmost among equals. A file may contain tokens of any length, so the time is
    /// in proportion to the piece's length and its logarithm.
    pub(crate) fn merge(&self, piece: &str) -> Merged {
        let mut links: Vec<Link> = Vec::new();
        self.symbols.each(piece, |start, id| {
            let number = links.len();
            links.push(Link {
                start,
                id,
                before: number.checked_sub(1),
                next: Some(number + 1),
            });
        });
        let queued = |links: &[Link], left: usize| {
            let (rank, becomes) = self.joined(links, left)?;
            Some(Reverse((rank, left, becomes)))
        };
        let mut queue: BinaryHeap<_> = (0..links.len()).filter_map(|left| queued(&links, left)).collect();
        let mut last = None;
        while let Some(Reverse((rank, left, becomes))) = queue.pop() {
            // A pair is stale if one of its tokens has been merged with another since.
            if self.joined(&links, left) != Some((rank, becomes)) {
                continue;
            }
            let next = links.get(left).and_then(|left| left.next);
            let gone = next.and_then(|right| links.get_mut(right));
            let Some((right, after)) = gone.map(|right| (right.id, right.next.take())) else {
                continue;
            };
            if let Some(after) = after.and_then(|after| links.get_mut(after)) {
                after.before = Some(left);
            }
            let Some(joined) = links.get_mut(left) else {
                continue;
            };
            last = Some(((joined.id, right), rank));
            (joined.id, joined.next) = (becomes, after);
            let pairs = joined.before.into_iter().chain([left]);
            queue.extend(pairs.filter_map(|left| queued(&links, left)));
        }
        let left = links.iter().filter(|link| link.next.is_some());
        Merged {
            tokens: left.map(|link| (link.start, link.id)).collect(),
            last,
        }
    }

    /// The bytes at which the tokens of a piece begin.
    pub(crate) fn starts(&self, piece: &str) -> Vec<usize> {
        if self.ignore_merges && self.tokens.contains_key(piece) {
            return vec![0];
        }
        let tokens = self.merge(piece).tokens;
        tokens.into_iter().map(|(start, _)| start).collect()
    }

    /// The rank and the result of the pair that begins with this token.
    fn joined(&self, links: &[Link], left: usize) -> Option<(u32, u32)> {
        let left = links.get(left)?;
        let right = links.get(left.next?)?;
        self.merges.get(&(left.id, right.id)).copied()
    }
}
