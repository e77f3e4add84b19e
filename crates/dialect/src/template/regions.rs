//! Finds the pieces of a conversation in an output: by their marks, or by a search if a template inspects its texts and marks would change
//! its output.

use std::collections::BTreeMap;
use std::ops::Range;

use chatmill_diag::cut;
use chatmill_model::json;

use super::context::{Kind, Piece};
use super::marks::{Half, Unmarked};
use super::methods::is_space;

/// Maximum number of bytes of an output that are searched in vain, which takes about a second. Pieces after that count as not printed and
/// are declared as lost.
const MOST_IN_VAIN: usize = 1 << 30;

/// Ranges of an output that do not overlap, each with the number of its piece.
#[derive(Debug, Default)]
pub(super) struct Regions {
    places: BTreeMap<usize, (usize, usize)>,
    /// Whether ids of calls are found by their marks. A template may print an id with the call, with its result, or with both, so that a
    /// search does not find out to which of them a place belongs.
    pub(super) has_marked_ids: bool,
}

impl Regions {
    /// Finds pieces by their marks.
    pub(super) fn of_marks(unmarked: &Unmarked, pieces: &[Piece<'_>]) -> Self {
        let mut regions = Self {
            has_marked_ids: true,
            ..Self::default()
        };
        // A template that cuts and joins its texts may produce marks with the number of a piece that does not exist.
        let known = unmarked.pieces.iter().filter(|found| found.piece < pieces.len());
        for found in known.filter(|found| found.is_whole.is_none()) {
            regions.take(found.range.clone(), found.piece);
        }
        for found in &unmarked.pieces {
            let (Some(half), Some(piece)) = (found.is_whole, pieces.get(found.piece)) else {
                continue;
            };
            let inner = piece.text.trim_matches(is_space);
            let at = found.range.start;
            // A piece without one of its marks ends before the next piece at the latest, so that no range is compared twice.
            let Some(gap) = regions.gap(at, unmarked.text.len()) else {
                continue;
            };
            let range = match half {
                Half::Opening => at..at + common_start(inner, cut::text(&unmarked.text, at..gap.end)),
                Half::Closing => at - common_end(inner, cut::text(&unmarked.text, gap.start..at))..at,
            };
            regions.take(range, found.piece);
        }
        regions
    }

    /// Finds ids of calls by searching what is between the other pieces, which are found by their marks.
    pub(super) fn of_marks_without_ids(unmarked: &Unmarked, pieces: &[Piece<'_>]) -> Self {
        let mut regions = Self::of_marks(unmarked, pieces);
        regions.has_marked_ids = false;
        regions.search(&unmarked.text, pieces, true, MOST_IN_VAIN);
        regions
    }

    /// Finds pieces by searching the output, in order if they are printed in order. Ids of calls come last, because templates print them
    /// before or after the rest of the call.
    pub(super) fn of_search(output: &str, pieces: &[Piece<'_>]) -> Self {
        Self::searched(output, pieces, MOST_IN_VAIN)
    }

    fn searched(output: &str, pieces: &[Piece<'_>], most_in_vain: usize) -> Self {
        let mut regions = Self::default();
        regions.search(output, pieces, false, most_in_vain);
        regions.search(output, pieces, true, most_in_vain);
        regions
    }

    /// Finds the pieces that are ids of calls, or all others.
    fn search(&mut self, output: &str, pieces: &[Piece<'_>], are_ids: bool, most_in_vain: usize) {
        let (mut from, mut turn_from, mut turn) = (0, 0, None);
        let mut in_vain = 0_usize;
        for (number, piece) in pieces.iter().enumerate() {
            let inner = piece.text.trim_matches(is_space);
            if inner.is_empty() || (piece.kind == Kind::CallId) != are_ids {
                continue;
            }
            if piece.turn != turn {
                (turn, turn_from) = (piece.turn, from);
            }
            // System text may be printed in front of a later turn. The texts of the assistant follow the turn before it.
            let again = if piece.is_own() && !are_ids { turn_from } else { 0 };
            let mut escaped = String::new();
            json::push_escaped(&mut escaped, inner);
            let escaped = Some(escaped.as_str()).filter(|escaped| *escaped != inner);
            let spellings = || std::iter::once(inner).chain(escaped);
            let mut tries = spellings()
                .map(|needle| (needle, from))
                .chain(spellings().map(|needle| (needle, again)));
            let found = tries.find_map(|(needle, from)| {
                if in_vain > most_in_vain {
                    return None;
                }
                let found = self.find(output, needle, from);
                if found.is_none() {
                    in_vain = in_vain.saturating_add(output.len() - from);
                }
                found
            });
            if let Some(range) = found {
                from = range.end;
                self.take(range, number);
            }
        }
    }

    /// Returns the first free place of a text from a byte on.
    fn find(&self, output: &str, needle: &str, from: usize) -> Option<Range<usize>> {
        let tail = output.get(from..)?;
        tail.match_indices(needle)
            .map(|(at, found)| from + at..from + at + found.len())
            .find(|range| self.is_free(range))
    }

    fn is_free(&self, range: &Range<usize>) -> bool {
        let before = self.places.range(..range.end).next_back();
        before.is_none_or(|(_, (end, _))| *end <= range.start)
    }

    /// Returns the free range around a place.
    fn gap(&self, at: usize, length: usize) -> Option<Range<usize>> {
        let start = self
            .places
            .range(..=at)
            .next_back()
            .map_or(0, |(_, (end, _))| *end);
        let end = self.places.range(at..).next().map_or(length, |(start, _)| *start);
        (start <= at && at <= end).then_some(start..end)
    }

    fn take(&mut self, range: Range<usize>, piece: usize) {
        if !range.is_empty() && self.is_free(&range) {
            self.places.insert(range.start, (range.end, piece));
        }
    }

    /// Returns the ranges in order, with their pieces.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Range<usize>, usize)> + '_ {
        self.places
            .iter()
            .map(|(start, (end, piece))| (*start..*end, *piece))
    }
}

/// Returns the number of bytes that two texts have in common at their starts.
pub(super) fn common_start(left: &str, right: &str) -> usize {
    let equal = left
        .chars()
        .zip(right.chars())
        .take_while(|(left, right)| left == right);
    equal.map(|(character, _)| character.len_utf8()).sum()
}

fn common_end(left: &str, right: &str) -> usize {
    let pairs = left.chars().rev().zip(right.chars().rev());
    let equal = pairs.take_while(|(left, right)| left == right);
    equal.map(|(character, _)| character.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::super::marks;
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
    fn a_text_that_a_template_printed_in_part_is_found_in_part() {
        let pieces = pieces(&["think</think>\nsaid"]);
        let (_, tail) = pieces[0].text.split_once("</think>").unwrap();
        let marked = marks::around(&pieces[0].text, 0);
        let (_, marked_tail) = marked.split_once("</think>").unwrap();
        let unmarked = marks::read(&format!("<{}", marked_tail.trim()), 100).unwrap();
        assert_eq!(unmarked.text, format!("<{}", tail.trim()));
        assert_eq!(found(&Regions::of_marks(&unmarked, &pieces)), [(1..5, 0)]);
        let (head, _) = marked.split_once("nk</think>").unwrap();
        let unmarked = marks::read(&format!("<{head}>"), 100).unwrap();
        assert_eq!(found(&Regions::of_marks(&unmarked, &pieces)), [(1..4, 0)]);
    }

    #[test]
    fn a_search_ends_when_too_much_was_looked_through_in_vain() {
        let pieces = pieces(&["a", "nowhere", "b", "nor here", "c"]);
        let numbers = |most| -> Vec<usize> {
            let regions = Regions::searched("a b c", &pieces, most);
            regions.iter().map(|(_, number)| number).collect()
        };
        assert_eq!(numbers(MOST_IN_VAIN), [0, 2, 4]);
        assert_eq!(numbers(9), [0, 2]);
        assert_eq!(numbers(0), [0]);
    }

    #[test]
    fn a_search_takes_each_place_once_and_knows_json() {
        let pieces = pieces(&["a", "a", " ", "say \"x\"", "nowhere", "first"]);
        let regions = Regions::of_search("first:a,a;{\"say \\\"x\\\"\"}", &pieces);
        assert_eq!(found(&regions), [(0..5, 5), (6..7, 0), (8..9, 1), (12..21, 3)]);
    }
}
