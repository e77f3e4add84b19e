//! Cutting a frame into the rows of conversations, which are spilled until the rest has been read.

use chatmill_dataset::DatasetError;
use chatmill_diag::{Limits, cut};
use chatmill_intake::{Form, Frame, json};
use chatmill_source::TableMap;

use crate::entry::EntryRef;
use crate::record::group::RowPlace;
use crate::record::locate::advance;
use crate::record::written::{offsets, written};
use crate::slice::grouping::RowGrouper;

/// The entry that is being read.
pub(super) struct Entry {
    pub step: EntryRef,
    /// The number of the entry among those whose rows are grouped.
    pub gathering: Option<usize>,
    /// The entries among which conversations are found that go on in another one.
    pub family: String,
    /// The conversation of rows that name none.
    pub conversation: String,
    /// Number of the next record, counted anew where frames are cut into rows.
    pub next_record: u64,
    /// The map of the names of its JSON rows' fields.
    pub map: Option<TableMap>,
    /// Rows so far whose conversation is empty.
    pub alone: u64,
}

impl Entry {
    /// Spills the rows of a frame, where rows are grouped and the frame can be cut: how many, and the bytes between them.
    pub(super) fn spill_rows(
        &mut self,
        grouper: &mut RowGrouper,
        frame: &Frame,
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<Option<(u64, u64)>, DatasetError> {
        let (Some(number), Some(source)) = (self.gathering, self.step.source) else {
            return Ok(None);
        };
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
            let begins = at.max(begin as usize);
            (line, column) = advance(line, column, cut::slice(&text, at..begins));
            at = begins;
            let mut place = RowPlace {
                entry: number,
                record: self.next_record,
                start: frame.start + begin,
                end: frame.start + end,
                line,
                column,
                form: frame.form,
                counts: true,
            };
            if matches!(place.form, Form::Row | Form::Text) {
                (place.start, place.end) = (frame.start, frame.end);
            }
            within += place.end - place.start;
            self.next_record += 1;
            if row.keys.is_empty() {
                grouper.push_shared(row.about, &place, body)?;
            }
            if row.is_alone {
                self.alone += 1;
                grouper.push_alone(&place, body)?;
                continue;
            }
            for key in row.keys {
                let key = if key.is_empty() { &self.conversation } else { &key };
                if let Some(begins) = &row.begins {
                    grouper.begins(key, &place, &self.family, begins);
                }
                grouper.push(key, &place, body)?;
                place.counts = false;
            }
        }
        Ok(Some((count, (frame.end - frame.start).saturating_sub(within))))
    }
}
