//! The contents of a slice, in order: all code that works on slices uses this iteration.
//!
//! A record is one frame, or the rows of a conversation that were grouped from many
//! places. Code that reads records sees no difference: a frame is a record of one row.

use std::collections::BTreeSet;

use chatmill_diag::{Limits, Reject, Span, cut};
use chatmill_intake::Frame;
use chatmill_model::MessageOrigin;
use chatmill_source::Source;

use super::recognise::NO_SOURCE;
use super::{Slice, Step};
use crate::entry::EntryRef;
use crate::plan::Plan;
use crate::progress::{Progress, part_of};
use crate::record::group::Group;
use crate::record::locate::Located;
use crate::record::unread::FirstPlace;
use crate::record::{self, RecordHash, RecordOutcome, Settings, UnreadAt};

/// One element of a slice.
#[derive(Clone, Copy)]
pub(crate) enum Item<'s> {
    /// A record.
    Record(Record<'s>),
    /// A record that is filtered before it is read.
    Filtered(Record<'s>),
    /// Any other step.
    Step(&'s Step),
}

/// A record that is not yet read.
#[derive(Clone, Copy)]
pub(crate) struct Record<'s> {
    /// The entry in which the record starts.
    pub entry: &'s EntryRef,
    /// The bytes of the record; grouped rows as an array.
    pub bytes: &'s [u8],
    /// The form of the record in the inputs.
    pub form: RecordForm<'s>,
    entries: &'s [EntryRef],
}

/// The form of a record in the inputs.
#[derive(Clone, Copy)]
pub(crate) enum RecordForm<'s> {
    /// One range of bytes.
    Frame(&'s Frame),
    /// Rows from several places.
    Group(&'s Group),
}

/// The unit of accounting: a frame, or one of the grouped rows.
#[derive(Clone, Copy)]
pub(crate) struct AccountedRow<'s> {
    /// The entry of the row.
    pub entry: &'s EntryRef,
    /// The number of the row in the entry.
    pub record: u64,
    /// The length in bytes.
    pub bytes: u64,
}

/// A record that was read.
pub(crate) struct ReadRecord<'s> {
    /// The record.
    pub record: Record<'s>,
    /// The outcome of reading it.
    pub outcome: RecordOutcome,
    /// The hash of the record.
    pub hash: RecordHash<'s>,
    /// The indexes of rejected rows.
    rejected: BTreeSet<usize>,
    /// Whether the record is accounted for here. A record with
    /// several conversations is accounted for with the first.
    counts: bool,
}

/// The place of a finding.
#[derive(Clone, Copy, Default)]
pub(crate) struct At<'a> {
    pub entry: Option<&'a EntryRef>,
    /// Number of the record, if the finding is in one.
    pub record: Option<u64>,
    /// Id of its conversation.
    pub id: Option<&'a str>,
}

impl<'a> At<'a> {
    pub(crate) fn row(row: AccountedRow<'a>, id: Option<&'a str>) -> Self {
        Self {
            entry: Some(row.entry),
            record: Some(row.record),
            id,
        }
    }
}

impl Slice {
    /// Returns the elements of the slice in order, each with its entry. Frames
    /// before the first entry are skipped; no reader returns such frames.
    pub(crate) fn items(&self) -> impl Iterator<Item = (Option<&EntryRef>, Item<'_>)> {
        let mut entry = None;
        self.steps.iter().filter_map(move |step| {
            if let Step::Entry(here) = step {
                entry = Some(here);
            }
            Some((entry, self.item(step, entry)?))
        })
    }

    /// Returns the items for processing: each is reported as done when the next one is requested.
    pub(crate) fn work<'s>(
        &'s self,
        progress: &'s dyn Progress,
    ) -> impl Iterator<Item = (Option<&'s EntryRef>, Item<'s>)> {
        let mut items = self.items();
        let (mut visited, mut reported) = (0, 0);
        std::iter::from_fn(move || {
            let next = items.next();
            let done = match &next {
                Some(_) => part_of(self.input_bytes, visited, self.buffer.len() as u64),
                None => self.input_bytes,
            };
            if done > reported {
                progress.advance(done - reported);
                reported = done;
            }
            if let Some((_, Item::Record(record) | Item::Filtered(record))) = &next {
                visited += record.bytes.len() as u64;
            }
            next
        })
    }

    fn item<'s>(&'s self, step: &'s Step, entry: Option<&'s EntryRef>) -> Option<Item<'s>> {
        Some(match step {
            Step::Frame(frame) => Item::Record(self.frame(frame, entry?)),
            Step::Filtered(frame) => Item::Filtered(self.frame(frame, entry?)),
            Step::Group(group) => Item::Record(self.group(group)?),
            Step::FilteredGroup(group) => Item::Filtered(self.group(group)?),
            step => Item::Step(step),
        })
    }

    fn frame<'s>(&'s self, frame: &'s Frame, entry: &'s EntryRef) -> Record<'s> {
        Record {
            entry,
            bytes: cut::slice(&self.buffer, frame.buffer.clone()),
            form: RecordForm::Frame(frame),
            entries: &self.entries,
        }
    }

    fn group<'s>(&'s self, group: &'s Group) -> Option<Record<'s>> {
        Some(Record {
            entry: self.entries.get(group.rows.first()?.place.entry)?,
            bytes: cut::slice(&self.buffer, group.buffer.clone()),
            form: RecordForm::Group(group),
            entries: &self.entries,
        })
    }
}

impl<'s> Record<'s> {
    /// Returns the source that reads the record; `None` if its entry has only framing errors.
    pub(crate) fn source(&self) -> Option<&'static dyn Source> {
        match self.form {
            RecordForm::Frame(_) => self.entry.source,
            RecordForm::Group(group) => Some(group.source),
        }
    }

    /// Reads, links and checks the conversations of the record,
    /// usually one. A record that no source reads is rejected.
    pub(crate) fn read(self, settings: Settings<'_>) -> Vec<ReadRecord<'s>> {
        let mut outcome = match self.form {
            RecordForm::Frame(frame) => {
                let refusal = self.entry.refusal.as_deref().unwrap_or(NO_SOURCE);
                record::read(self.source().ok_or(refusal), frame, self.bytes, settings)
            }
            RecordForm::Group(group) => group.read(self.bytes, settings),
        };
        let also = std::mem::take(&mut outcome.also);
        let mut rejected = self.rejected(&outcome);
        for outcome in &also {
            rejected.extend(self.rejected(outcome));
        }
        let mut read = Vec::with_capacity(1 + also.len());
        let hash = RecordHash::of(self.bytes);
        for outcome in std::iter::once(outcome).chain(also) {
            let counts = read.is_empty();
            read.push(ReadRecord {
                record: self,
                rejected: std::mem::take(&mut rejected),
                outcome,
                hash: hash.clone(),
                counts,
            });
        }
        read
    }

    /// Returns the rows that are rejected in one of its conversations.
    fn rejected(&self, outcome: &RecordOutcome) -> BTreeSet<usize> {
        match self.form {
            RecordForm::Frame(_) => outcome.linked.is_none().then_some(0).into_iter().collect(),
            RecordForm::Group(group) => group.rejected(outcome),
        }
    }

    /// Returns the accounted rows with their indexes; rows that belong to several records count in the first.
    pub(crate) fn rows(self) -> impl Iterator<Item = (usize, AccountedRow<'s>)> {
        let count = match self.form {
            RecordForm::Frame(_) => 1,
            RecordForm::Group(group) => group.rows.len(),
        };
        (0..count)
            .filter(move |index| match self.form {
                RecordForm::Frame(_) => true,
                RecordForm::Group(group) => group.rows.get(*index).is_some_and(|row| row.place.counts),
            })
            .map(move |index| (index, self.row(Some(index))))
    }

    /// Returns the row with this index; the first one for `None`.
    pub(crate) fn row(self, index: Option<usize>) -> AccountedRow<'s> {
        match self.form {
            RecordForm::Frame(frame) => AccountedRow {
                entry: self.entry,
                record: frame.record,
                bytes: frame.end - frame.start,
            },
            RecordForm::Group(group) => {
                let row = index.and_then(|index| group.rows.get(index));
                let place = row.or(group.rows.first()).map(|row| row.place);
                AccountedRow {
                    entry: place
                        .and_then(|place| self.entries.get(place.entry))
                        .unwrap_or(self.entry),
                    record: place.map_or(0, |place| place.record),
                    bytes: place.map_or(0, |place| place.bytes),
                }
            }
        }
    }

    /// Returns the range of the record in its entry, and the line and column of its
    /// first byte, if the entry is text. For grouped rows, these are of the first row.
    pub(crate) fn written(&self) -> (Option<Span>, Option<(u64, u64)>) {
        match self.form {
            RecordForm::Frame(frame) => {
                let span = (frame.end > 0).then_some(Span::new(frame.start, frame.end));
                (span, span.map(|_| (frame.line, frame.column)))
            }
            RecordForm::Group(group) => {
                let first = group.rows.first();
                (
                    first.and_then(|row| row.place.written()),
                    first.and_then(|row| row.place.line_column()),
                )
            }
        }
    }
}

impl Record<'_> {
    /// Returns the path of a message in the record.
    pub(crate) fn path_of(self, message: MessageOrigin) -> String {
        let index = message.index;
        if self.bytes.trim_ascii_start().starts_with(b"[") {
            return format!("$[{index}]");
        }
        let path = self.source().and_then(|source| source.message_path(index));
        path.unwrap_or_else(|| "$".to_owned())
    }

    /// Returns the place of an unread field: the index of its input, and its first place.
    pub(crate) fn place_of(self, unread: &UnreadAt) -> (usize, FirstPlace) {
        let row = self.row(unread.located.row);
        let place = FirstPlace {
            entry: row.entry.entry.clone(),
            table: row.entry.table.clone(),
            record: row.record,
            span: unread.located.span.map(|span| (span.start, span.end)),
            line_column: unread.located.line_column,
        };
        (row.entry.input, place)
    }
}

impl<'s> ReadRecord<'s> {
    /// Returns the accounted rows of the record, and whether each
    /// is rejected; empty for further conversations of the record.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (AccountedRow<'s>, bool)> {
        let rows = self.counts.then(|| self.record.rows()).into_iter().flatten();
        rows.map(|(index, row)| (row, self.rejected.contains(&index)))
    }

    /// Returns the findings, each with its row.
    pub(crate) fn findings(&self) -> impl Iterator<Item = (AccountedRow<'s>, &Located)> {
        let findings = self.outcome.findings.iter();
        findings.map(|located| (self.record.row(located.row), located))
    }

    /// Returns the rejects, each with its row; one per rejected row for grouped rows.
    pub(crate) fn rejects(&self, limits: &Limits) -> Vec<(AccountedRow<'s>, Reject, Located)> {
        let rejects = match self.record.form {
            RecordForm::Frame(_) => self.outcome.rejects.clone(),
            RecordForm::Group(group) => group.rejects(&self.outcome, self.record.bytes, limits),
        };
        let rejects = rejects.into_iter();
        rejects
            .map(|(reject, located)| (self.record.row(located.row), reject, located))
            .collect()
    }

    /// Returns the key of the plan that excludes the conversation,
    /// if any. Its content before redaction decides.
    pub(crate) fn left_out_by<'p>(&self, plan: &'p Plan) -> Option<&'p str> {
        let read = self.outcome.as_read()?;
        plan.excluded_by(self.record.entry.input, read, &self.hash, self.codes())
    }

    /// Returns the codes of its findings and rejects.
    pub(crate) fn codes(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        let findings = self.outcome.findings.iter().map(|located| &located.finding);
        let rejects = self.outcome.rejects.iter().map(|(reject, _)| &reject.finding);
        findings.chain(rejects).map(|finding| finding.code.code)
    }
}
