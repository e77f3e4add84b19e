//! A text that was changed, with the byte of the original that each of its bytes comes from.

use std::ops::Range;

use crate::split::part;

/// A changed text, and the pieces that it is cut into so far.
#[derive(Default)]
pub(crate) struct Aligned {
    pub(crate) text: String,
    /// For each byte, where in the original it comes from; never less than that of the byte before.
    origins: Vec<u32>,
    /// In order; what lies in none was removed.
    pub(crate) pieces: Vec<Range<usize>>,
}

impl Aligned {
    /// A text that is not changed yet, in one piece.
    pub(crate) fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            origins: (0..text.len() as u32).collect(),
            pieces: Vec::new(),
        }
        .in_one_piece()
    }

    /// The whole text as one piece; none where it is empty.
    pub(crate) fn in_one_piece(mut self) -> Self {
        self.pieces.clear();
        if !self.text.is_empty() {
            self.pieces.push(0..self.text.len());
        }
        self
    }

    /// Where in the original a byte comes from.
    #[expect(clippy::indexing_slicing, reason = "there is an origin for each byte")]
    pub(crate) fn origin(&self, byte: usize) -> u32 {
        self.origins[byte]
    }

    /// Adds characters that come from one byte of the original.
    pub(crate) fn push(&mut self, text: &str, origin: u32) {
        self.text.push_str(text);
        self.origins.resize(self.text.len(), origin);
    }

    /// Adds a part of another text as it is.
    pub(crate) fn copy(&mut self, from: &Self, range: Range<usize>) {
        self.text.push_str(part(from.text.as_str(), range.clone()));
        self.origins
            .extend_from_slice(part(from.origins.as_slice(), range));
    }

    /// What `change` makes of each piece of another text, a piece each.
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
