//! The line of source text around a finding, for terminals and pages.

use chatmill_diag::visible::visible;
use chatmill_diag::{Span, cut};

/// A fragment of source text around a finding, on one line.
#[derive(Clone, Debug)]
pub struct Excerpt {
    /// Text of the fragment, without line breaks.
    pub text: String,
    /// Byte range of the finding inside `text`.
    pub start: usize,
    /// The end of the marked range inside `text`, exclusive.
    pub end: usize,
    /// Whether the line has more text before the excerpt.
    pub begins_late: bool,
    /// Whether the line, or the finding, has more text after the excerpt.
    pub ends_early: bool,
}

/// Bytes of source in an excerpt before a finding: more than a wide terminal shows.
const BEFORE: usize = 240;

/// Bytes of source in an excerpt from the first byte of a finding on.
const AFTER: usize = 480;

impl Excerpt {
    /// Cuts the line of a span out of a frame; a long line is cut to a window around the span.
    pub(super) fn cut(bytes: &[u8], frame_start: u64, span: Span) -> Option<Self> {
        let start = (span.start.checked_sub(frame_start)? as usize).min(bytes.len());
        let end = (span.end.saturating_sub(frame_start) as usize).clamp(start, bytes.len());
        let line_start = memchr::memrchr(b'\n', bytes.get(..start)?).map_or(0, |at| at + 1);
        let line_end = memchr::memchr(b'\n', bytes.get(start..)?).map_or(bytes.len(), |at| start + at);
        let from = line_start.max(start.saturating_sub(BEFORE));
        let to = line_end.min(start + AFTER).max(start);
        let (from, to) = (whole_from(bytes, from), whole_to(bytes, to).max(start));
        let inside_end = end.min(to).max(start);
        let before = lossy(bytes.get(from..start)?);
        let inside = lossy(bytes.get(start..inside_end)?);
        let after = lossy(bytes.get(inside_end..to)?);
        let (start, end) = (before.len(), before.len() + inside.len());
        Some(Self {
            text: format!("{before}{inside}{after}"),
            start,
            end,
            begins_late: from > line_start,
            ends_early: to < line_end,
        })
    }
}

/// The longest rest of a UTF-8 character after a cut, in bytes.
const TAIL: usize = 3;

/// Returns the first boundary of a character at or after `at`.
fn whole_from(bytes: &[u8], at: usize) -> usize {
    let tail = bytes.iter().skip(at).take(TAIL);
    at + tail.take_while(|byte| continues(**byte)).count()
}

/// Returns the last boundary of a character at or before `at`.
fn whole_to(bytes: &[u8], at: usize) -> usize {
    if !bytes.get(at).copied().is_some_and(continues) {
        return at;
    }
    let head = cut::slice(bytes, 0..at).iter().rev().take(TAIL);
    at - (head.take_while(|byte| continues(**byte)).count() + 1).min(at)
}

fn continues(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Returns readable text of source bytes: cut characters and invalid UTF-8 become U+FFFD,
/// control characters become blanks, and characters that reorder text are escaped.
fn lossy(bytes: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(bytes)
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    visible(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_the_line_of_the_span() {
        let excerpt = Excerpt::cut(b"{\n \"a\": 17,\n}", 100, Span { start: 108, end: 110 }).unwrap();
        assert_eq!(excerpt.text, " \"a\": 17,");
        assert!(
            !excerpt.begins_late && !excerpt.ends_early,
            "it is the whole line"
        );
        assert_eq!(excerpt.text.get(excerpt.start..excerpt.end), Some("17"));
    }

    #[test]
    fn long_lines_are_cut_around_the_span() {
        let line = format!("{}HERE{}", "a".repeat(5_000), "b".repeat(5_000));
        let excerpt = Excerpt::cut(line.as_bytes(), 0, Span::new(5_000, 5_004)).unwrap();
        assert_eq!(excerpt.text.len(), BEFORE + AFTER);
        assert!(excerpt.begins_late && excerpt.ends_early);
        assert_eq!(excerpt.text.get(excerpt.start..excerpt.end), Some("HERE"));
    }

    #[test]
    fn a_line_is_never_cut_inside_a_character() {
        for shift in 0..4 {
            let line = format!(
                "{}{}HERE{}",
                "a".repeat(shift),
                "😀".repeat(200),
                "😀".repeat(200)
            );
            let start = line.find("HERE").unwrap() as u64;
            let span = Span {
                start,
                end: start + 4,
            };
            let excerpt = Excerpt::cut(line.as_bytes(), 0, span).unwrap();
            assert!(!excerpt.text.contains('\u{fffd}'), "{}", excerpt.text);
            assert_eq!(excerpt.text.get(excerpt.start..excerpt.end), Some("HERE"));
            assert!(excerpt.begins_late && excerpt.ends_early);
        }
    }

    #[test]
    fn an_excerpt_reads_in_the_order_of_its_bytes() {
        let line = "\u{202e}\u{1b}a\": 17";
        let start = line.find("17").unwrap() as u64;
        let excerpt = Excerpt::cut(
            line.as_bytes(),
            0,
            Span {
                start,
                end: start + 2,
            },
        )
        .unwrap();
        assert_eq!(excerpt.text, "\\u{202e} a\": 17");
        assert_eq!(excerpt.text.get(excerpt.start..excerpt.end), Some("17"));
    }

    #[test]
    fn a_span_outside_the_frame_has_no_excerpt() {
        assert!(Excerpt::cut(b"abc", 10, Span { start: 2, end: 3 }).is_none());
    }
}
