//! A model of merges as a file says it: tokens by their text, and a rank for each pair of tokens that becomes a third.
//!
//! Texts are merged here one pair after the other, to find which merges ever happen and to judge counts. Production counts with a
//! [vocabulary](crate::bpe::vocabulary) that is made of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bpe::symbols::{Others, Symbols};
use crate::split::sync::BLANK;

/// Tokens and merges.
pub(crate) struct Model {
    /// Ids of tokens by their text.
    pub(crate) tokens: FxHashMap<String, u32>,
    /// The rank of a pair of tokens, and what it becomes.
    pub(crate) merges: FxHashMap<(u32, u32), (u32, u32)>,
    /// What texts are made of before anything is merged.
    pub(crate) symbols: Symbols,
    /// Whether a piece that is a token is one, however merges would divide it.
    pub(crate) ignore_merges: bool,
}

/// What the merges made of a piece.
pub(crate) struct Merged {
    /// Where tokens begin, and their ids.
    pub(crate) tokens: Vec<(usize, u32)>,
    /// The pair that was merged last, and its rank.
    pub(crate) last: Option<((u32, u32), u32)>,
}

/// A token of a piece that is being merged.
struct Link {
    start: usize,
    id: u32,
    before: Option<usize>,
    /// The place of the next token, or one past the last; nothing where the token went into the one before it.
    behind: Option<usize>,
}

impl Model {
    /// A model of these tokens and merges; none where what stands for unknown characters is merged.
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

    /// Whether a sign for spaces is a token, and pieces are never looked up whole.
    pub(crate) fn has_blanks(&self) -> bool {
        !self.ignore_merges && self.symbols.characters.contains_key(&BLANK)
    }

    /// Merges a piece: always the pair of lowest rank, the leftmost of equals. A file may name tokens of any length, so the time is
    /// in proportion to the piece's length and its logarithm.
    pub(crate) fn merge(&self, piece: &str) -> Merged {
        let mut links: Vec<Link> = Vec::new();
        self.symbols.each(piece, |start, id| {
            let number = links.len();
            links.push(Link {
                start,
                id,
                before: number.checked_sub(1),
                behind: Some(number + 1),
            });
        });
        let queued = |links: &[Link], left: usize| {
            let (rank, becomes) = self.joined(links, left)?;
            Some(Reverse((rank, left, becomes)))
        };
        let mut queue: BinaryHeap<_> = (0..links.len()).filter_map(|left| queued(&links, left)).collect();
        let mut last = None;
        while let Some(Reverse((rank, left, becomes))) = queue.pop() {
            // A pair of which a token was merged with another since is no pair any more.
            if self.joined(&links, left) != Some((rank, becomes)) {
                continue;
            }
            let behind = links.get(left).and_then(|left| left.behind);
            let gone = behind.and_then(|right| links.get_mut(right));
            let Some((right, after)) = gone.map(|right| (right.id, right.behind.take())) else {
                continue;
            };
            if let Some(after) = after.and_then(|after| links.get_mut(after)) {
                after.before = Some(left);
            }
            let Some(joined) = links.get_mut(left) else {
                continue;
            };
            last = Some(((joined.id, right), rank));
            (joined.id, joined.behind) = (becomes, after);
            let pairs = joined.before.into_iter().chain([left]);
            queue.extend(pairs.filter_map(|left| queued(&links, left)));
        }
        let left = links.iter().filter(|link| link.behind.is_some());
        Merged {
            tokens: left.map(|link| (link.start, link.id)).collect(),
            last,
        }
    }

    /// Where the tokens of a piece begin.
    pub(crate) fn starts(&self, piece: &str) -> Vec<usize> {
        if self.ignore_merges && self.tokens.contains_key(piece) {
            return vec![0];
        }
        let tokens = self.merge(piece).tokens;
        tokens.into_iter().map(|(start, _)| start).collect()
    }

    /// The rank of the pair that begins with this token, and what it becomes.
    fn joined(&self, links: &[Link], left: usize) -> Option<(u32, u32)> {
        let left = links.get(left)?;
        let right = links.get(left.behind?)?;
        self.merges.get(&(left.id, right.id)).copied()
    }
}
