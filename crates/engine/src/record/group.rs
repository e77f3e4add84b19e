//! The rows of one conversation, grouped from all inputs, as one frame, and the mapping back to their places.
//!
//! A group is read as a JSON array of its rows. Findings in the
//! array are then located in the entry that their row came from.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use chatmill_diag::{Finding, Limits, Reject, RejectLevel, Span, cut};
use chatmill_intake::json::Document;
use chatmill_intake::{CopiedLine, Form, Frame};
use chatmill_source::Source;

use crate::record::locate::{Located, Locator, Sweep, code_points};
use crate::record::{self, RecordOutcome, Settings};

/// The place of a row in its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowPlace {
    /// Index of its entry among the entries with grouped rows.
    pub entry: usize,
    /// Number of the record in the entry.
    pub record: u64,
    /// First byte in the decoded entry.
    pub start: u64,
    /// The end of the row, exclusive.
    pub end: u64,
    /// The bytes of the entry that are accounted for with the
    /// row, without the bytes of an earlier row that contains it.
    pub bytes: u64,
    /// Line of the first byte, from 1.
    pub line: u64,
    /// Column of the first byte in code points, from 1.
    pub column: u64,
    /// The relation of the row's bytes to those of the entry.
    pub form: Form,
    /// Whether the row is accounted for here. A row that belongs
    /// to several conversations is accounted for in the first.
    pub counts: bool,
}

/// A row inside the frame of its group.
#[derive(Clone, Debug, Hash)]
pub struct GroupRow {
    /// The range of the row in the group's bytes.
    pub inside: Range<usize>,
    /// The origin of the row.
    pub place: RowPlace,
}

/// The rows of one conversation.
pub struct Group {
    /// The source that reads them.
    pub source: &'static dyn Source,
    /// The id by which the rows were grouped; `None` for rows without an id.
    pub key: Option<String>,
    /// The table of the rows, if the run reads several.
    pub table: Option<Arc<str>>,
    /// The rows in input order; never empty.
    pub rows: Vec<GroupRow>,
    /// The range of the array in the slice's buffer.
    pub buffer: Range<usize>,
}

impl Group {
    /// Reads, links and checks the rows. Every place in the outcome is in the entry of a row.
    pub fn read(&self, bytes: &[u8], settings: Settings<'_>) -> RecordOutcome {
        let limits = settings.limits;
        let frame = self.frame(bytes);
        // The array adds one level of nesting to each row.
        let deeper = Limits {
            depth: limits.depth.saturating_add(1),
            ..limits.clone()
        };
        let deeper = Settings {
            limits: &deeper,
            ..settings
        };
        let mut outcome = record::read_rows(self.source, &frame, bytes, self.key.as_deref(), deeper);
        outcome.each(&mut |outcome| {
            if let Some(linked) = &mut outcome.linked {
                linked.conversation.table.clone_from(&self.table);
            }
        });
        let source_map = SourceMap::new(bytes);
        outcome.each(&mut |outcome| self.map_to_source(outcome, &source_map));
        outcome
    }

    /// Maps every place in the outcome of the array back to the rows.
    fn map_to_source(&self, outcome: &mut RecordOutcome, source_map: &SourceMap<'_>) {
        let unread = outcome.unread.iter_mut().map(|unread| &mut unread.located);
        for located in outcome.findings.iter_mut().chain(unread) {
            self.place(located, source_map);
        }
        for (reject, located) in &mut outcome.rejects {
            self.place(located, source_map);
            reject.finding = located.finding.clone();
            reject.span = located.span.unwrap_or(reject.span);
        }
        if let Some(linked) = &mut outcome.linked {
            for message in &mut linked.conversation.messages {
                let span = Span::new(message.origin.start, message.origin.end);
                if let Some((_, row)) = self.row_at(span.start) {
                    let span = row.outer_of_message(span, source_map);
                    (message.origin.start, message.origin.end) = (span.start, span.end);
                }
            }
        }
    }

    /// Returns the array as a frame.
    pub fn frame(&self, bytes: &[u8]) -> Frame {
        Frame {
            record: 0,
            start: 0,
            end: bytes.len() as u64,
            line: 1,
            column: 1,
            buffer: self.buffer.clone(),
            form: Form::Row,
        }
    }

    /// Places a finding at a row, or at the value that it is
    /// about inside the row; `locator` belongs to the array.
    pub fn locate(
        &self,
        index: usize,
        finding: Finding,
        document: &Document<'_>,
        (locator, source_map): (&Locator<'_>, &SourceMap<'_>),
    ) -> Located {
        let finding = finding.at_path(format!("$[{index}]"));
        let mut located = locator.locate(finding, Some(document), self.source, None);
        self.place(&mut located, source_map);
        located
    }

    /// Returns the indexes of rows with rejects; all rows if there is no conversation.
    pub fn rejected(&self, outcome: &RecordOutcome) -> BTreeSet<usize> {
        if outcome.linked.is_none() && !outcome.rejects.is_empty() {
            return (0..self.rows.len()).collect();
        }
        // In a row with many messages, one rejected message does not reject the others.
        let rejects = outcome
            .rejects
            .iter()
            .filter(|_| !self.source.has_scattered_messages());
        rejects.filter_map(|(_, located)| located.row).collect()
    }

    /// Returns the rejects, one for each rejected row. Without a conversation every row is rejected, for the
    /// same reason. A row that belongs to several records is rejected in the first, where it is accounted for.
    pub fn rejects(&self, outcome: &RecordOutcome, bytes: &[u8], limits: &Limits) -> Vec<(Reject, Located)> {
        let counts = |row: usize| self.rows.get(row).is_some_and(|row| row.place.counts);
        if self.source.has_scattered_messages() && outcome.linked.is_some() {
            let each = outcome.rejects.iter();
            let each = each.filter(|(_, located)| counts(located.row.unwrap_or_default()));
            return each.cloned().collect();
        }
        let mut rejects = Vec::new();
        let mut of_rows: BTreeMap<usize, &(Reject, Located)> = BTreeMap::new();
        for found in &outcome.rejects {
            of_rows.entry(found.1.row.unwrap_or_default()).or_insert(found);
        }
        let whole = outcome.rejects.first().filter(|_| outcome.linked.is_none());
        for index in self.rejected(outcome) {
            let reject = whole.or_else(|| of_rows.get(&index).copied());
            let Some((reject, located)) = reject.filter(|_| counts(index)) else {
                continue;
            };
            let row = cut::at(&self.rows, index);
            let body = cut::slice(bytes, row.inside.clone());
            let mut located = located.clone();
            if outcome.linked.is_none() {
                located.row = Some(index);
                located.span = row.place.written();
                located.line_column = row.place.line_column();
            }
            let reject = Reject {
                level: RejectLevel::Frame,
                span: row.place.span(),
                hash: blake3::hash(body).to_hex().to_string(),
                head: body.iter().copied().take(limits.reject_head as usize).collect(),
                finding: reject.finding.clone(),
            };
            rejects.push((reject, located));
        }
        rejects
    }

    fn row_at(&self, at: u64) -> Option<(usize, &GroupRow)> {
        let at = usize::try_from(at).ok()?;
        let index = self
            .rows
            .partition_point(|row| row.inside.start <= at)
            .checked_sub(1)?;
        self.rows.get(index).map(|row| (index, row))
    }

    /// Moves a finding from the array to its row. A finding about the whole group goes to the first row.
    fn place(&self, located: &mut Located, source_map: &SourceMap<'_>) {
        let whole = Span::new(0, source_map.length);
        let span = located.span.filter(|span| *span != whole);
        let found = span.and_then(|span| self.row_at(span.start).map(|(index, row)| (span, index, row)));
        let Some((span, index, row)) = found else {
            let first = self.rows.first();
            located.row = Some(0);
            located.inside = None;
            located.json_path = None;
            located.span = first.and_then(|row| row.place.written());
            located.line_column = first.and_then(|row| row.place.line_column());
            located.finding.span = located.span;
            return;
        };
        let inside = row.relative(span);
        located.row = Some(index);
        located.json_path = located.json_path.take().map(|path| own_path(&path));
        located.span = row.place.written().map(|_| row.outer(span, source_map));
        located.finding.span = located.span;
        let line_column = row.place.line_column();
        located.line_column = line_column.map(|(line, column)| match row.place.form {
            Form::Row | Form::Text => (line, column),
            Form::Original => {
                let ((first, before), (last, after)) = row.counted(&source_map.lines, inside.start);
                let is_first = first == last;
                let column = if is_first { column + after - before } else { after };
                (line + last - first, column)
            }
            Form::Copied => {
                let ((_, before), (_, after)) = row.counted(&source_map.copied, inside.start);
                (line, column + after - before)
            }
        });
        located.inside = Some(inside);
    }
}

/// Counts along the array of a group, to map places back to its rows.
pub struct SourceMap<'g> {
    length: u64,
    /// Lines and columns.
    lines: Sweep<'g>,
    /// The number of escapes of `COPY`, and of columns with these escapes.
    copied: Sweep<'g>,
}

impl<'g> SourceMap<'g> {
    /// Prepares the counts for an array with these bytes.
    pub fn new(bytes: &'g [u8]) -> Self {
        Self {
            length: bytes.len() as u64,
            lines: Sweep::lines(bytes, 1, 1),
            copied: Sweep::new(bytes, (0, 1), |(escapes, column), text| {
                let length = text.len() as u64;
                let more = CopiedLine::new(text).offsets()(length) - length;
                (escapes + more, column + code_points(text) + more)
            }),
        }
    }
}

impl GroupRow {
    /// Converts a span of the array to a range of the row's bytes.
    fn relative(&self, span: Span) -> Range<usize> {
        let length = self.inside.len();
        let offset = |at: u64| (at as usize).saturating_sub(self.inside.start).min(length);
        offset(span.start)..offset(span.end)
    }

    /// Returns the counts at the start of the row, and at this offset in it.
    fn counted(&self, sweep: &Sweep<'_>, inside: usize) -> ((u64, u64), (u64, u64)) {
        let start = self.inside.start;
        (sweep.at(start as u64), sweep.at((start + inside) as u64))
    }

    /// Converts a span of the array to a span of the entry.
    fn outer(&self, span: Span, source_map: &SourceMap<'_>) -> Span {
        let inside = self.relative(span);
        let offset = |at: usize| match self.place.form {
            Form::Copied => {
                let ((before, _), (escapes, _)) = self.counted(&source_map.copied, at);
                self.place.start + at as u64 + escapes - before
            }
            Form::Original | Form::Row | Form::Text => self.place.start + at as u64,
        };
        match self.place.form {
            Form::Row | Form::Text => self.place.span(),
            Form::Original | Form::Copied => Span::new(offset(inside.start), offset(inside.end)),
        }
    }

    /// Converts the span of a message. A row may have many messages,
    /// most of them as large as the row, so escapes are not counted.
    fn outer_of_message(&self, span: Span, source_map: &SourceMap<'_>) -> Span {
        match self.place.form {
            Form::Original => self.outer(span, source_map),
            Form::Copied | Form::Row | Form::Text => self.place.span(),
        }
    }
}

impl RowPlace {
    /// Returns the range of the row in a text; `None` for a row of a database file.
    pub fn written(&self) -> Option<Span> {
        (self.end > 0).then(|| self.span())
    }

    /// Returns line and column of its first byte; `None` for a row of a database file.
    pub fn line_column(&self) -> Option<(u64, u64)> {
        (self.end > 0).then_some((self.line, self.column))
    }

    /// Returns the range of the row in the decoded entry.
    pub fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// Converts a path in the array to a path in the row: `$[3].content` becomes `$.content`.
fn own_path(path: &str) -> String {
    let rest = path
        .strip_prefix("$[")
        .and_then(|rest| rest.split_once(']'))
        .filter(|(index, _)| index.bytes().all(|byte| byte.is_ascii_digit()))
        .map(|(_, rest)| rest);
    rest.map_or_else(|| path.to_owned(), |rest| format!("${rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_the_array_becomes_one_in_the_row() {
        assert_eq!(own_path("$[12].content[0]"), "$.content[0]");
        assert_eq!(own_path("$[0]"), "$");
        assert_eq!(own_path("$['0'].x"), "$['0'].x");
        assert_eq!(own_path("$.messages[1]"), "$.messages[1]");
    }
}
