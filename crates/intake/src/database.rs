//! Database files of SQLite: returns the rows of the tables that a map names, in the order of their keys, and the row
//! counts of all other tables. A reader takes these events instead of those of a framer.
//!
//! SQLite reads the file read-only and as immutable: no lock is taken, no journal is replayed, and no file is written
//! next to it. Rows have no byte offsets; the entry of a database has no bytes at all.

mod file;
mod pages;
mod scan;
mod schema;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use chatmill_diag::Finding;
use chatmill_diag::codes::{EMPTY_INPUT, RECORD_TOO_LONG, UNKNOWN_FORMAT, UNREADABLE_INPUT};
use chatmill_diag::faults::Call;
use rusqlite::{Connection, ErrorCode};

use crate::access::{self, InputFile};
use crate::event::TableName;
use crate::event::{Event, Frame, FramingError};
use crate::stream::{ReadBudget, StreamError};
use crate::table::TableMap;

use scan::{Outcome, Scan};
use schema::Relation;

pub(crate) use file::{DatabaseFile, MAGIC, Spool, is_companion};

/// Reads one database file.
pub(crate) struct Database {
    connection: Connection,
    /// Whether a corruption error of SQLite still has to be checked against the file.
    corruption_check: CorruptionCheck,
    /// The length of the file in bytes.
    bytes: u64,
    /// The number of its bytes not yet counted as read; 0 for a copy, which was counted when it was made.
    uncounted: u64,
    gauge: Arc<ReadBudget>,
    maps: Arc<[TableMap]>,
    /// The tables that have not been begun.
    tables: VecDeque<Relation>,
    scan: Option<Scan>,
    /// The number of the next frame or framing error.
    record: u64,
    queue: VecDeque<Event>,
}

impl Database {
    pub(crate) fn open(
        file: DatabaseFile,
        maps: Arc<[TableMap]>,
        gauge: Arc<ReadBudget>,
    ) -> Result<Self, StreamError> {
        let notes = file.notes(&gauge.first_failure);
        let (file, length_finding) = file.whole_pages(&gauge)?;
        let bytes = file.bytes;
        let uncounted = if file.is_own() { bytes } else { 0 };
        let opened = InputFile::open(file.path(), &gauge.first_failure);
        let mut corruption_check = CorruptionCheck(Some(opened?));
        may(Call::Open, &gauge)?;
        let connection = file
            .connect(&gauge.limits)
            .map_err(|error| explain(&error, &gauge))?;
        let mut tables = schema::tables(&connection, &maps);
        if tables
            .as_ref()
            .is_err_and(|error| corruption_check.should_retry(error))
        {
            tables = schema::tables(&connection, &maps);
        }
        let tables = tables.map_err(|error| explain(&error, &gauge))?;
        let mut queue: VecDeque<Event> = notes.into_iter().chain(length_finding).map(Event::Note).collect();
        if tables.is_empty() {
            queue.push_back(Event::Note(Finding::new(
                &EMPTY_INPUT,
                "the database holds no table",
            )));
        }
        Ok(Self {
            connection,
            corruption_check,
            bytes,
            uncounted,
            gauge,
            maps,
            tables,
            scan: None,
            record: 0,
            queue,
        })
    }

    /// Refuses the whole database as one framing error. Only before the first event.
    pub(crate) fn refuse(&mut self, broken: StreamError) {
        if !self.tables.is_empty() {
            self.tables.clear();
            self.queue.clear();
            let event = self.framing_error(broken);
            self.queue.push_back(event);
        }
    }

    /// Skips the remaining rows of the current table.
    pub(crate) fn skip_table(&mut self) {
        self.scan = None;
    }

    /// The next event; a row is appended to `buffer`.
    pub(crate) fn next(&mut self, buffer: &mut Vec<u8>) -> Option<Event> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            if may(Call::Read, &self.gauge).is_err() {
                return None;
            }
            if self.scan.is_some() {
                if let Some(event) = self.next_row(buffer) {
                    return Some(event);
                }
            } else {
                let table = self.tables.pop_front()?;
                if let Err(error) = self.begin(&table) {
                    if self.corruption_check.should_retry(&error) {
                        self.tables.push_front(table);
                        continue;
                    }
                    let broken = about(&table.name, explain(&error, &self.gauge));
                    let event = self.framing_error(broken);
                    self.queue.push_back(event);
                }
            }
        }
    }

    /// Begins a table with a map, or counts the rows of one without.
    fn begin(&mut self, Relation { name: table, is_view }: &Relation) -> rusqlite::Result<()> {
        let columns = schema::columns(&self.connection, table)?;
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let Some(map) = TableMap::find(&self.maps, Some(table), &names) else {
            if *is_view {
                return Ok(());
            }
            let (rows, error) = schema::count(
                &self.connection,
                table,
                self.bytes,
                &mut self.corruption_check,
                &self.gauge,
            )?;
            self.skip(table, rows);
            if let Some(broken) = error {
                let event = self.framing_error(about(table, broken));
                self.queue.push_back(event);
            }
            return Ok(());
        };
        if let Some(why) = &map.refusal {
            let broken = StreamError::new(&UNKNOWN_FORMAT, why.clone());
            let event = self.framing_error(about(table, broken));
            self.queue.push_back(event);
            return Ok(());
        }
        let keys = if *is_view {
            schema::copy_view(&mut self.connection, table, &columns, &self.gauge)?
        } else {
            schema::keys(&self.connection, table, &columns)?
        };
        self.queue.push_back(Event::Table {
            name: table.clone(),
            source: map.source.clone(),
            map: map.name.clone(),
            whole: map.whole(table).map(|table| TableName {
                database: None,
                table,
            }),
        });
        self.scan = Some(Scan::new(table, keys, &columns, map));
        Ok(())
    }

    /// The next row of the current table; `None` at its end.
    fn next_row(&mut self, buffer: &mut Vec<u8>) -> Option<Event> {
        let scan = self.scan.as_mut()?;
        match scan.next(&self.connection, &mut self.corruption_check, &self.gauge) {
            Some(Outcome::Row(row)) => {
                let start = buffer.len();
                buffer.extend_from_slice(scan.bytes(row));
                // SQLite does not report its read position, so a row counts as many bytes of the file as it is long.
                let taken = self.uncounted.min((buffer.len() - start) as u64);
                self.uncounted -= taken;
                self.gauge.count_raw(taken);
                let record = self.count_record();
                Some(Event::Frame(Frame::row(record, start..buffer.len())))
            }
            Some(Outcome::FramingError(broken)) => Some(self.framing_error(broken)),
            Some(Outcome::LimitReached(broken)) => {
                self.tables.clear();
                Some(self.framing_error(broken))
            }
            None => {
                let (table, filtered) = (scan.table().to_owned(), scan.filtered());
                self.scan = None;
                self.skip(&table, filtered);
                None
            }
        }
    }

    fn skip(&mut self, table: &str, rows: u64) {
        if rows > 0 {
            self.queue.push_back(Event::Skipped {
                table: table.to_owned(),
                rows,
                bytes: 0,
                resembles: None,
            });
        }
    }

    fn count_record(&mut self) -> u64 {
        let record = self.record;
        self.record += 1;
        record
    }

    fn framing_error(&mut self, broken: StreamError) -> Event {
        Event::FramingError(FramingError::of_nothing(self.count_record(), broken))
    }
}

/// SQLite reports a page as corrupt if the system failed to read it, but a failure of the system must not count as a
/// property of the input. Therefore, at the first such error, the whole file is read once through [`InputFile`], which
/// records a failure, and the failed call is repeated; a second error is taken as corruption.
struct CorruptionCheck(Option<InputFile>);

impl CorruptionCheck {
    /// Whether the failed call has to be repeated.
    fn should_retry(&mut self, error: &rusqlite::Error) -> bool {
        let is_corrupt = error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt);
        let Some(mut file) = self.0.take_if(|_| is_corrupt) else {
            return false;
        };
        // A failure here is recorded by the file.
        io::copy(&mut file, &mut io::sink()).is_ok()
    }
}

/// Adds the table with the error to the message.
fn about(table: &str, broken: StreamError) -> StreamError {
    broken.about(format_args!("table {table}"))
}

/// Asks the fault injection for a call, because SQLite makes its calls itself.
fn may(kind: Call, gauge: &ReadBudget) -> Result<(), StreamError> {
    access::call(kind, || Ok::<_, io::Error>(())).map_err(|error| {
        gauge.first_failure.here("read", &error.to_string());
        StreamError::of(&error)
    })
}

/// The stream error for an error of SQLite. SQLite's message is not used, because it may contain a path.
fn explain(error: &rusqlite::Error, gauge: &ReadBudget) -> StreamError {
    let corrupt = |message: &str| StreamError::corrupt(message);
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => corrupt("the database's header is damaged"),
        Some(ErrorCode::DatabaseCorrupt) => corrupt("the database is damaged here"),
        Some(ErrorCode::OperationInterrupted) => StreamError::unbounded(
            "the view takes more steps or bytes than limits.unfolded_floor, limits.unfolded_ratio and limits.spool allow",
        ),
        Some(ErrorCode::TooBig) => StreamError::new(&RECORD_TOO_LONG, "a cell or a statement is too long"),
        Some(
            code @ (ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::OutOfMemory
            | ErrorCode::DiskFull
            | ErrorCode::NoLargeFileSupport),
        ) => {
            let message = format!("SQLite says {code:?}");
            gauge.first_failure.here("read", &message);
            StreamError::new(&UNREADABLE_INPUT, message)
        }
        Some(code) => corrupt(&format!("SQLite cannot read the table: {code:?}")),
        None => corrupt("SQLite cannot read the table"),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::{Error, ffi};

    use super::*;
    use crate::access::FirstFailure;

    #[test]
    fn a_corruption_error_is_retried_once_and_no_other_error() {
        let place = tempfile::NamedTempFile::new().unwrap();
        let failures = FirstFailure::new(place.path());
        let file = InputFile::open(place.path(), &failures).unwrap_or_else(|_| panic!("it is there"));
        let mut corruption_check = CorruptionCheck(Some(file));
        let error = |code| Error::SqliteFailure(ffi::Error::new(code), None);
        assert!(!corruption_check.should_retry(&error(ffi::SQLITE_FULL)));
        assert!(corruption_check.should_retry(&error(ffi::SQLITE_CORRUPT)));
        assert!(!corruption_check.should_retry(&error(ffi::SQLITE_CORRUPT)));
    }
}
