//! Parts of texts and lists at boundaries that were found in them. A missing part is a bug: it ends the run with its place instead of
//! giving wrong data.

use std::ops::Range;

/// A part of a text.
#[inline]
#[track_caller]
pub fn text(whole: &str, part: Range<usize>) -> &str {
    whole.split_at(part.end).0.split_at(part.start).1
}

/// A part of a list.
#[inline]
#[track_caller]
pub fn slice<T>(whole: &[T], part: Range<usize>) -> &[T] {
    whole.split_at(part.end).0.split_at(part.start).1
}

/// The first `characters` code points of a longer text, with a mark of the cut; else the whole text.
pub fn beginning(whole: &str, characters: usize) -> String {
    match whole.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", whole.split_at(end).0),
        None => whole.to_owned(),
    }
}

/// The first `most` elements of a list, or all if there are fewer.
#[inline]
pub fn up_to<T>(whole: &[T], most: usize) -> &[T] {
    whole.split_at(most.min(whole.len())).0
}

/// The element at `place`, which must exist.
#[inline]
#[track_caller]
#[expect(clippy::indexing_slicing, reason = "the caller has checked that it exists")]
pub fn at<T>(whole: &[T], place: usize) -> &T {
    &whole[place]
}

/// A mutable part of a list.
#[inline]
#[track_caller]
pub fn slice_mut<T>(whole: &mut [T], part: Range<usize>) -> &mut [T] {
    whole.split_at_mut(part.end).0.split_at_mut(part.start).1
}

/// The element at `place`, which must exist, as mutable.
#[inline]
#[track_caller]
#[expect(clippy::indexing_slicing, reason = "the caller has checked that it exists")]
pub fn at_mut<T>(whole: &mut [T], place: usize) -> &mut T {
    &mut whole[place]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_the_text_between_its_marks() {
        assert_eq!(text("añb", 1..3), "ñ");
        assert_eq!(text("ab", 2..2), "");
        assert_eq!(slice(&[1, 2, 3], 1..3), [2, 3]);
        assert_eq!((up_to(&[1, 2], 1), up_to(&[1, 2], 3)), (&[1][..], &[1, 2][..]));
        assert_eq!(at(&[1, 2, 3], 1), &2);
        let mut list = [1, 2, 3];
        slice_mut(&mut list, 0..2).fill(4);
        *at_mut(&mut list, 2) = 5;
        assert_eq!(list, [4, 4, 5]);
    }

    #[test]
    fn cutting_outside_a_text_or_a_list_panics() {
        assert!(std::panic::catch_unwind(|| text("añb", 0..2).len()).is_err());
        assert!(std::panic::catch_unwind(|| slice(&[1], 1..2).len()).is_err());
    }
}
