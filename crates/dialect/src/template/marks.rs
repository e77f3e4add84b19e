//! Marks around the texts in a template's context, so that its output shows where each piece of a conversation is printed.
//!
//! For a second rendering each piece is put between two marks with its number. The marks are inside the white space at its ends, so that
//! the template can trim it. They consist of code points that are not characters, so that a chat does not spell them; if it does, nothing
//! is marked. A template may inspect its texts and print something else because of the marks, so the marked output without its marks is
//! compared with the true output each time.

use std::collections::BTreeMap;
use std::ops::Range;

use super::meter::is_of_mark;
use super::methods::is_space;

const OPEN: char = '\u{fdd0}';
const CLOSE: char = '\u{fdd1}';
const END: char = '\u{fdd2}';
const DIGITS: [char; 16] = [
    '\u{fdd3}', '\u{fdd4}', '\u{fdd5}', '\u{fdd6}', '\u{fdd7}', '\u{fdd8}', '\u{fdd9}', '\u{fdda}',
    '\u{fddb}', '\u{fddc}', '\u{fddd}', '\u{fdde}', '\u{fddf}', '\u{fde0}', '\u{fde1}', '\u{fde2}',
];
const JSON: char = '\u{fde3}';
const GENERATION: char = '\u{fde4}';

/// Whether a text contains code points of marks.
pub(super) fn occur_in(text: &str) -> bool {
    text.contains(is_of_mark)
}

/// Returns a piece between its marks; a blank piece stays unchanged.
pub(super) fn around(text: &str, piece: usize) -> String {
    let inner = text.trim_matches(is_space);
    let Some((before, after)) = text.split_once(inner).filter(|_| !inner.is_empty()) else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len() + 32);
    out.push_str(before);
    push(&mut out, OPEN, &DIGITS, piece);
    out.push_str(inner);
    push(&mut out, CLOSE, &DIGITS, piece);
    out.push_str(after);
    out
}

fn push(out: &mut String, character: char, digits: &[char; 16], piece: usize) {
    out.push(character);
    let mut rest = piece;
    loop {
        out.extend(digits.get(rest % 16));
        rest /= 16;
        if rest == 0 {
            break;
        }
    }
    out.push(END);
}

/// Returns a container that a template dumped as JSON, with marks inside its brackets, which some templates cut off.
pub(super) fn around_json(text: &str) -> String {
    let mut inner = text.chars();
    let (first, last) = (inner.next(), inner.next_back());
    let marked = format!("{JSON}{OPEN}{}{JSON}{CLOSE}", inner.as_str());
    first.into_iter().chain(marked.chars()).chain(last).collect()
}

/// Returns text that a template marks as generated, between marks.
pub(super) fn around_generation(text: &str) -> String {
    format!("{GENERATION}{OPEN}{text}{GENERATION}{CLOSE}")
}

/// A piece in the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The number of the piece.
    pub(super) piece: usize,
    /// The range of its bytes; empty at the mark that is there if the other is missing.
    pub(super) range: Range<usize>,
    /// The mark that is there if the other is missing; `None` if both are there.
    pub(super) is_whole: Option<Half>,
}

/// The mark that is there if the other is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// The piece begins here.
    Opening,
    /// The piece ends here.
    Closing,
}

/// A marked output without its marks.
#[derive(Debug, Default)]
pub(super) struct Unmarked {
    /// The output.
    pub(super) text: String,
    /// Pieces in order of their ends.
    pub(super) pieces: Vec<Found>,
    /// The ranges of dumped JSON, only the outermost.
    pub(super) json: Vec<Range<usize>>,
    /// The ranges that the template marks as generated, only the outermost.
    pub(super) generated: Vec<Range<usize>>,
}

/// Takes the marks out of an output. Returns `None` if there are more than `most` marks, because the template repeats its texts too often.
pub(super) fn read(marked: &str, most: usize) -> Option<Unmarked> {
    let mut out = Unmarked::default();
    let mut open: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    let (mut json, mut generated) = (Vec::new(), Vec::new());
    let mut characters = marked.chars();
    let mut marks = 0;
    while let Some(character) = characters.next() {
        let at = out.text.len();
        if matches!(character, OPEN | CLOSE | JSON | GENERATION) {
            marks += 1;
            if marks > most {
                return None;
            }
        }
        match character {
            OPEN => open.entry(number(&mut characters)).or_default().push((marks, at)),
            CLOSE => {
                let piece = number(&mut characters);
                let (range, is_whole) = match open.get_mut(&piece).and_then(Vec::pop) {
                    Some((_, start)) => (start..at, None),
                    None => (at..at, Some(Half::Closing)),
                };
                out.pieces.push(Found {
                    piece,
                    range,
                    is_whole,
                });
            }
            JSON => {
                let behind = characters.as_str().strip_prefix(CLOSE).unwrap_or_default();
                let start = at - usize::from(out.text.ends_with(['{', '[']));
                let end = at + usize::from(behind.starts_with(['}', ']']));
                bracket(&mut characters, start..end, &mut json, &mut out.json);
            }
            GENERATION => bracket(&mut characters, at..at, &mut generated, &mut out.generated),
            END => {}
            character if DIGITS.contains(&character) => {}
            character => out.text.push(character),
        }
    }
    let open = open.into_iter();
    let mut open: Vec<(usize, usize, usize)> = open
        .flat_map(|(piece, opened)| opened.into_iter().map(move |(mark, start)| (mark, start, piece)))
        .collect();
    open.sort_unstable();
    for (_, start, piece) in open {
        out.pieces.push(Found {
            piece,
            range: start..start,
            is_whole: Some(Half::Opening),
        });
    }
    Some(out)
}

fn number(characters: &mut std::str::Chars<'_>) -> usize {
    let mut number = 0_usize;
    let mut weight = 1_usize;
    for character in characters.by_ref() {
        let Some(digit) = DIGITS.iter().position(|digit| *digit == character) else {
            break;
        };
        number = number.saturating_add(digit.saturating_mul(weight));
        weight = weight.saturating_mul(16);
    }
    number
}

fn bracket(
    characters: &mut std::str::Chars<'_>,
    at: Range<usize>,
    open: &mut Vec<usize>,
    found: &mut Vec<Range<usize>>,
) {
    if characters.next() == Some(OPEN) {
        open.push(at.start);
    } else if let Some(start) = open.pop().filter(|_| open.is_empty()) {
        found.push(start..at.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(marked: &str) -> Unmarked {
        super::read(marked, 100).unwrap()
    }

    #[test]
    fn so_many_marks_are_read_and_not_more() {
        let marked = around("a", 0).repeat(3);
        assert_eq!(super::read(&marked, 6).map(|read| read.pieces.len()), Some(3));
        assert!(super::read(&marked, 5).is_none());
    }

    #[test]
    fn marks_survive_trimming_and_locate_their_piece() {
        let marked = format!("<a>{}</a>{}", around(" hi \n", 0).trim(), around("there", 300));
        let unmarked = read(&marked);
        assert_eq!(unmarked.text, "<a>hi</a>there");
        let ranges: Vec<_> = unmarked
            .pieces
            .iter()
            .map(|found| (found.piece, found.range.clone()))
            .collect();
        assert_eq!(ranges, [(0, 3..5), (300, 9..14)]);
        assert!(unmarked.pieces.iter().all(|found| found.is_whole.is_none()));
    }

    #[test]
    fn a_piece_that_was_cut_keeps_the_end_it_has() {
        let marked = around("think</think>said", 1);
        let (_, tail) = marked.split_once("</think>").unwrap();
        let unmarked = read(&format!("x{tail}"));
        assert_eq!(unmarked.text, "xsaid");
        assert_eq!(
            unmarked.pieces,
            [Found {
                piece: 1,
                range: 5..5,
                is_whole: Some(Half::Closing)
            }]
        );
        let (head, _) = marked.split_once("</think>").unwrap();
        assert_eq!(read(head).pieces[0].is_whole, Some(Half::Opening));
    }

    #[test]
    fn blank_pieces_are_not_marked_and_nested_brackets_are_one() {
        assert_eq!(around(" \n", 3), " \n");
        assert_eq!(around("", 3), "");
        let inner = around_json("{}");
        let unmarked = read(&around_generation(&around_json(&inner)));
        assert_eq!(unmarked.text, "{}");
        for found in [unmarked.json, unmarked.generated] {
            assert_eq!((found.len(), found.first()), (1, Some(&(0..2))));
        }
        assert!(occur_in(&inner) && !occur_in("{}"));
    }

    #[test]
    fn dumped_json_is_found_with_and_without_its_brackets() {
        let marked = around_json("{\"a\": [1]}");
        let json = |marked: &str| read(marked).json;
        assert_eq!(json(&format!("<{marked}>")), vec![1..11]);
        assert_eq!(
            json(&format!("{}, b}}", marked.strip_suffix('}').unwrap())),
            vec![0..9]
        );
        let inner = marked.strip_suffix('}').unwrap().strip_prefix('{').unwrap();
        assert_eq!(json(&format!("<{inner}>")), vec![1..9]);
    }
}
