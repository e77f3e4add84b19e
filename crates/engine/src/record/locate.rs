//! Converts paths inside a record to bytes, lines and columns of the file.

use std::cell::RefCell;
use std::ops::Range;

use chatmill_diag::{Finding, Meant, Path, Span, cut, steps};
use chatmill_intake::json::{Document, Kind};
use chatmill_intake::{Frame, FramingError};
use chatmill_model::{Linked, MessageOrigin, bytes};
use chatmill_source::Source;

/// A finding with its place in the decompressed entry.
#[derive(Clone, Debug)]
pub struct Located {
    /// The finding.
    pub finding: Finding,
    /// Path from the record's root.
    pub json_path: Option<String>,
    /// Bytes in the decompressed entry.
    pub span: Option<Span>,
    /// Line and column of the first byte of the span, from 1; columns are in code points.
    pub line_column: Option<(u64, u64)>,
    /// Index of the row, in a group of rows.
    pub row: Option<usize>,
    /// The bytes inside that row, if the place is narrower than the row.
    pub inside: Option<Range<usize>>,
}

impl Located {
    /// Returns a finding without a place inside its input.
    pub fn nowhere(finding: Finding) -> Self {
        Self {
            span: finding.span,
            finding,
            json_path: None,
            line_column: None,
            row: None,
            inside: None,
        }
    }

    /// Converts a framing error. A missing part and a row of a database file have no place in a text.
    pub(crate) fn of_framing_error(error: &FramingError) -> Self {
        let is_written = error.end > 0;
        Self {
            span: is_written.then_some(match error.at {
                Some(at) => Span::new(at.byte, (at.byte + 1).min(error.end).max(at.byte)),
                None => Span::new(error.start, error.end),
            }),
            line_column: is_written.then_some(
                error
                    .at
                    .map_or((error.line, error.column), |at| (at.line, at.column)),
            ),
            ..Self::nowhere(Finding::new(error.code, error.message.clone()))
        }
    }
}

/// A pair of counts, for example of lines and columns.
type Counts = (u64, u64);

/// Counts along a text with checkpoints: a query only counts the text since the nearest checkpoint.
/// Counting from the start each time would be quadratic for a record with many findings.
pub(crate) struct Sweep<'t> {
    bytes: &'t [u8],
    /// The count at the start of the text.
    begin: Counts,
    /// The function that continues a count over a text.
    over: fn(Counts, &[u8]) -> Counts,
    /// The count at the end of each block so far.
    known: RefCell<Vec<Counts>>,
}

impl<'t> Sweep<'t> {
    /// Bytes between two checkpoints.
    const BLOCK: usize = 1024;

    /// Starts a sweep over a text, with the count at its start.
    pub(crate) fn new(bytes: &'t [u8], begin: Counts, over: fn(Counts, &[u8]) -> Counts) -> Self {
        Self {
            bytes,
            begin,
            over,
            known: RefCell::default(),
        }
    }

    /// Starts a sweep that counts lines and columns.
    pub(crate) fn lines(bytes: &'t [u8], line: u64, column: u64) -> Self {
        Self::new(bytes, (line, column), |(line, column), text| {
            advance(line, column, text)
        })
    }

    /// Returns the count at a byte; beyond the end, the count at the end.
    pub(crate) fn at(&self, at: u64) -> (u64, u64) {
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(self.bytes.len());
        let mut known = self.known.borrow_mut();
        // Before the first block is counted, the count is that of the start.
        let mut count = known.last().copied().unwrap_or(self.begin);
        while known.len() < at / Self::BLOCK {
            let start = known.len() * Self::BLOCK;
            count = self.count(count, start..start + Self::BLOCK);
            known.push(count);
        }
        let block = at / Self::BLOCK;
        let before = block.checked_sub(1).and_then(|before| known.get(before));
        self.count(before.copied().unwrap_or(self.begin), block * Self::BLOCK..at)
    }

    fn count(&self, count: (u64, u64), range: Range<usize>) -> (u64, u64) {
        // A vector instruction processes about this many bytes.
        steps::taken(range.len() / 64);
        (self.over)(count, cut::slice(self.bytes, range))
    }
}

/// Finds places inside one frame.
pub struct Locator<'f> {
    frame: Frame,
    bytes: &'f [u8],
    lines: Sweep<'f>,
}

impl<'f> Locator<'f> {
    /// Creates a locator for a frame and its bytes.
    pub fn new(frame: Frame, bytes: &'f [u8]) -> Self {
        let lines = Sweep::lines(bytes, frame.line, frame.column);
        Self { frame, bytes, lines }
    }

    /// Locates findings of a decoded record, and sorts them.
    pub(crate) fn locate_all(
        &self,
        findings: Vec<Finding>,
        document: Option<&Document<'_>>,
        source: &dyn Source,
        linked: Option<&Linked>,
    ) -> Vec<Located> {
        let mut located: Vec<Located> = findings
            .into_iter()
            .map(|finding| self.locate(finding, document, source, linked))
            .collect();
        located.sort_by(|left, right| key(left).cmp(&key(right)));
        located
    }

    /// Locates a finding of a record that could not be decoded.
    pub(crate) fn locate_plain(&self, finding: Finding) -> Located {
        let span = finding.span.unwrap_or_else(|| self.whole());
        let json_path = match &finding.path {
            Path::Absolute(path) => Some(path.clone()),
            _ => None,
        };
        self.located(finding, json_path, span)
    }

    /// Locates one finding of a decoded record. All calls together
    /// go through the frame once, wherever the findings are.
    pub fn locate(
        &self,
        mut finding: Finding,
        document: Option<&Document<'_>>,
        source: &dyn Source,
        linked: Option<&Linked>,
    ) -> Located {
        let message = finding
            .position
            .and_then(|position| linked?.conversation.messages.get(position as usize))
            .map(|message| message.origin);
        let kind = document.map(|document| document.root().kind());
        let listed = |index: u32| match kind {
            Some(Kind::Array) => format!("$[{index}]"),
            Some(Kind::String) => "$".to_owned(),
            _ => source.message_path(index).unwrap_or_else(|| "$".to_owned()),
        };
        let path_of = |origin: MessageOrigin| match document {
            Some(document) if source.message_path(origin.index).is_none() => {
                document.path_at(self.offset(origin.start))
            }
            _ => listed(origin.index),
        };
        let json_path = match (&finding.path, message) {
            (Path::Absolute(path), _) => Some(path.clone()),
            (Path::InMessage(suffix), Some(origin)) => Some(format!("{}{suffix}", path_of(origin))),
            (Path::InMessage(suffix), None) => finding
                .position
                .map(|position| format!("{}{suffix}", listed(position))),
            (Path::Record, _) => None,
        };
        let own = message.map(|origin| Span::new(origin.start, origin.end));
        let found = || {
            let found = nearest_place(document?, json_path.as_deref()?)?;
            let found = self.span(found);
            // If messages have no separate paths, the path leads to the value that contains them all.
            let is_wider = own.is_some_and(|own| found != own && holds(found, own));
            (!is_wider).then_some(found)
        };
        let base = finding.span.or_else(found).or(own);
        let base = base.unwrap_or_else(|| self.whole());
        let marked = finding.mark.take();
        let marked = marked.zip(document);
        let marked = marked.and_then(|(mark, document)| self.marked(&mark, document, base));
        if marked.is_some() {
            finding.span = finding.span.and(marked);
        }
        // A finding with only a byte span gets a path, too.
        let is_noted = finding.path == Path::Record && finding.span.is_some_and(|span| span != self.whole());
        let shown = marked.or(finding.span.filter(|_| is_noted));
        let path = shown.zip(document);
        let path = path.map(|(span, document)| document.path_at(self.offset(span.start)));
        self.located(finding, path.or(json_path), marked.unwrap_or(base))
    }

    fn located(&self, finding: Finding, json_path: Option<String>, span: Span) -> Located {
        Located {
            json_path,
            span: Some(span),
            line_column: Some(self.line_column(span.start)),
            ..Located::nowhere(finding)
        }
    }

    /// Returns line and column of a byte of the entry, which must be in the frame.
    pub fn line_column(&self, byte: u64) -> (u64, u64) {
        self.lines.at(byte.saturating_sub(self.frame.start))
    }

    /// Converts an offset in the entry to one in the frame.
    fn offset(&self, byte: u64) -> usize {
        usize::try_from(byte.saturating_sub(self.frame.start)).unwrap_or(usize::MAX)
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span::new(
            self.frame.start + range.start as u64,
            self.frame.start + range.end as u64,
        )
    }

    fn whole(&self) -> Span {
        Span::new(self.frame.start, self.frame.end)
    }

    /// Returns the bytes inside a place that a finding is
    /// about; `None` if the quoted text does not occur there.
    fn marked(&self, mark: &Meant, document: &Document<'_>, place: Span) -> Option<Span> {
        let within = self.offset(place.start)..self.offset(place.end).min(self.bytes.len());
        let found = match mark {
            Meant::Value(text) => document
                .find(within.clone(), text)
                .or_else(|| self.quoted(text, within)),
            Meant::Word(text) => {
                let at = memchr::memmem::find(self.bytes.get(within.clone())?, text.as_bytes())?;
                Some(within.start + at..within.start + at + text.len())
            }
        };
        found.map(|found| self.span(found))
    }

    /// Finds a value in JSON inside a string, at any level of quoting.
    fn quoted(&self, text: &str, within: Range<usize>) -> Option<Range<usize>> {
        let bytes = self.bytes.get(within.clone())?;
        let mut found = memchr::memmem::find_iter(bytes, text.as_bytes());
        let start = found.find(|at| {
            let before = at.checked_sub(1).and_then(|before| bytes.get(before));
            before == Some(&b'"') && matches!(bytes.get(at + text.len()), Some(b'"' | b'\\'))
        })?;
        Some(within.start + start..within.start + start + text.len())
    }
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Returns the place of a path, or of its nearest existing ancestor (for a missing field, its object).
fn nearest_place(document: &Document<'_>, path: &str) -> Option<Range<usize>> {
    let mut path = path;
    loop {
        if let Some(range) = document.locate(path) {
            return Some(range);
        }
        let cut = path.rfind(['.', '['])?;
        path = path.get(..cut)?;
    }
}

fn key(located: &Located) -> (Option<u32>, &'static str, Option<u64>) {
    (
        located.finding.position,
        located.finding.code.code,
        located.span.map(|span| span.start),
    )
}

/// Counts the code points that start in a text.
pub(crate) fn code_points(text: &[u8]) -> u64 {
    bytes::count(text, |byte| (byte & 0b1100_0000) != 0b1000_0000)
}

/// Moves a line and column (code points, both from 1) past a text.
pub(crate) fn advance(line: u64, column: u64, text: &[u8]) -> (u64, u64) {
    match memchr::memrchr(b'\n', text) {
        None => (line, column + code_points(text)),
        Some(last) => {
            let after = cut::slice(text, last + 1..text.len());
            (
                line + bytes::count(text, |byte| byte == b'\n'),
                1 + code_points(after),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_give_the_same_place_in_any_order_of_questions() {
        let text = "aбв\n中, and more words\n".repeat(1_000);
        let sweep = Sweep::lines(text.as_bytes(), 7, 3);
        for at in (0..text.len() + 2)
            .rev()
            .step_by(331)
            .chain((0..text.len()).step_by(97))
        {
            let before = &text.as_bytes()[..at.min(text.len())];
            assert_eq!(sweep.at(at as u64), advance(7, 3, before), "{at}");
        }
    }

    #[test]
    fn columns_count_code_points_and_restart_after_a_line_break() {
        assert_eq!(advance(1, 1, "aé".as_bytes()), (1, 3));
        assert_eq!(advance(1, 9, "x\nпривіт".as_bytes()), (2, 7));
        assert_eq!(advance(3, 1, b""), (3, 1));
    }
}
