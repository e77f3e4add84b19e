//! Reading inputs one conversation at a time, in order, without writing a dataset.

use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::Spill;
use chatmill_diag::{Finding, Limits, Severity};
use chatmill_intake::Failure;
use chatmill_model::Linked;

use crate::entry::EntryStep;
use crate::error::ReadError;
use crate::plan::PlannedInput;
use crate::progress::Progress;
use crate::record::locate::Located;
use crate::record::{self, Outcome, Settings};
use crate::slice::{Recognised, Slicer, Step};
use crate::trouble::Trouble;

/// Bytes of a slice where nothing is written.
const SLICE_BYTES: usize = 8 << 20;

/// What comes along the way.
pub enum Sight<'s> {
    /// An entry begins.
    Entry(&'s EntryStep),
    /// What was recognised in an entry; it comes after what was read of it first.
    Recognised(Recognised),
    /// Records of an entry were read; some may be rejected.
    Records {
        /// Where they stood.
        entry: &'s EntryStep,
        /// How many.
        records: u64,
        /// How many of them are rejected.
        rejected: u64,
    },
    /// A table that nobody reads.
    Table {
        /// Where it stands.
        entry: &'s EntryStep,
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
        entry: &'s EntryStep,
        /// Its id.
        id: String,
        /// The conversation.
        linked: &'s Linked,
    },
}

/// Walks through inputs; `visit` returns false to end early.
pub fn walk(
    inputs: &[PlannedInput],
    limits: &Limits,
    progress: &dyn Progress,
    stop: &AtomicBool,
    visit: &mut dyn FnMut(Sight<'_>) -> bool,
) -> Result<(), ReadError> {
    let spill = Spill::temporary_folder();
    let mut slicer = Slicer::new(inputs, limits, SLICE_BYTES, None, spill, stop, progress);
    let mut goes_on = true;
    let trouble = |entry: Option<&EntryStep>, line: Option<u64>, finding: &Finding| {
        let planned = entry.and_then(|entry| inputs.get(entry.input));
        let path = planned.map(PlannedInput::name).unwrap_or_default();
        let member = entry.map_or("", |entry| entry.entry.as_str());
        Sight::Trouble(Trouble::new(&path, member, line, finding))
    };
    while goes_on && let Some(slice) = slicer.next_slice() {
        let mut place: Option<&EntryStep> = None;
        for step in &slice.steps {
            goes_on = match step {
                Step::Entry(entry) => {
                    place = Some(entry);
                    visit(Sight::Entry(entry))
                }
                Step::Damage(damage) => {
                    let located = Located::of_damage(damage);
                    let line = located.line_column.map(|(line, _)| line);
                    let counted = place.is_none_or(|entry| visit(records(entry, 1, 1)));
                    counted && visit(trouble(place, line, &located.finding))
                }
                Step::Frame(frame) => {
                    let Some((entry, source)) = place.and_then(|entry| Some((entry, entry.source?))) else {
                        continue;
                    };
                    let bytes = slice.buffer.get(frame.buffer.clone()).unwrap_or_default();
                    let outcome = record::read(source, frame, bytes, Settings::plain(limits));
                    let rejected = u64::from(outcome.linked.is_none());
                    visit(records(entry, 1, rejected)) && tell(entry, &outcome, bytes, &trouble, visit)
                }
                Step::Group(group) => {
                    let bytes = slice.buffer.get(group.buffer.clone()).unwrap_or_default();
                    let outcome = group.read(bytes, Settings::plain(limits));
                    let rejected = group.rejected(&outcome);
                    let mut goes_on = true;
                    for (index, row) in group.rows.iter().enumerate().filter(|(_, row)| row.place.counts) {
                        if let Some(entry) = slice.entries.get(row.place.entry) {
                            goes_on &= visit(records(entry, 1, u64::from(rejected.contains(&index))));
                        }
                    }
                    let first = group
                        .rows
                        .first()
                        .and_then(|row| slice.entries.get(row.place.entry));
                    goes_on && first.is_none_or(|entry| tell(entry, &outcome, bytes, &trouble, visit))
                }
                Step::Note(finding) if finding.severity > Severity::Note => {
                    visit(trouble(place, None, finding))
                }
                Step::Skipped { table, .. } => place.is_none_or(|entry| visit(Sight::Table { entry, table })),
                Step::Filtered(_)
                | Step::FilteredGroup(_)
                | Step::PassedOver { .. }
                | Step::Separator(_)
                | Step::Note(_)
                | Step::EntryEnd(_) => true,
            };
            if !goes_on {
                break;
            }
        }
        slicer.reuse(slice.buffer);
        for recognised in slicer.take_recognised() {
            goes_on = goes_on && visit(Sight::Recognised(recognised));
        }
    }
    if let Some(failure) = slicer.take_failure() {
        return Err(failure.into());
    }
    for (_, failure) in slicer.failures() {
        visit(Sight::Failed(failure.clone()));
    }
    if goes_on && stop.load(Ordering::Relaxed) {
        return Err(ReadError::Stopped);
    }
    Ok(())
}

fn records(entry: &EntryStep, records: u64, rejected: u64) -> Sight<'_> {
    Sight::Records {
        entry,
        records,
        rejected,
    }
}

/// Says what is wrong at a place of an entry.
type Told<'t> = dyn Fn(Option<&EntryStep>, Option<u64>, &Finding) -> Sight<'static> + 't;

/// Passes on what is missing in an outcome, and its conversation where there is one.
fn tell(
    entry: &EntryStep,
    outcome: &Outcome,
    bytes: &[u8],
    trouble: &Told<'_>,
    visit: &mut dyn FnMut(Sight<'_>) -> bool,
) -> bool {
    let told = outcome.rejects.iter().all(|(reject, located)| {
        let line = located.line_column.map(|(line, _)| line);
        visit(trouble(Some(entry), line, &reject.finding))
    });
    let Some(linked) = outcome.linked.as_ref().filter(|_| told) else {
        return told;
    };
    visit(Sight::Conversation {
        entry,
        id: record::id(linked, bytes),
        linked,
    })
}
