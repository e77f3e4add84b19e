//! From a path inside a record to bytes, line and column of the file.

use std::ops::Range;

use chatmill_diag::{Finding, Meant, Path, Span};
use chatmill_intake::json::{Document, Kind};
use chatmill_intake::{Frame, FramingError};
use chatmill_model::{Linked, bytes};
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
    /// Line from 1 and column from 1 in code points, of the span's first byte.
    pub line_column: Option<(u64, u64)>,
    /// Index of the row that it is about, in a group of rows.
    pub row: Option<usize>,
    /// The bytes inside that row, where the place is narrower than the row.
    pub inside: Option<Range<usize>>,
}

impl Located {
    /// A finding that has no place inside its input.
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

    /// The finding of a damaged stretch. Nothing that was read, and a row of a database file, stand nowhere in a text.
    pub fn of_damage(damage: &FramingError) -> Self {
        let is_written = damage.end > 0;
        Self {
            finding: Finding::new(damage.code, damage.message.clone()),
            json_path: None,
            span: is_written.then_some(match damage.at {
                Some(at) => Span {
                    start: at.byte,
                    end: (at.byte + 1).min(damage.end).max(at.byte),
                },
                None => Span {
                    start: damage.start,
                    end: damage.end,
                },
            }),
            line_column: is_written.then_some(
                damage
                    .at
                    .map_or((damage.line, damage.column), |at| (at.line, at.column)),
            ),
            row: None,
            inside: None,
        }
    }
}

/// Finds places inside one frame.
pub struct Locator<'f> {
    frame: &'f Frame,
    bytes: &'f [u8],
}

impl<'f> Locator<'f> {
    /// A locator for a frame and its bytes.
    pub fn new(frame: &'f Frame, bytes: &'f [u8]) -> Self {
        Self { frame, bytes }
    }

    /// Locates findings of a decoded record; lines are counted in one sweep.
    pub fn locate_all(
        &self,
        findings: Vec<Finding>,
        document: Option<&Document<'_>>,
        source: &dyn Source,
        linked: Option<&Linked>,
    ) -> Vec<Located> {
        let mut located: Vec<Located> = findings
            .into_iter()
            .map(|finding| self.place(finding, document, source, linked))
            .collect();
        self.number_lines(&mut located);
        located.sort_by(|left, right| key(left).cmp(&key(right)));
        located
    }

    /// Locates one finding of a decoded record.
    pub fn locate_one(
        &self,
        finding: Finding,
        document: Option<&Document<'_>>,
        source: &dyn Source,
        linked: Option<&Linked>,
    ) -> Located {
        let mut located = [self.place(finding, document, source, linked)];
        self.number_lines(&mut located);
        let [located] = located;
        located
    }

    /// Locates a finding of a record that could not be decoded.
    pub fn locate_plain(&self, finding: Finding) -> Located {
        let span = finding.span.unwrap_or(Span {
            start: self.frame.start,
            end: self.frame.end,
        });
        let json_path = match &finding.path {
            Path::Absolute(path) => Some(path.clone()),
            _ => None,
        };
        let mut located = [Located {
            finding,
            json_path,
            span: Some(span),
            line_column: None,
            row: None,
            inside: None,
        }];
        self.number_lines(&mut located);
        let [located] = located;
        located
    }

    fn place(
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
        let apart = document.zip(message);
        let apart =
            apart.filter(|(_, origin)| source.lies_apart() || source.message_path(origin.index).is_empty());
        let message_path = |index: u32| match kind {
            _ if apart.is_some() => apart.map_or_else(String::new, |(document, origin)| {
                document.path_at(origin.start.saturating_sub(self.frame.start) as usize)
            }),
            Some(Kind::Array) => format!("$[{index}]"),
            Some(Kind::String) => "$".to_owned(),
            _ => source.message_path(index),
        };
        let json_path = match (&finding.path, message) {
            (Path::Absolute(path), _) => Some(path.clone()),
            (Path::InMessage(suffix), Some(origin)) => {
                Some(format!("{}{suffix}", message_path(origin.index)))
            }
            (Path::InMessage(suffix), None) => finding
                .position
                .map(|position| format!("{}{suffix}", message_path(position))),
            (Path::Record, _) => None,
        };
        let found: Option<Range<usize>> = json_path
            .as_deref()
            .and_then(|path| nearest_place(document?, path));
        let found = found.map(|range| Span {
            start: self.frame.start + range.start as u64,
            end: self.frame.start + range.end as u64,
        });
        let own = message.map(|origin| Span {
            start: origin.start,
            end: origin.end,
        });
        // Where messages have no paths of their own, the path leads to what holds them all.
        let found = found.filter(|found| own.is_none_or(|own| *found == own || !holds(*found, own)));
        let base = finding.span.or(found).or(own).unwrap_or(Span {
            start: self.frame.start,
            end: self.frame.end,
        });
        let marked = finding.mark.take();
        let marked = marked.zip(document);
        let marked = marked.and_then(|(mark, document)| self.marked(&mark, document, base));
        if marked.is_some() {
            finding.span = finding.span.and(marked);
        }
        // A place that only the bytes tell has a path, too.
        let is_told = finding.path == Path::Record && finding.span.is_some_and(|span| !self.is_whole(span));
        let shown = marked.or(finding.span.filter(|_| is_told));
        let path = shown.zip(document).map(|(span, document)| {
            let at = span.start.saturating_sub(self.frame.start) as usize;
            document.path_at(at)
        });
        Located {
            finding,
            json_path: path.or(json_path),
            span: Some(marked.unwrap_or(base)),
            line_column: None,
            row: None,
            inside: None,
        }
    }

    fn is_whole(&self, span: Span) -> bool {
        span.start == self.frame.start && span.end == self.frame.end
    }

    /// What a finding means inside its place; nothing where it does not stand there as it is said.
    fn marked(&self, mark: &Meant, document: &Document<'_>, place: Span) -> Option<Span> {
        let offset = |at: u64| (at.saturating_sub(self.frame.start) as usize).min(self.bytes.len());
        let within = offset(place.start)..offset(place.end);
        let found = match mark {
            Meant::Value(text) => document
                .find(within.clone(), text)
                .or_else(|| self.quoted(text, within)),
            Meant::Word(text) => {
                let at = memchr::memmem::find(self.bytes.get(within.clone())?, text.as_bytes())?;
                Some(within.start + at..within.start + at + text.len())
            }
        };
        found.map(|found| Span {
            start: self.frame.start + found.start as u64,
            end: self.frame.start + found.end as u64,
        })
    }

    /// A value in the JSON that a string holds, however often it is quoted.
    fn quoted(&self, text: &str, within: Range<usize>) -> Option<Range<usize>> {
        let bytes = self.bytes.get(within.clone())?;
        let mut found = memchr::memmem::find_iter(bytes, text.as_bytes());
        let start = found.find(|at| {
            let before = at.checked_sub(1).and_then(|before| bytes.get(before));
            before == Some(&b'"') && matches!(bytes.get(at + text.len()), Some(b'"' | b'\\'))
        })?;
        Some(within.start + start..within.start + start + text.len())
    }

    /// Gives every located finding its line and column, reading the frame once.
    fn number_lines(&self, located: &mut [Located]) {
        let mut order: Vec<(u64, usize)> = located
            .iter()
            .enumerate()
            .filter_map(|(index, place)| place.span.map(|span| (span.start, index)))
            .collect();
        order.sort_unstable();
        let mut line = self.frame.line;
        let mut column = self.frame.column;
        let mut at = 0;
        for (start, index) in order {
            let target = (start.saturating_sub(self.frame.start) as usize).min(self.bytes.len());
            if let Some(stretch) = self.bytes.get(at..target) {
                (line, column) = advance(line, column, stretch);
            }
            at = target.max(at);
            if let Some(place) = located.get_mut(index) {
                place.line_column = Some((line, column));
            }
        }
    }
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The place of a path, or of its nearest ancestor that exists (a missing field lies in its object).
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

/// Moves a line and column (code points, both from 1) over a stretch of text.
pub fn advance(line: u64, column: u64, stretch: &[u8]) -> (u64, u64) {
    let begins = |byte: u8| (byte & 0b1100_0000) != 0b1000_0000;
    let code_points = |stretch: &[u8]| bytes::count(stretch, begins);
    match memchr::memrchr(b'\n', stretch) {
        None => (line, column + code_points(stretch)),
        Some(last) => {
            let after = stretch.get(last + 1..).unwrap_or_default();
            (
                line + bytes::count(stretch, |byte| byte == b'\n'),
                1 + code_points(after),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_code_points_and_restart_after_a_line_break() {
        assert_eq!(advance(1, 1, "aé".as_bytes()), (1, 3));
        assert_eq!(advance(1, 9, "x\nпривіт".as_bytes()), (2, 7));
        assert_eq!(advance(3, 1, b""), (3, 1));
    }
}
