//! Where texts are cut: into the pieces that are merged one by one, at control tokens, and at places that lie in no token.
//!
//! Tokens and merges are not known here.

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

/// The part of a text, or of its bytes, at a range that was found in it. Any other range is a fault of the program, which ends
/// here: what is left out would be missing in a count.
#[inline]
pub(crate) fn part<T: Index<Range<usize>> + ?Sized>(whole: &T, range: Range<usize>) -> &T::Output {
    &whole[range]
}
