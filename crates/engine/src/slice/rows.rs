//! Cutting a frame into the rows of conversations, and putting these aside until the rest has been read.

use chatmill_dataset::DatasetError;
use chatmill_diag::{Limits, cut};
use chatmill_intake::Frame;
use chatmill_intake::json;
use chatmill_source::Source;

use crate::record::group::{RowForm, RowPlace};
use crate::record::locate::advance;
use crate::record::written::{offsets, written};
use crate::slice::gather::Gatherer;

/// Puts the rows of one entry aside.
pub(super) struct Gathering<'g> {
    /// Where they go.
    pub gatherer: &'g mut Gatherer,
    /// Number of the entry among those that are gathered.
    pub entry: usize,
    /// The entries among which conversations are found that go on in another one.
    pub family: &'g str,
    /// The conversation of rows that name none.
    pub conversation: &'g str,
    /// Number of the entry's next record.
    pub next_record: &'g mut u64,
}

/// What of a frame was put aside.
pub(super) struct Aside {
    /// How many rows.
    pub rows: u64,
    /// The bytes between them.
    pub between: u64,
}

impl Gathering<'_> {
    /// Puts the rows of a frame aside, or nothing when the frame cannot be cut.
    pub(super) fn put_aside(
        &mut self,
        source: &'static dyn Source,
        frame: &Frame,
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<Option<Aside>, DatasetError> {
        let Ok(document) = json::scan(bytes, limits.depth) else {
            return Ok(None);
        };
        let Some(rows) = source.rows(&document) else {
            return Ok(None);
        };
        let text = written(frame.form, bytes);
        let mut offset = offsets(frame.form, bytes);
        let (mut at, mut line, mut column) = (0, frame.line, frame.column);
        let mut within = 0;
        let mut count = 0;
        for row in rows {
            count += 1;
            let body = cut::slice(bytes, row.span.clone());
            let (begin, end) = (offset(row.span.start as u64), offset(row.span.end as u64));
            let begins = usize::try_from(begin).unwrap_or(usize::MAX);
            (line, column) = advance(line, column, text.get(at..begins).unwrap_or_default());
            at = begins.max(at);
            let mut place = RowPlace {
                entry: self.entry,
                record: *self.next_record,
                start: frame.start + begin,
                end: frame.start + end,
                line,
                column,
                form: RowForm::of(frame.form),
                counts: true,
            };
            if place.form == RowForm::Derived {
                (place.start, place.end) = (frame.start, frame.end);
            }
            within += place.end - place.start;
            *self.next_record += 1;
            if row.keys.is_empty() {
                self.gatherer.share(row.about, &place, body)?;
            }
            for key in row.keys {
                let key = if key.is_empty() { self.conversation } else { &key };
                if let Some(begins) = &row.begins {
                    self.gatherer.begins(key, &place, self.family, begins);
                }
                self.gatherer.push(key, &place, body)?;
                place.counts = false;
            }
        }
        Ok(Some(Aside {
            rows: count,
            between: (frame.end - frame.start).saturating_sub(within),
        }))
    }
}
