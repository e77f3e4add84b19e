//! Reads inputs one conversation at a time, in order, without writing a
//! dataset. `chatmill inspect`, `render`, `show` and `tokens` use it.

use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::Spill;
use chatmill_diag::{Severity, cut};
use chatmill_intake::Failure;
use chatmill_model::Linked;
use chatmill_redact::Redactor;

use crate::check::{Checked, checked_findings};
use crate::entry::EntryRef;
use crate::error::ReadError;
use crate::plan::PlannedInput;
use crate::problem::ReadProblem;
use crate::progress::Progress;
use crate::record::locate::Located;
use crate::record::{self, RecordHash, Settings};
use crate::slice::merging::refuse_unmerged;
use crate::slice::records::{Item, ReadRecord};
use crate::slice::{Recognised, Slicer, Step};

/// Bytes of a slice if nothing is written.
const SLICE_BYTES: usize = 8 << 20;

/// One event of the walk.
pub enum WalkEvent<'s> {
    /// The start of an entry.
    Entry(&'s EntryRef),
    /// The recognised format of an entry. It follows the first records of the entry.
    Recognised(Recognised),
    /// A record that was read.
    Record {
        /// The entry of the record.
        entry: &'s EntryRef,
        /// Whether the record is rejected.
        is_rejected: bool,
    },
    /// A table that no source reads.
    Table {
        /// The entry of the table.
        entry: &'s EntryRef,
        /// The name of the table.
        table: &'s str,
    },
    /// Data that cannot be read, or is doubtful.
    ReadProblem(ReadProblem),
    /// An input was not read to its end because the system failed.
    Failed(Failure),
    /// A conversation, with the entry in which it starts.
    Conversation {
        /// The entry in which the conversation starts.
        entry: &'s EntryRef,
        /// The id of the conversation.
        id: String,
        /// The conversation.
        linked: &'s Linked,
        /// The codes of its findings.
        codes: Vec<&'static str>,
        /// The hash of its record.
        hash: &'s RecordHash<'s>,
        /// Its record.
        record: WalkedRecord<'s>,
    },
}

/// The record of a conversation: its place, and the findings of the conversation.
#[derive(Clone, Copy)]
pub struct WalkedRecord<'s> {
    read: &'s ReadRecord<'s>,
    inputs: &'s [PlannedInput],
    settings: Settings<'s>,
}

impl WalkedRecord<'_> {
    /// Returns the path as typed, with the member of an archive, and line and column if the entry is text.
    pub fn place(&self) -> String {
        let record = self.read.record;
        let input = cut::at(self.inputs, record.entry.input).name();
        let named = |mark: &str, name: &str| match name {
            "" => String::new(),
            name => format!("{mark}{name}"),
        };
        let (entry, table) = (
            named("!", &record.entry.entry),
            named(" table ", &record.entry.table),
        );
        let (_, line) = record.written();
        let line = line.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
        format!("{input}{entry}{table}{line}")
    }

    /// Returns the number of the record in its entry, from 0.
    pub fn number(&self) -> u64 {
        self.read.record.row(None).record
    }

    /// Returns the findings as `check` reports them, each with
    /// an excerpt of the source unless its text is replaced.
    pub fn findings(&self) -> Vec<Checked> {
        let quotes = !self.settings.redactor.is_some_and(Redactor::replaces);
        checked_findings(self.read, self.inputs, self.settings.limits, quotes)
    }
}

/// Walks through inputs; `visit` returns false to stop.
pub fn walk(
    inputs: &[PlannedInput],
    settings: Settings<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
    visit: &mut dyn FnMut(WalkEvent<'_>) -> bool,
) -> Result<(), ReadError> {
    refuse_unmerged(inputs, settings.limits, stop)?;
    let spill = Spill::temporary_folder();
    let mut slicer = Slicer::new(inputs, settings.limits, SLICE_BYTES, None, spill, stop, progress);
    let mut visitor = Visitor {
        inputs,
        settings,
        visit,
    };
    let mut goes_on = true;
    while goes_on && let Some(slice) = slicer.next_slice() {
        goes_on = slice
            .work(progress)
            .all(|(place, item)| visitor.item(place, item));
        slicer.reuse(slice.buffer);
        for recognised in std::mem::take(&mut slicer.recognised) {
            goes_on = goes_on && (visitor.visit)(WalkEvent::Recognised(recognised));
        }
    }
    if let Some(failure) = slicer.failure {
        return Err(failure.into());
    }
    for (_, failure) in slicer.failures {
        (visitor.visit)(WalkEvent::Failed(failure));
    }
    if goes_on && stop.load(Ordering::Relaxed) {
        return Err(ReadError::Stopped);
    }
    Ok(())
}

struct Visitor<'w> {
    inputs: &'w [PlannedInput],
    settings: Settings<'w>,
    visit: &'w mut dyn FnMut(WalkEvent<'_>) -> bool,
}

impl Visitor<'_> {
    /// Passes an item to the visitor; returns whether the walk continues.
    fn item(&mut self, place: Option<&EntryRef>, item: Item<'_>) -> bool {
        match item {
            Item::Step(Step::Entry(entry)) => (self.visit)(WalkEvent::Entry(entry)),
            Item::Step(Step::FramingError(error)) => {
                let counted = place.is_none_or(|entry| self.record(entry, true));
                counted && self.problem(place, &Located::of_framing_error(error))
            }
            Item::Record(record) => {
                let planned = self.inputs.get(record.entry.input);
                let settings = self.settings.in_zone(planned.and_then(PlannedInput::zone));
                record.read(settings).iter().all(|read| self.read(read))
            }
            Item::Step(Step::Note(finding)) if finding.severity > Severity::Note => {
                self.problem(place, &Located::nowhere(finding.clone()))
            }
            Item::Step(Step::Skipped { table, .. }) => {
                place.is_none_or(|entry| (self.visit)(WalkEvent::Table { entry, table }))
            }
            Item::Filtered(_) | Item::Step(_) => true,
        }
    }

    fn record(&mut self, entry: &EntryRef, is_rejected: bool) -> bool {
        (self.visit)(WalkEvent::Record { entry, is_rejected })
    }

    /// Reports a problem at a place of an entry.
    fn problem(&mut self, entry: Option<&EntryRef>, located: &Located) -> bool {
        let path = entry.map(|entry| cut::at(self.inputs, entry.input).name());
        let member = entry.map_or("", |entry| entry.entry.as_str());
        let line = located.line_column.map(|(line, _)| line);
        let problem = ReadProblem::new(path.as_deref().unwrap_or(""), member, line, &located.finding);
        (self.visit)(WalkEvent::ReadProblem(problem))
    }

    /// Passes on the rows of a record, its missing parts, and its conversation, if it has one.
    fn read(&mut self, read: &ReadRecord<'_>) -> bool {
        let ReadRecord { record, outcome, .. } = read;
        let goes_on = read
            .rows()
            .all(|(row, is_rejected)| self.record(row.entry, is_rejected))
            && (outcome.rejects.iter()).all(|(_, located)| self.problem(Some(record.entry), located));
        let Some(linked) = outcome.linked.as_ref().filter(|_| goes_on) else {
            return goes_on;
        };
        (self.visit)(WalkEvent::Conversation {
            entry: record.entry,
            id: record::id(linked, &read.hash),
            linked,
            codes: read.codes().collect(),
            hash: &read.hash,
            record: WalkedRecord {
                read,
                inputs: self.inputs,
                settings: self.settings,
            },
        })
    }
}
