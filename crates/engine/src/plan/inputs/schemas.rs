//! Table definitions in separate files, as `mydumper` writes them: `chats.messages-schema.sql`
//! next to `chats.messages.00000.sql`, which has rows without column names. Only definitions in
//! inputs of the same section are used: the fingerprint contains their hashes, too.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use chatmill_diag::Limits;
use chatmill_intake::discover::InputKind;
use chatmill_intake::{Event, Reader};

use super::PlannedInput;
use crate::error::PlanError;

/// What the files of one table have in common: section, folder, and the beginning of their names.
type Place = (usize, PathBuf, String);

/// Attaches the definition of its table to each file of rows.
pub(in crate::plan) fn read(inputs: &mut [PlannedInput], limits: &Limits) -> Result<(), PlanError> {
    let mut found: BTreeMap<Place, Arc<str>> = BTreeMap::new();
    for planned in inputs.iter() {
        let Some((place, true)) = place(planned) else {
            continue;
        };
        if let Some(definition) = definition(planned, limits)? {
            found.insert(place, definition);
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    for planned in inputs {
        if let Some((place, false)) = place(planned) {
            planned.input.definition = found.get(&place).cloned().map(Box::new);
        }
    }
    Ok(())
}

/// Returns the table of a file, from its name, and whether the
/// file defines it; `None` for an input that is not an SQL file.
fn place(planned: &PlannedInput) -> Option<(Place, bool)> {
    if planned.input.kind != InputKind::File {
        return None;
    }
    let path = planned.input.path();
    let name = path.file_name()?.to_str()?;
    let packed = [".gz", ".zst"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending));
    let stem = packed.unwrap_or(name).strip_suffix(".sql")?;
    let (stem, defines) = match stem.strip_suffix("-schema") {
        Some(table) => (table, true),
        // Files of rows have one or two numbers: `chats.messages.00000`, `chats.messages.00000.00001`.
        None => (
            stem.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.'),
            false,
        ),
    };
    let place = (planned.section, path.parent()?.to_owned(), stem.to_owned());
    Some((place, defines))
}

/// Returns the statement that creates a table, if the beginning of the file contains it.
fn definition(planned: &PlannedInput, limits: &Limits) -> Result<Option<Arc<str>>, PlanError> {
    let mut reader = Reader::open(&planned.input, limits);
    match reader.next(&mut Vec::new()) {
        Some(Event::EntryStart { head, .. }) => {
            let text = String::from_utf8_lossy(&head.bytes);
            let start = text.find("CREATE TABLE");
            Ok(start.map(|start| text.split_at(start).1.into()))
        }
        Some(Event::Failed(failure)) => Err(failure.into()),
        _ => Ok(None),
    }
}
