//! The line of source text around a finding, for people.

use chatmill_diag::Span;
use chatmill_diag::visible::visible;

/// A stretch of source around a finding.
#[derive(Clone, Debug)]
pub struct Excerpt {
    /// Text of the stretch, without line breaks.
    pub text: String,
    /// Byte range of the finding inside `text`.
    pub start: usize,
    /// One past its last byte inside `text`.
    pub end: usize,
}

/// Bytes of source that an excerpt shows on either side of a finding.
const CONTEXT_BYTES: usize = 60;

impl Excerpt {
    /// Cuts the line of a span out of a frame; long lines are cut to a window around it.
    pub(super) fn cut(bytes: &[u8], frame_start: u64, span: Span) -> Option<Self> {
        let start = (span.start.checked_sub(frame_start)? as usize).min(bytes.len());
        let end = (span.end.saturating_sub(frame_start) as usize).clamp(start, bytes.len());
        let line_start = bytes
            .get(..start)?
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let line_end = bytes
            .get(start..)?
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(bytes.len(), |at| start + at);
        let from = line_start.max(start.saturating_sub(CONTEXT_BYTES));
        let to = line_end.min(start + 2 * CONTEXT_BYTES);
        let before = lossy(bytes.get(from..start)?);
        let inside = lossy(bytes.get(start..end.min(to).max(start))?);
        let after = lossy(bytes.get(end.min(to).max(start)..to.max(start))?);
        let (start, end) = (before.len(), before.len() + inside.len());
        Some(Self {
            text: format!("{before}{inside}{after}"),
            start,
            end,
        })
    }
}

/// Readable text of source bytes: what is cut or no UTF-8 becomes U+FFFD, control characters become blanks, and what would
/// reorder the text is written out.
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
        assert_eq!(excerpt.text.get(excerpt.start..excerpt.end), Some("17"));
    }

    #[test]
    fn long_lines_are_cut_around_the_span() {
        let line = format!("{}HERE{}", "a".repeat(5_000), "b".repeat(5_000));
        let excerpt = Excerpt::cut(
            line.as_bytes(),
            0,
            Span {
                start: 5_000,
                end: 5_004,
            },
        )
        .unwrap();
        assert!(excerpt.text.len() < 250);
        assert_eq!(excerpt.text.get(excerpt.start..excerpt.end), Some("HERE"));
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
