//! Inputs without frames: the tables of a database or a dump that no source reads, and files that cannot be
//! opened.

use chatmill_diag::{Finding, codes};
use chatmill_intake::FramingError;

/// The tables of an input, which may be entries of their own.
#[derive(Default)]
pub(super) struct Tables {
    /// Whether one of its entries holds tables.
    pub(super) is_database: bool,
    /// Whether one was read.
    pub(super) has_one: bool,
    /// Names of those that were passed over.
    pub(super) passed: Vec<String>,
}

/// Tables that are named when none is read.
const MAX_NAMED_TABLES: usize = 12;

impl Tables {
    /// Remembers a table that was passed over; one more than are shown, so that it is seen that there are more.
    pub(super) fn pass(&mut self, table: &str) {
        if self.passed.len() <= MAX_NAMED_TABLES && !self.passed.iter().any(|passed| passed == table) {
            self.passed.push(table.to_owned());
        }
    }
}

/// The finding that a database or a dump holds no table that is read.
pub(super) fn no_table(passed: &[String]) -> Finding {
    let mut names: Vec<&str> = passed.iter().map(String::as_str).take(MAX_NAMED_TABLES).collect();
    if passed.len() > MAX_NAMED_TABLES {
        names.push("…");
    }
    let found = match chatmill_source::unsupported_tables(passed) {
        Some(known) => format!(
            "this looks like {}, which is not read yet: {}",
            known.name, known.why
        ),
        None if names.is_empty() => "there is no table with rows".to_owned(),
        None => format!("no table map names any of {}", names.join(", ")),
    };
    Finding::new(
        &codes::UNKNOWN_FORMAT,
        format!("{found}; map the table that holds the messages with [table_map] in the pipeline file"),
    )
}

/// An input, or all of its tables, as one framing error: nothing of it was framed.
pub(super) fn of_nothing(finding: &Finding) -> FramingError {
    FramingError {
        record: 0,
        start: 0,
        end: 0,
        line: 1,
        column: 1,
        code: finding.code,
        hash: blake3::hash(b"").to_hex().to_string(),
        head: Vec::new(),
        message: finding.message.clone(),
        at: None,
        around: None,
    }
}
