//! A model of merges as a file says it: tokens by their text, and a rank for each pair of tokens that becomes a third.
//!
//! Texts are merged here in the plainest way, to find which merges ever happen and to judge counts. Production counts with a
//! [vocabulary](crate::bpe::vocabulary) that is made of it.

use rustc_hash::FxHashMap;

use crate::bpe::symbols::Symbols;

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
#[derive(Default)]
pub(crate) struct Merged {
    /// Where tokens begin, and their ids.
    pub(crate) tokens: Vec<(usize, u32)>,
    /// The pair that was merged last, and its rank.
    pub(crate) last: Option<((u32, u32), u32)>,
}

impl Model {
    /// Merges a piece: always the pair of lowest rank, the leftmost of equals.
    pub(crate) fn merge(&self, piece: &str) -> Merged {
        let mut merged = Merged::default();
        let tokens = &mut merged.tokens;
        self.symbols.each(piece, |start, id| tokens.push((start, id)));
        let mut joins: Vec<Option<(u32, u32)>> = tokens
            .windows(2)
            .map(|pair| self.joined(pair.first(), pair.last()))
            .collect();
        let lowest = |joins: &[Option<(u32, u32)>]| {
            let joins = joins.iter().enumerate();
            joins.filter_map(|(at, join)| Some((join.as_ref()?.0, at))).min()
        };
        while let Some((rank, at)) = lowest(&joins) {
            let (_, right) = tokens.remove(at + 1);
            let (_, becomes) = joins.remove(at).unwrap_or((rank, right));
            if let Some((_, id)) = tokens.get_mut(at) {
                merged.last = Some(((*id, right), rank));
                *id = becomes;
            }
            for left in at.saturating_sub(1)..=at {
                if let Some(join) = joins.get_mut(left) {
                    *join = self.joined(tokens.get(left), tokens.get(left + 1));
                }
            }
        }
        merged
    }

    /// Where the tokens of a piece begin.
    pub(crate) fn starts(&self, piece: &str) -> Vec<usize> {
        if self.ignore_merges && self.tokens.contains_key(piece) {
            return vec![0];
        }
        let tokens = self.merge(piece).tokens;
        tokens.into_iter().map(|(start, _)| start).collect()
    }

    fn joined(&self, left: Option<&(usize, u32)>, right: Option<&(usize, u32)>) -> Option<(u32, u32)> {
        self.merges.get(&(left?.1, right?.1)).copied()
    }
}
