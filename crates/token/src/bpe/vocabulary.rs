//! The tokens of an encoding as merges: for two neighbouring tokens the token that they become, and the order of merges.
//!
//! A byte string that is a token is produced in only one way. The merges within its bytes happen in the same order in every text, so its
//! last merge always joins the same two tokens. One entry per token is therefore the whole table, and no byte string is hashed while text
//! is merged.

use rustc_hash::FxHashSet;

use crate::bpe::merge::{self, Merger};
use crate::bpe::merge_table::MergeTable;
use crate::bpe::pairs::ID_BITS;
use crate::bpe::symbols::Symbols;
use crate::split::join_points::JoinPoints;

/// The most tokens of a vocabulary: a pair of ids and a third must fit into a word.
pub(crate) const MOST_TOKENS: usize = (1 << ID_BITS) - 1;

/// The ordinary tokens of an encoding; special tokens are left out. An id is the position of a token in the order of ranks.
pub(crate) struct Vocabulary {
    /// The table of merges.
    pub(crate) merges: MergeTable,
    /// Tokens that no order of merges leads to: they are found only as whole pieces.
    unreachable: FxHashSet<Box<[u8]>>,
    /// The places that no token crosses.
    pub(crate) join_points: JoinPoints,
    /// The symbols of pieces, if these are not bytes.
    symbols: Option<Symbols>,
    /// Whether texts may be cut at all places that no token crosses: there are no pieces, and unknown characters do not join.
    pub(crate) has_neighbours: bool,
    #[cfg(test)]
    tokens: usize,
}

impl Vocabulary {
    /// Makes an empty vocabulary with room for this many tokens.
    pub(crate) fn for_tokens(tokens: usize) -> Self {
        Self {
            merges: MergeTable::for_entries(tokens),
            unreachable: FxHashSet::default(),
            join_points: JoinPoints::of_no_token(),
            symbols: None,
            has_neighbours: false,
            #[cfg(test)]
            tokens,
        }
    }

    /// Makes a vocabulary from byte strings and their ranks, in any order; at most [`MOST_TOKENS`].
    ///
    /// A byte that is not a token still counts as one, and joins nothing.
    pub(crate) fn new(tokens: impl IntoIterator<Item = (impl AsRef<[u8]>, u32)>) -> Self {
        let mut by_rank: Vec<_> = tokens.into_iter().collect();
        by_rank.sort_unstable_by_key(|(_, rank)| *rank);
        let mut by_length: Vec<(&[u8], u32)> =
            by_rank.iter().map(|(bytes, _)| bytes.as_ref()).zip(0..).collect();
        by_length.sort_unstable_by_key(|(bytes, _)| bytes.len());
        let mut vocabulary = Self::for_tokens(by_length.len());
        // Shorter tokens first: when a token is added, all tokens that it can consist of are known.
        let mut merger = Merger::default();
        for (bytes, id) in by_length {
            let parts = match bytes.len() {
                0..=2 => None,
                _ => merger.last_pair(&vocabulary.merges, bytes),
            };
            vocabulary.add(bytes, id, parts);
        }
        vocabulary
    }

    /// Adds a token and the two tokens that become it, if merges lead to it; `parts` is not needed for one or two bytes.
    pub(crate) fn add(&mut self, token: &[u8], id: u32, parts: Option<(u32, u32)>) {
        self.join_points.add(token);
        match (token, parts) {
            ([], _) => {}
            ([byte], _) => self.merges.set_byte(*byte, id),
            ([first, second], _) => self.merges.set_byte_pair(*first, *second, id),
            (_, Some((left, right))) => self.merges.set_pair(left, right, id),
            (_, None) => self.add_whole(token),
        }
    }

    /// Adds a token that exists only as a whole piece.
    pub(crate) fn add_whole(&mut self, token: &[u8]) {
        self.join_points.add(token);
        self.join_points.add_whole(token);
        self.unreachable.insert(token.into());
    }

    /// Sets the symbols of pieces, if these are not bytes.
    pub(crate) fn set_symbols(&mut self, symbols: Symbols) {
        self.symbols = Some(symbols);
    }

    /// Adds a token of characters, and the two tokens that become it.
    pub(crate) fn add_characters(&mut self, token: &str, id: u32, (left, right): (u32, u32)) {
        self.join_points.add_characters(token);
        self.merges.set_pair(left, right, id);
    }

    /// The symbols of a piece: the byte at which each begins, and its id.
    #[expect(clippy::expect_used, reason = "no text is cut within a character")]
    fn symbols_of(symbols: &Symbols, piece: &[u8]) -> Vec<(usize, u32)> {
        let text = std::str::from_utf8(piece).expect("a piece of a text is text");
        let mut found = Vec::with_capacity(piece.len());
        symbols.each(text, |start, id| found.push((start, id)));
        found
    }

    /// Whether a whole piece is a token that merging would not find.
    pub(crate) fn is_unreachable(&self, piece: &[u8]) -> bool {
        !self.unreachable.is_empty() && self.unreachable.contains(piece)
    }

    /// Calls `token` with the length in bytes of each token of a piece, in order.
    pub(crate) fn each_token(&self, merger: &mut Merger, piece: &[u8], mut token: impl FnMut(usize)) {
        if piece.len() <= merge::SHORT_PIECE_BYTES {
            merge::each_length(self.beginnings(piece), piece.len(), token);
        } else if self.is_unreachable(piece) {
            token(piece.len());
        } else if let Some(symbols) = &self.symbols {
            let symbols = Self::symbols_of(symbols, piece);
            merger.each_of_symbols(&self.merges, &symbols, piece.len(), token);
        } else {
            merger.each_of_long(&self.merges, piece, token);
        }
    }

    /// The bytes at which the tokens of a piece begin, a bit each; the piece has at most [`merge::SHORT_PIECE_BYTES`] bytes.
    pub(crate) fn beginnings(&self, piece: &[u8]) -> u64 {
        if piece.len() < 2 || self.is_unreachable(piece) {
            return 1;
        }
        if let Some(symbols) = &self.symbols {
            return merge::beginnings_of_symbols(&self.merges, &Self::symbols_of(symbols, piece));
        }
        merge::beginnings(&self.merges, piece)
    }

    /// The same in two vocabularies at once.
    pub(crate) fn beginnings_in_both(both: [&Self; 2], piece: &[u8]) -> [u64; 2] {
        let is_special = |one: &Self| one.symbols.is_some() || one.is_unreachable(piece);
        if piece.len() < 2 || both.iter().any(|one| is_special(one)) {
            return both.map(|vocabulary| vocabulary.beginnings(piece));
        }
        merge::beginnings_in_both(both.map(|vocabulary| &vocabulary.merges), piece)
    }

    /// The number of ordinary tokens.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.tokens
    }
}
