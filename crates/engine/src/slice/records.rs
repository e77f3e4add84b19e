//! What a slice holds, in order: the one walk for all who work on slices.
//!
//! A record is one frame, or the rows of a conversation that were gathered from many places. Whoever reads records sees no
//! difference: a frame is a record of one row.

use std::collections::BTreeSet;

use chatmill_diag::{Finding, Limits, Reject, Span};
use chatmill_intake::{Frame, FramingError};
use chatmill_source::Source;

use super::recognise::NO_SOURCE;
use super::{Slice, Step};
use crate::entry::EntryRef;
use crate::record::group::Group;
use crate::record::locate::Located;
use crate::record::unread::FirstPlace;
use crate::record::{self, RecordHash, RecordOutcome, Settings, UnreadAt};

/// One thing that a slice holds.
#[derive(Clone, Copy)]
pub enum Item<'s> {
    /// What follows comes from this entry.
    Entry(&'s EntryRef),
    /// A record.
    Record(Record<'s>),
    /// A record that the request leaves out before it is looked at.
    Filtered(Record<'s>),
    /// A record that could not be framed.
    FramingError(&'s FramingError),
    /// A finding of the intake.
    Note(&'s Finding),
    /// Bytes between records.
    Separator(u64),
    /// Rows of a table that are not read.
    Skipped {
        /// The table.
        table: &'s str,
        /// How many rows.
        rows: u64,
        /// How many bytes of the entry.
        bytes: u64,
    },
    /// An entry that is not a chat, or not wanted.
    PassedOver {
        /// What it is.
        kind: &'static str,
        /// Its bytes.
        bytes: u64,
    },
    /// The entry is over; it had that many bytes.
    EntryEnd(u64),
    /// A stretch of an entry is over, which goes on in another lot; it had that many bytes.
    StretchEnd(u64),
}

/// A record, not yet read.
#[derive(Clone, Copy)]
pub struct Record<'s> {
    /// Where it begins.
    pub entry: &'s EntryRef,
    /// Its bytes; those of gathered rows as an array.
    pub bytes: &'s [u8],
    /// How it lies in the inputs.
    pub form: RecordForm<'s>,
    entries: &'s [EntryRef],
}

/// How a record lies in the inputs.
#[derive(Clone, Copy)]
pub enum RecordForm<'s> {
    /// In one piece.
    Frame(&'s Frame),
    /// As rows in many places.
    Group(&'s Group),
}

/// What a record is accounted for by: a frame, or one of the rows that were gathered.
#[derive(Clone, Copy)]
pub struct AccountedRow<'s> {
    /// Where it stands.
    pub entry: &'s EntryRef,
    /// Its number in the entry.
    pub record: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A record, read.
pub struct ReadRecord<'s> {
    /// Where it stood.
    pub record: Record<'s>,
    /// What became of it.
    pub outcome: RecordOutcome,
    /// Its hash.
    pub hash: RecordHash<'s>,
    /// The rows that are rejected, by their index.
    rejected: BTreeSet<usize>,
    /// Whether the record is accounted for here: one that holds several conversations is so in the first.
    counts: bool,
}

impl Slice {
    /// What the slice holds, in order. Frames before the first entry, which no reader gives, are left out.
    pub fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let mut entry = None;
        self.steps.iter().filter_map(move |step| {
            if let Step::Entry(here) = step {
                entry = Some(here);
            }
            self.item(step, entry)
        })
    }

    fn item<'s>(&'s self, step: &'s Step, entry: Option<&'s EntryRef>) -> Option<Item<'s>> {
        Some(match step {
            Step::Entry(entry) => Item::Entry(entry),
            Step::Frame(frame) => Item::Record(self.frame(frame, entry?)),
            Step::Filtered(frame) => Item::Filtered(self.frame(frame, entry?)),
            Step::Group(group) => Item::Record(self.group(group)?),
            Step::FilteredGroup(group) => Item::Filtered(self.group(group)?),
            Step::FramingError(damage) => Item::FramingError(damage),
            Step::Note(finding) => Item::Note(finding),
            Step::Separator(bytes) => Item::Separator(*bytes),
            Step::Skipped { table, rows, bytes } => Item::Skipped {
                table,
                rows: *rows,
                bytes: *bytes,
            },
            Step::PassedOver { kind, bytes } => Item::PassedOver { kind, bytes: *bytes },
            Step::EntryEnd(bytes) => Item::EntryEnd(*bytes),
            Step::StretchEnd(bytes) => Item::StretchEnd(*bytes),
        })
    }

    fn frame<'s>(&'s self, frame: &'s Frame, entry: &'s EntryRef) -> Record<'s> {
        Record {
            entry,
            bytes: self.buffer.get(frame.buffer.clone()).unwrap_or_default(),
            form: RecordForm::Frame(frame),
            entries: &self.entries,
        }
    }

    fn group<'s>(&'s self, group: &'s Group) -> Option<Record<'s>> {
        Some(Record {
            entry: self.entries.get(group.rows.first()?.place.entry)?,
            bytes: self.buffer.get(group.buffer.clone()).unwrap_or_default(),
            form: RecordForm::Group(group),
            entries: &self.entries,
        })
    }
}

impl<'s> Record<'s> {
    /// The source that reads it; none where nothing but damage is in its entry.
    pub fn source(&self) -> Option<&'static dyn Source> {
        match self.form {
            RecordForm::Frame(_) => self.entry.source,
            RecordForm::Group(group) => Some(group.source),
        }
    }

    /// Reads, links and checks it: each of its conversations, mostly one. What no source reads is rejected.
    pub fn read(self, settings: Settings<'_>) -> Vec<ReadRecord<'s>> {
        let mut outcome = match self.form {
            RecordForm::Frame(frame) => {
                let refusal = self.entry.refusal.as_deref().unwrap_or(NO_SOURCE);
                match self.source() {
                    Some(source) => record::read(source, frame, self.bytes, settings),
                    None => record::refuse(refusal, frame, self.bytes, settings),
                }
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

    /// The rows that are rejected in one of its conversations.
    fn rejected(&self, outcome: &RecordOutcome) -> BTreeSet<usize> {
        match self.form {
            RecordForm::Frame(_) => outcome.linked.is_none().then_some(0).into_iter().collect(),
            RecordForm::Group(group) => group.rejected(outcome),
        }
    }

    /// What it is accounted for by, each with its index: rows that belong to several records count in the first.
    pub fn rows(self) -> impl Iterator<Item = (usize, AccountedRow<'s>)> {
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

    /// The row of an index; the first where there is none.
    pub fn row(self, index: Option<usize>) -> AccountedRow<'s> {
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
                    bytes: place.map_or(0, |place| place.end - place.start),
                }
            }
        }
    }

    /// Its bytes in its entry, and line and column of the first, where it is written down there; those of its first row.
    pub fn written(&self) -> (Option<Span>, Option<(u64, u64)>) {
        match self.form {
            RecordForm::Frame(frame) => {
                let span = (frame.end > 0).then_some(Span {
                    start: frame.start,
                    end: frame.end,
                });
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
    /// Where what nobody reads of it stands: the index of its input, and its first place.
    pub fn place_of(self, unread: &UnreadAt) -> (usize, FirstPlace) {
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
    /// What the record is accounted for by, and whether it is rejected; nothing for a further conversation of it.
    pub fn rows(&self) -> impl Iterator<Item = (AccountedRow<'s>, bool)> {
        let rows = self.counts.then(|| self.record.rows()).into_iter().flatten();
        rows.map(|(index, row)| (row, self.rejected.contains(&index)))
    }

    /// The findings, each with its row.
    pub fn findings(&self) -> impl Iterator<Item = (AccountedRow<'s>, &Located)> {
        let findings = self.outcome.findings.iter();
        findings.map(|located| (self.record.row(located.row), located))
    }

    /// What is rejected, each with its row: of gathered rows one for each row that is.
    pub fn rejects(&self, limits: &Limits) -> Vec<(AccountedRow<'s>, Reject, Located)> {
        match self.record.form {
            RecordForm::Frame(_) => {
                let rejects = self.outcome.rejects.iter().cloned();
                let row = self.record.row(None);
                rejects.map(|(reject, located)| (row, reject, located)).collect()
            }
            RecordForm::Group(group) => {
                let rejects = group
                    .rejects(&self.outcome, self.record.bytes, limits)
                    .into_iter();
                rejects
                    .map(|(_, reject, located)| (self.record.row(located.row), reject, located))
                    .collect()
            }
        }
    }

    /// The codes of its findings and rejects.
    pub fn codes(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        record::found(&self.outcome.findings, &self.outcome.rejects)
    }
}
