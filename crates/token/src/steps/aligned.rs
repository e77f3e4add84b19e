//! A changed text that knows, for each of its bytes, the byte of the original that it comes from.

use std::ops::Range;

use crate::split::part;

/// A changed text, and the pieces into which it is cut so far.
#[derive(Default)]
pub(crate) struct Aligned {
    pub(crate) text: String,
    /// For each byte its origin in the original; never decreases.
    origins: Vec<u32>,
    /// The pieces, in order; text that is in none was removed.
    pub(crate) pieces: Vec<Range<usize>>,
}

impl Aligned {
    /// An unchanged text, in one piece.
    pub(crate) fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            origins: (0..text.len() as u32).collect(),
            pieces: Vec::new(),
        }
        .in_one_piece()
    }

    /// Makes one piece of the whole text; none if it is empty.
    pub(crate) fn in_one_piece(mut self) -> Self {
        self.pieces.clear();
        if !self.text.is_empty() {
            self.pieces.push(0..self.text.len());
        }
        self
    }

    /// The origin of a byte in the original.
    #[expect(clippy::indexing_slicing, reason = "there is an origin for each byte")]
    pub(crate) fn origin(&self, byte: usize) -> u32 {
        self.origins[byte]
    }

    /// Appends characters that come from one byte of the original.
    pub(crate) fn push(&mut self, text: &str, origin: u32) {
        self.text.push_str(text);
        self.origins.resize(self.text.len(), origin);
    }

    /// Appends a part of another text unchanged.
    pub(crate) fn copy(&mut self, from: &Self, range: Range<usize>) {
        self.text.push_str(part(from.text.as_str(), range.clone()));
        self.origins
            .extend_from_slice(part(from.origins.as_slice(), range));
    }

    /// Applies `change` to each piece of another text; each result is one piece.
    pub(crate) fn of_pieces(from: &Self, mut change: impl FnMut(&mut Self, Range<usize>)) -> Self {
        let mut to = Self::default();
        for piece in &from.pieces {
            let start = to.text.len();
            change(&mut to, piece.clone());
            to.pieces.push(start..to.text.len());
        }
        to
    }
}
