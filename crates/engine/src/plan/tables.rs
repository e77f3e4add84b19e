//! The tables that a run writes: `output.tables` by their names, in the order of the registry, each once.
//!
//! Why: docs/decisions/2026-11-22-optional-tables.md.

use chatmill_dataset::{TABLES, absent_tables};

use super::require;
use crate::error::PlanError;

const KEY: &str = "output.tables";

/// Refuses an empty list, and names that are no tables. Equivalent lists are normalised to the same
/// list, and to `None` if they contain all tables, so that equal datasets have equal fingerprints.
pub(super) fn tables(wanted: Option<&[String]>) -> Result<Option<Vec<String>>, PlanError> {
    let Some(wanted) = wanted else {
        return Ok(None);
    };
    let problem =
        "the list is empty; name tables, for example \"totals\" for no more than what is always written";
    require(!wanted.is_empty(), KEY, problem)?;
    if let Some(unknown) = wanted.iter().find(|name| !TABLES.contains(&name.as_str())) {
        return Err(PlanError::unknown(KEY, "table", unknown, TABLES.iter().copied()));
    }
    let absent = absent_tables(wanted);
    let written = TABLES.iter().filter(|table| !absent.contains(table));
    Ok((!absent.is_empty()).then(|| written.map(|table| (*table).to_owned()).collect()))
}
