//! The names of senders in another table, which `sender_from` of a table map names. The table is read before
//! the rows, from inputs of the same section, so that the hashes in the fingerprint cover the names, too.

use std::collections::BTreeMap;
use std::path::Path;

use chatmill_diag::{Limits, cut};
use chatmill_intake::discover::InputKind;
use chatmill_intake::table::{SenderTable, Senders};
use chatmill_intake::{Event, Framing, Head, Reader};

use super::PlannedInput;
use crate::error::PlanError;

const KEY: &str = "table_map.sender_from";

/// Reads the sender tables that the maps of these inputs name, into these maps.
pub(in crate::plan) fn read(inputs: &[PlannedInput], limits: &Limits) -> Result<(), PlanError> {
    let mut found = BTreeMap::new();
    for planned in inputs {
        for map in planned.settings.tables.iter() {
            let Some(senders) = &map.senders else { continue };
            let key = (planned.section, map.name.as_str());
            let (_, has_one, known) = found
                .entry(key)
                .or_insert_with(|| (senders, false, Senders::default()));
            *has_one |= add(planned, senders, &map.roles, known, limits)?;
        }
    }
    if let Some((senders, ..)) = found.values().next()
        && found.values().all(|(_, has_one, _)| !has_one)
    {
        let columns = senders.map().requires.join(", ");
        let problem = format!(
            "no input of the same section has a table `{}` with {columns}; the table may be in a database, a dump or a CSV file of its name",
            senders.table
        );
        return Err(PlanError::value(KEY, problem));
    }
    for (senders, _, known) in found.into_values() {
        // Clones of a plan share the maps. If another clone has set the value, it is equal.
        let _ = senders.known.set(known);
    }
    Ok(())
}

/// Adds the senders of an input to `known`; returns whether the input contains their table.
fn add(
    planned: &PlannedInput,
    senders: &SenderTable,
    roles: &[(String, String)],
    known: &mut Senders,
    limits: &Limits,
) -> Result<bool, PlanError> {
    if !matches!(
        planned.input.kind,
        InputKind::File | InputKind::Folder | InputKind::Memory(_)
    ) {
        return Ok(false);
    }
    let mut reader = Reader::open(&planned.input, limits).with_tables([senders.map()].into());
    let (mut buffer, mut is_named, mut has_one) = (Vec::new(), false, false);
    while let Some(event) = reader.next(&mut buffer) {
        match event {
            Event::EntryStart { entry, head } => {
                is_named = is_of(senders, planned, &entry);
                if head.framing != Framing::Tables && entry.is_empty() {
                    break;
                }
                if head.framing != Framing::Tables {
                    reader.skip_entry("no table");
                }
            }
            // A file with rows only, such as CSV, does not name its table: its file name must.
            Event::Table { whole: None, .. } if !is_named => reader.skip_table(),
            Event::Table { .. } => has_one = true,
            Event::Frame(frame) if has_one => known.add(cut::slice(&buffer, frame.buffer), roles),
            Event::Failed(failure) => return Err(failure.into()),
            _ => {}
        }
        buffer.clear();
        if known.bytes() > limits.shared_rows {
            let problem = format!(
                "the ids and names in `{}` take more than {} bytes; limits.shared_rows may be raised",
                senders.table, limits.shared_rows
            );
            return Err(PlanError::value(KEY, problem));
        }
    }
    Ok(has_one)
}

/// Returns whether an entry is a CSV file with the sender table, which contains no chats.
pub(crate) fn is_table(planned: &PlannedInput, entry: &str, head: &Head) -> bool {
    let mut maps = planned
        .settings
        .tables
        .iter()
        .filter_map(|map| map.senders.as_ref());
    maps.any(|senders| {
        let has = |(columns, _): (Vec<String>, _)| senders.map().reads(None, &columns);
        is_of(senders, planned, entry) && head.csv().is_some_and(has)
    })
}

/// Returns whether an input or an entry has the name of the sender table.
fn is_of(senders: &SenderTable, planned: &PlannedInput, entry: &str) -> bool {
    let own = planned.input.name();
    let name = Path::new(if entry.is_empty() { &*own } else { entry });
    let stem = name
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    stem.split('.').next() == senders.table.rsplit('.').next()
}
