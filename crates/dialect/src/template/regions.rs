//! Where the pieces of a conversation stand in an output: by their marks, and by looking for them where a template looks
//! into its texts and marks would change what it says.

use std::collections::BTreeMap;
use std::ops::Range;

use chatmill_model::json;

use super::marks::{Half, Unmarked};
use super::methods::is_space;
use super::stage::Piece;

/// Stretches of an output, none over another, each with the number of its piece.
#[derive(Debug, Default)]
pub(super) struct Regions(BTreeMap<usize, (usize, usize)>);

impl Regions {
    /// Pieces by their marks.
    pub(super) fn of_marks(unmarked: &Unmarked, pieces: &[Piece<'_>]) -> Self {
        let mut regions = Self::default();
        let whole = unmarked.pieces.iter().filter(|found| found.is_whole.is_none());
        for found in whole {
            regions.take(found.range.clone(), found.piece);
        }
        for found in &unmarked.pieces {
            let (Some(half), Some(piece)) = (found.is_whole, pieces.get(found.piece)) else {
                continue;
            };
            let inner = piece.text.trim_matches(is_space);
            let at = found.range.start;
            let Some((before, behind)) = unmarked.text.split_at_checked(at) else {
                continue;
            };
            let range = match half {
                Half::Opening => at..at + common_start(inner, behind),
                Half::Closing => at - common_end(inner, before)..at,
            };
            regions.take(range, found.piece);
        }
        regions
    }

    /// Pieces that are found in an output, in order where they stand in order.
    pub(super) fn of_search(output: &str, pieces: &[Piece<'_>]) -> Self {
        let mut regions = Self::default();
        let mut from = 0;
        for (number, piece) in pieces.iter().enumerate() {
            let inner = piece.text.trim_matches(is_space);
            if inner.is_empty() {
                continue;
            }
            let mut escaped = String::new();
            json::push_escaped(&mut escaped, inner);
            let found = [(inner, from), (&escaped, from), (inner, 0), (&escaped, 0)]
                .into_iter()
                .find_map(|(needle, from)| regions.find(output, needle, from));
            if let Some(range) = found {
                from = from.max(range.end);
                regions.take(range, number);
            }
        }
        regions
    }

    /// The first place of a text, from a byte on, that nothing else has taken.
    fn find(&self, output: &str, needle: &str, from: usize) -> Option<Range<usize>> {
        let tail = output.get(from..)?;
        tail.match_indices(needle)
            .map(|(at, found)| from + at..from + at + found.len())
            .find(|range| self.is_free(range))
    }

    fn is_free(&self, range: &Range<usize>) -> bool {
        let before = self.0.range(..range.end).next_back();
        before.is_none_or(|(_, (end, _))| *end <= range.start)
    }

    fn take(&mut self, range: Range<usize>, piece: usize) {
        if !range.is_empty() && self.is_free(&range) {
            self.0.insert(range.start, (range.end, piece));
        }
    }

    /// The stretches in order, with their pieces.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Range<usize>, usize)> + '_ {
        self.0.iter().map(|(start, (end, piece))| (*start..*end, *piece))
    }
}

fn common_start(left: &str, right: &str) -> usize {
    let equal = left
        .chars()
        .zip(right.chars())
        .take_while(|(left, right)| left == right);
    equal.map(|(sign, _)| sign.len_utf8()).sum()
}

fn common_end(left: &str, right: &str) -> usize {
    let pairs = left.chars().rev().zip(right.chars().rev());
    let equal = pairs.take_while(|(left, right)| left == right);
    equal.map(|(sign, _)| sign.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::super::marks;
    use super::super::stage::Kind;
    use super::*;
    use chatmill_model::Role;

    fn pieces(texts: &[&str]) -> Vec<Piece<'static>> {
        let piece = |text: &&str| Piece {
            kind: Kind::Text(Role::User),
            position: None,
            turn: None,
            words: Vec::new(),
            text: (*text).to_owned(),
        };
        texts.iter().map(piece).collect()
    }

    fn found(regions: &Regions) -> Vec<(Range<usize>, usize)> {
        regions.iter().collect()
    }

    #[test]
    fn half_a_piece_is_as_much_as_stands_there() {
        let pieces = pieces(&["think</think>\nsaid"]);
        let (_, tail) = pieces[0].text.split_once("</think>").unwrap();
        let marked = marks::around(&pieces[0].text, 0);
        let (_, marked_tail) = marked.split_once("</think>").unwrap();
        let unmarked = marks::read(&format!("<{}", marked_tail.trim()));
        assert_eq!(unmarked.text, format!("<{}", tail.trim()));
        assert_eq!(found(&Regions::of_marks(&unmarked, &pieces)), [(1..5, 0)]);
        let (head, _) = marked.split_once("nk</think>").unwrap();
        let unmarked = marks::read(&format!("<{head}>"));
        assert_eq!(found(&Regions::of_marks(&unmarked, &pieces)), [(1..4, 0)]);
    }

    #[test]
    fn a_search_takes_each_place_once_and_knows_json() {
        let pieces = pieces(&["a", "a", " ", "say \"x\"", "nowhere", "first"]);
        let regions = Regions::of_search("first:a,a;{\"say \\\"x\\\"\"}", &pieces);
        assert_eq!(found(&regions), [(0..5, 5), (6..7, 0), (8..9, 1), (12..21, 3)]);
    }
}
