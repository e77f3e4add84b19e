//! Reading inputs one conversation at a time, in order, without writing a dataset.

use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::Spill;
use chatmill_diag::{Finding, Severity};
use chatmill_intake::Failure;
use chatmill_model::Linked;

use crate::entry::EntryRef;
use crate::error::ReadError;
use crate::plan::PlannedInput;
use crate::progress::Progress;
use crate::record::locate::Located;
use crate::record::{self, RecordHash, Settings};
use crate::slice::records::{Item, ReadRecord};
use crate::slice::{Recognised, Slicer, Step};
use crate::trouble::Trouble;

/// Bytes of a slice where nothing is written.
const SLICE_BYTES: usize = 8 << 20;

/// What comes along the way.
pub enum WalkEvent<'s> {
    /// An entry begins.
    Entry(&'s EntryRef),
    /// What was recognised in an entry; it comes after what was read of it first.
    Recognised(Recognised),
    /// Records of an entry were read; some may be rejected.
    Records {
        /// Where they stood.
        entry: &'s EntryRef,
        /// How many.
        records: u64,
        /// How many of them are rejected.
        rejected: u64,
    },
    /// A table that no source reads.
    Table {
        /// Where it stands.
        entry: &'s EntryRef,
        /// Its name.
        table: &'s str,
    },
    /// Something cannot be read, or is in doubt.
    Trouble(Trouble),
    /// An input was not read to its end because the system failed.
    Failed(Failure),
    /// A conversation, in the entry where it begins.
    Conversation {
        /// Where it begins.
        entry: &'s EntryRef,
        /// Its id.
        id: String,
        /// The conversation.
        linked: &'s Linked,
        /// Codes of what was found in it.
        codes: Vec<&'static str>,
        /// The hash of its record.
        hash: &'s RecordHash<'s>,
    },
}

/// Walks through inputs; `visit` returns false to end early.
pub fn walk(
    inputs: &[PlannedInput],
    settings: Settings<'_>,
    progress: &dyn Progress,
    stop: &AtomicBool,
    visit: &mut dyn FnMut(WalkEvent<'_>) -> bool,
) -> Result<(), ReadError> {
    let spill = Spill::temporary_folder();
    let mut slicer = Slicer::new(inputs, settings.limits, SLICE_BYTES, None, spill, stop, progress);
    let mut goes_on = true;
    let trouble = |entry: Option<&EntryRef>, line: Option<u64>, finding: &Finding| {
        let planned = entry.and_then(|entry| inputs.get(entry.input));
        let path = planned.map(PlannedInput::name).unwrap_or_default();
        let member = entry.map_or("", |entry| entry.entry.as_str());
        WalkEvent::Trouble(Trouble::new(&path, member, line, finding))
    };
    while goes_on && let Some(slice) = slicer.next_slice() {
        for (place, item) in slice.items() {
            goes_on = match item {
                Item::Step(Step::Entry(entry)) => visit(WalkEvent::Entry(entry)),
                Item::Step(Step::FramingError(damage)) => {
                    let located = Located::of_damage(damage);
                    let line = located.line_column.map(|(line, _)| line);
                    let counted = place.is_none_or(|entry| visit(records(entry, 1, 1)));
                    counted && visit(trouble(place, line, &located.finding))
                }
                Item::Record(record) => {
                    let mut goes_on = true;
                    for read in record.read(settings) {
                        for (row, is_rejected) in read.rows() {
                            goes_on = goes_on && visit(records(row.entry, 1, u64::from(is_rejected)));
                        }
                        goes_on = goes_on && tell(&read, &trouble, visit);
                    }
                    goes_on
                }
                Item::Step(Step::Note(finding)) if finding.severity > Severity::Note => {
                    visit(trouble(place, None, finding))
                }
                Item::Step(Step::Skipped { table, .. }) => {
                    place.is_none_or(|entry| visit(WalkEvent::Table { entry, table }))
                }
                Item::Filtered(_) | Item::Step(_) => true,
            };
            if !goes_on {
                break;
            }
        }
        slicer.reuse(slice.buffer);
        for recognised in slicer.take_recognised() {
            goes_on = goes_on && visit(WalkEvent::Recognised(recognised));
        }
    }
    if let Some(failure) = slicer.take_failure() {
        return Err(failure.into());
    }
    for (_, failure) in slicer.failures() {
        visit(WalkEvent::Failed(failure.clone()));
    }
    if goes_on && stop.load(Ordering::Relaxed) {
        return Err(ReadError::Stopped);
    }
    Ok(())
}

fn records(entry: &EntryRef, records: u64, rejected: u64) -> WalkEvent<'_> {
    WalkEvent::Records {
        entry,
        records,
        rejected,
    }
}

/// Says what is wrong at a place of an entry.
type TroubleAt<'t> = dyn Fn(Option<&EntryRef>, Option<u64>, &Finding) -> WalkEvent<'static> + 't;

/// Passes on what is missing in a record, and its conversation where there is one.
fn tell(
    read: &ReadRecord<'_>,
    trouble: &TroubleAt<'_>,
    visit: &mut dyn FnMut(WalkEvent<'_>) -> bool,
) -> bool {
    let ReadRecord { record, outcome, .. } = read;
    let told = outcome.rejects.iter().all(|(reject, located)| {
        let line = located.line_column.map(|(line, _)| line);
        visit(trouble(Some(record.entry), line, &reject.finding))
    });
    let Some(linked) = outcome.linked.as_ref().filter(|_| told) else {
        return told;
    };
    visit(WalkEvent::Conversation {
        entry: record.entry,
        id: record::id(linked, &read.hash),
        linked,
        codes: read.codes().collect(),
        hash: &read.hash,
    })
}
