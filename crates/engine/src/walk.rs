//! Reading inputs one conversation at a time, in order, without writing a dataset.

use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{DatasetError, Spill};
use chatmill_diag::Limits;
use chatmill_model::Linked;
use thiserror::Error;

use crate::frame::{self, Outcome, Settings};
use crate::plan::{PlanError, PlannedInput};
use crate::progress::Progress;
use crate::slices::{EntryStep, Recognised, Slicer, Step};

/// Bytes of a slice where nothing is written.
const SLICE_BYTES: usize = 8 << 20;

/// Why reading ended before the inputs did.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The request is wrong.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It was interrupted.
    #[error("stopped")]
    Stopped,
    /// Rows could not be put aside.
    #[error(transparent)]
    Spill(#[from] DatasetError),
    /// The threads could not be started.
    #[error("cannot start {0} threads")]
    Threads(usize),
}

/// What comes along the way.
pub enum Sight<'s> {
    /// An entry begins.
    Entry(&'s EntryStep),
    /// Records of an entry were read; some may be rejected.
    Records {
        /// Where they stood.
        entry: &'s EntryStep,
        /// How many.
        records: u64,
        /// How many of them are rejected.
        rejected: u64,
    },
    /// Something cannot be read; one clause says why.
    Unread(String),
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

/// Walks through inputs; `visit` returns false to end early. Gives what was recognised in each entry.
pub fn walk(
    inputs: &[PlannedInput],
    limits: &Limits,
    progress: &dyn Progress,
    stop: &AtomicBool,
    visit: &mut dyn FnMut(Sight<'_>) -> bool,
) -> Result<Vec<Recognised>, ReadError> {
    let spill = Spill::temporary_folder();
    let mut slicer = Slicer::new(inputs, limits, SLICE_BYTES, None, spill, stop, progress);
    let mut recognised = Vec::new();
    let mut goes_on = true;
    while goes_on && let Some(slice) = slicer.next_slice() {
        let mut place: Option<&EntryStep> = None;
        for step in &slice.steps {
            goes_on = match step {
                Step::Entry(entry) => {
                    place = Some(entry);
                    visit(Sight::Entry(entry))
                }
                Step::Damage(damage) => {
                    let text = format!("{}: {}", damage.code.code, damage.message);
                    let counted = place.is_none_or(|entry| visit(records(entry, 1, 1)));
                    counted && visit(Sight::Unread(text))
                }
                Step::Frame(frame) => {
                    let Some((entry, source)) = place.and_then(|entry| Some((entry, entry.source?))) else {
                        continue;
                    };
                    let bytes = slice.buffer.get(frame.buffer.clone()).unwrap_or_default();
                    let outcome = frame::read(source, frame, bytes, Settings::plain(limits));
                    let rejected = u64::from(outcome.linked.is_none());
                    visit(records(entry, 1, rejected)) && tell(entry, &outcome, bytes, visit)
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
                    goes_on && first.is_none_or(|entry| tell(entry, &outcome, bytes, visit))
                }
                Step::Note(finding) if finding.severity == chatmill_diag::Severity::Error => visit(
                    Sight::Unread(format!("{}: {}", finding.code.code, finding.message)),
                ),
                Step::Filtered(_)
                | Step::FilteredGroup(_)
                | Step::Skipped { .. }
                | Step::Separator(_)
                | Step::Note(_)
                | Step::EntryEnd(_) => true,
            };
            if !goes_on {
                break;
            }
        }
        slicer.reuse(slice.buffer);
        recognised.extend(slicer.take_recognised());
    }
    if let Some(failure) = slicer.take_failure() {
        return Err(failure.into());
    }
    if goes_on && stop.load(Ordering::Relaxed) {
        return Err(ReadError::Stopped);
    }
    Ok(recognised)
}

fn records(entry: &EntryStep, records: u64, rejected: u64) -> Sight<'_> {
    Sight::Records {
        entry,
        records,
        rejected,
    }
}

/// Passes on the conversation of an outcome, or why there is none.
fn tell(
    entry: &EntryStep,
    outcome: &Outcome,
    bytes: &[u8],
    visit: &mut dyn FnMut(Sight<'_>) -> bool,
) -> bool {
    match &outcome.linked {
        Some(linked) => visit(Sight::Conversation {
            entry,
            id: frame::id(linked, bytes),
            linked,
        }),
        None => outcome.rejects.iter().all(|(reject, _)| {
            let finding = &reject.finding;
            visit(Sight::Unread(format!(
                "{}: {}",
                finding.code.code, finding.message
            )))
        }),
    }
}
