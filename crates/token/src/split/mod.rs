//! Cuts texts: into pieces that are merged one by one, at control tokens, and at places that no token crosses.
//!
//! `Splitter` makes pieces, `parts` finds control tokens, `sync` and `join_points` find the places where a text may be cut without changing
//! its tokens, `patterns` and `oniguruma` read the patterns of encodings. Only `join_points` sees tokens, and nothing here sees merges.
//! `token_counter`, `bpe`, `steps` and `files` call it.

pub(crate) mod classes;
pub(crate) mod finder;
pub(crate) mod join_points;
pub(crate) mod oniguruma;
pub(crate) mod parts;
pub(crate) mod patterns;
pub(crate) mod prefix;
pub(crate) mod scan;
pub(crate) mod splitter;
pub(crate) mod sync;

use std::ops::{Index, Range};

/// The part of a text, or of its bytes, at a range that was found in it. Any other range is a bug and ends the program: a part that is left
/// out would be missing from a count.
#[inline]
pub(crate) fn part<T: Index<Range<usize>> + ?Sized>(whole: &T, range: Range<usize>) -> &T::Output {
    &whole[range]
}
