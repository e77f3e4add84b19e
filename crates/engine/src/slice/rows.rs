//! Cuts a frame into rows of conversations, which are spilled until all rows have been read.

use chatmill_dataset::DatasetError;
use chatmill_diag::{Limits, cut};
use chatmill_intake::{Form, Frame, json};
use chatmill_source::TableMap;

use crate::entry::EntryRef;
use crate::record::group::RowPlace;
use crate::record::locate::advance;
use crate::record::written::{offsets_of, written};
use crate::slice::grouping::RowGrouper;

/// The entry that is currently read.
pub(super) struct Entry {
    pub step: EntryRef,
    /// The number of the entry for the grouper, if its rows are grouped.
    pub gathering: Option<usize>,
    /// The scope in which a conversation may continue in another entry.
    pub family: String,
    /// The conversation of rows that name none.
    pub conversation: String,
    /// Number of the next record; rows have separate numbers if frames are cut.
    pub next_record: u64,
    /// The map for the field names of its JSON rows.
    pub map: Option<TableMap>,
    /// The number of rows so far with an empty conversation.
    pub alone: u64,
}

impl Entry {
    /// Spills the rows of a frame, if rows are grouped and the frame can
    /// be cut. Returns the number of rows, and the bytes between them.
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
        let spans: Vec<_> = rows.iter().map(|row| row.span.clone()).collect();
        let offset = offsets_of(frame.form, bytes, &spans);
        let (mut at, mut line, mut column) = (0, frame.line, frame.column);
        let (mut within, mut covered) = (0, frame.start);
        let mut count = 0;
        for row in rows {
            count += 1;
            let body = cut::slice(bytes, row.span.clone());
            let (begin, end) = (offset(row.span.start), offset(row.span.end));
            let begins = at.max(begin as usize);
            (line, column) = advance(line, column, cut::slice(&text, at..begins));
            at = begins;
            let mut place = RowPlace {
                entry: number,
                record: self.next_record,
                start: frame.start + begin,
                end: frame.start + end,
                bytes: 0,
                line,
                column,
                form: frame.form,
                counts: true,
            };
            if matches!(place.form, Form::Row | Form::Text) {
                (place.start, place.end) = (frame.start, frame.end);
            }
            // A row may contain others; its bytes are accounted
            // for once, with the first row that contains them.
            place.bytes = place.end.saturating_sub(place.start.max(covered));
            covered = covered.max(place.end);
            within += place.bytes;
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

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests need folders of their own")]
mod tests {
    use chatmill_source::SOURCES;

    use super::*;

    /// A channel as slackdump writes it: the reply is inside the message that it answers.
    const DUMP: &str = r#"{"channel_id":"C1","name":"ferns","messages":[
        {"type":"message","user":"U1","text":"Water?\tNow?","ts":"1767600300.000100","slackdump_thread_replies":[
            {"type":"message","user":"U2","text":"Done.","ts":"1767600400.000100"}]},
        {"type":"message","user":"U1","text":"Thanks.","ts":"1767600500.000100"}]}"#;

    /// A batch with two requests, which become rows side by side.
    const BATCH: &str = r#"{"requests":[{"custom_id":"a","body":{}},{"custom_id":"a","body":{}}]}"#;

    #[test]
    fn the_bytes_of_a_frame_are_accounted_for_once_whatever_its_rows_contain() {
        for (source, text, rows) in [("slack-export", DUMP, 3), ("openai-batch", BATCH, 2)] {
            for form in [Form::Original, Form::Row, Form::Copied] {
                let folder = tempfile::tempdir().unwrap();
                let mut grouper = RowGrouper::new(1 << 20, &Limits::default(), folder.path().join("spill"));
                let source = SOURCES.iter().copied().find(|known| known.id() == source);
                let step = EntryRef {
                    source,
                    ..EntryRef::of_input(0)
                };
                let mut entry = Entry {
                    gathering: Some(grouper.entry(step.clone(), "scope".to_owned())),
                    step,
                    family: String::new(),
                    conversation: String::new(),
                    next_record: 0,
                    alone: 0,
                    map: None,
                };
                let bytes = text.replace("\\t", "\\u0009");
                let length = written(form, bytes.as_bytes()).len() as u64;
                let frame = Frame {
                    record: 0,
                    start: 100,
                    end: 100 + length,
                    line: 1,
                    column: 1,
                    buffer: 0..bytes.len(),
                    form,
                };
                let spilled = entry.spill_rows(&mut grouper, &frame, bytes.as_bytes(), &Limits::default());
                let (count, between) = spilled.unwrap().unwrap();
                let batch = grouper.next_groups(Vec::new()).unwrap().unwrap();
                let places = batch.groups.iter().flat_map(|group| &group.rows);
                let within: u64 = places.map(|row| row.place.bytes).sum();
                assert_eq!((count, within + between), (rows, length), "{form:?}");
            }
        }
    }
}
