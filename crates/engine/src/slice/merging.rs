//! Validates `merge = true`: each entry is recognised by its first bytes before anything is written.
//!
//! Rows of several files become one conversation only if they are grouped
//! by its id. Elsewhere `merge` would have no effect, and is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_diag::Limits;
use chatmill_intake::discover::InputKind;
use chatmill_intake::{Event, Framing, Reader};
use chatmill_source::Source;

use super::recognise::{EntryAction, Recognition, recognise_alone};
use crate::error::PlanError;
use crate::plan::PlannedInput;

/// Refuses inputs that should be merged and contain records that do not merge. Ends early if `stop` is set.
///
/// # Errors
///
/// If an input is refused, or the system fails.
pub(crate) fn refuse_unmerged(
    inputs: &[PlannedInput],
    limits: &Limits,
    stop: &AtomicBool,
) -> Result<(), PlanError> {
    for planned in inputs.iter().filter(|planned| needs_inspection(planned)) {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        refuse_unmerged_entries(planned, limits, stop)?;
    }
    Ok(())
}

/// Returns whether an input should be merged and only its content shows whether that is possible.
fn needs_inspection(planned: &PlannedInput) -> bool {
    let settings = &planned.settings;
    let can_be_read_twice = matches!(
        planned.input.kind,
        InputKind::File | InputKind::Folder | InputKind::Memory(_)
    );
    settings.written.merge == Some(true)
        && can_be_read_twice
        // A source that merges by default groups all of its entries.
        && !settings.source.is_some_and(Source::merges)
}

/// Refuses an input with an entry, such as a member of an archive, that does not merge.
fn refuse_unmerged_entries(
    planned: &PlannedInput,
    limits: &Limits,
    stop: &AtomicBool,
) -> Result<(), PlanError> {
    let tables = &planned.settings.tables;
    // Rows of tables are always grouped, and are read by the source of their map.
    let all_tables_merge = tables.iter().all(|map| can_merge(&map.source));
    let mut reader = Reader::open(&planned.input, limits).with_tables(Arc::clone(tables));
    let mut buffer = Vec::new();
    while !stop.load(Ordering::Relaxed)
        && let Some(event) = reader.next(&mut buffer)
    {
        buffer.clear();
        match event {
            Event::Failed(failure) => return Err(failure.into()),
            Event::EntryStart { entry, head } => {
                let has_tables = head.framing == Framing::Tables;
                if !has_tables
                    && let Some(source) = unmerged(&recognise_alone(planned, &entry, &head, limits))
                {
                    return Err(refusal(planned, &entry, source));
                }
                if !has_tables || all_tables_merge {
                    if entry.is_empty() {
                        return Ok(());
                    }
                    reader.skip_entry("looked at");
                }
            }
            Event::Table { name, source, .. } if planned.settings.source.is_none() && !can_merge(&source) => {
                return Err(refusal(planned, &name, &source));
            }
            _ => {}
        }
    }
    Ok(())
}

fn can_merge(source: &str) -> bool {
    chatmill_source::find(source).is_some_and(Source::can_merge)
}

/// Returns the source of an entry with records that are not grouped by conversation.
fn unmerged(seen: &Recognition) -> Option<&'static str> {
    let source = seen.source?;
    let merges = seen.groups_rows && source.can_merge();
    (matches!(seen.action, EntryAction::Read) && !merges).then(|| source.id())
}

fn refusal(planned: &PlannedInput, entry: &str, source: &str) -> PlanError {
    let name = planned.name();
    let place = if entry.is_empty() {
        format!("`{name}`")
    } else {
        format!("`{entry}` of `{name}`")
    };
    planned
        .settings
        .cannot_merge(&format!("{source} as {place} has them"))
}
