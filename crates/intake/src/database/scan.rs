//! Reads the rows of one table in the order of their keys, one batch at a time.
//!
//! A statement borrows its connection, so it is not kept: each batch begins after the key of the last row. Reading
//! continues after a row that is too long in the same way.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use chatmill_diag::codes::RECORD_TOO_LONG;
use chatmill_diag::cut;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, Row, params_from_iter};

use super::schema::{Keys, quoted};
use super::{CorruptionCheck, about, explain};
use crate::stream::{ReadBudget, StreamError};
use crate::table::TableMap;
use crate::table::column::Column;
use crate::table::row::{Cell, RowWriter, Written};

/// The maximum number of rows in a batch.
const MAX_BATCH_ROWS: usize = 512;

/// The number of bytes of rows after which a batch ends.
const MAX_BATCH_BYTES: usize = 256 * 1024;

/// The outcome of a row.
pub(super) enum Outcome {
    /// The row was written to this range of [`Scan::bytes`].
    Row(Range<usize>),
    /// The row cannot be read.
    FramingError(StreamError),
    /// The limits forbid reading on.
    LimitReached(StreamError),
}

/// The scan of one table.
pub(super) struct Scan {
    table: String,
    /// The expressions that identify a row.
    keys: Vec<String>,
    /// Whether the key is a number that increases from row to row.
    is_numbered: bool,
    /// The quoted names of the columns.
    columns: Vec<String>,
    writer: RowWriter,
    /// The key of the last row.
    last: Option<Vec<Value>>,
    rows: VecDeque<Outcome>,
    bytes: Vec<u8>,
    filtered: u64,
    is_over: bool,
}

impl Scan {
    pub(super) fn new(table: &str, keys: Keys, columns: &[Column], map: &TableMap) -> Self {
        let is_numbered = matches!(keys, Keys::Number(_));
        let keys = match keys {
            Keys::Number(name) => vec![name.to_owned()],
            Keys::Columns(columns) => columns,
        };
        let mut scan = Self {
            table: table.to_owned(),
            is_numbered,
            columns: columns.iter().map(|column| quoted(&column.name)).collect(),
            writer: RowWriter::new(map, columns),
            last: None,
            rows: VecDeque::new(),
            bytes: Vec::new(),
            filtered: 0,
            is_over: keys.is_empty(),
            keys,
        };
        if scan.is_over {
            scan.framing_error(StreamError::corrupt("its rows have neither number nor key"));
        }
        scan
    }

    pub(super) fn table(&self) -> &str {
        &self.table
    }

    /// The number of rows that a filter has skipped so far.
    pub(super) fn filtered(&self) -> u64 {
        self.filtered
    }

    /// The bytes of a row; valid until the next row is requested.
    pub(super) fn bytes(&self, row: Range<usize>) -> &[u8] {
        cut::slice(&self.bytes, row)
    }

    /// The outcome of the next row; `None` at the end of the table.
    pub(super) fn next(
        &mut self,
        connection: &Connection,
        corruption_check: &mut CorruptionCheck,
        gauge: &ReadBudget,
    ) -> Option<Outcome> {
        while self.rows.is_empty() && !self.is_over {
            self.bytes.clear();
            if let Err(error) = self.fill(connection, gauge)
                && !corruption_check.should_retry(&error)
            {
                let is_too_long = error.sqlite_error_code() == Some(ErrorCode::TooBig);
                if !is_too_long || self.skip_one(connection, gauge).is_err() {
                    self.is_over = true;
                    self.framing_error(explain(&error, gauge));
                }
            }
        }
        self.rows.pop_front()
    }

    /// Reads a batch.
    fn fill(&mut self, connection: &Connection, gauge: &ReadBudget) -> rusqlite::Result<()> {
        let mut statement = connection.prepare(&self.select(&self.columns))?;
        let mut rows = statement.query(params_from_iter(self.last.iter().flatten().cloned()))?;
        while self.rows.len() < MAX_BATCH_ROWS && self.bytes.len() < MAX_BATCH_BYTES {
            let Some(row) = rows.next()? else {
                self.is_over = true;
                return Ok(());
            };
            let key = self.key(row)?;
            if self.is_numbered && !follows(self.last.as_deref(), &key) {
                self.is_over = true;
                self.framing_error(StreamError::corrupt("its rows are out of order from here on"));
                return Ok(());
            }
            self.last = Some(key);
            self.read(row, gauge);
            if self.is_over {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Skips the next row, which is too long to be read.
    fn skip_one(&mut self, connection: &Connection, gauge: &ReadBudget) -> rusqlite::Result<()> {
        let mut statement = connection.prepare(&self.select(&[]))?;
        let mut rows = statement.query(params_from_iter(self.last.iter().flatten().cloned()))?;
        if let Some(row) = rows.next()? {
            self.last = Some(self.key(row)?);
            let message = format!("a cell is longer than the limit of {} bytes", gauge.limits.record);
            self.row_error(StreamError::new(&RECORD_TOO_LONG, message));
        }
        Ok(())
    }

    /// The statement that selects the keys and some columns of the rows after the last key.
    fn select(&self, columns: &[String]) -> String {
        let keys = self.keys.join(", ");
        let all: Vec<&str> = self.keys.iter().chain(columns).map(String::as_str).collect();
        let after = if self.last.is_some() {
            format!("WHERE ({keys}) > ({})", vec!["?"; self.keys.len()].join(", "))
        } else {
            String::new()
        };
        // The rows of a view are in a temporary table of the same name, which takes precedence.
        let table = quoted(&self.table);
        format!("SELECT {} FROM {table} {after} ORDER BY {keys}", all.join(", "))
    }

    fn key(&self, row: &Row<'_>) -> rusqlite::Result<Vec<Value>> {
        (0..self.keys.len()).map(|at| row.get(at)).collect()
    }

    /// Writes one row. Each row uses at least one byte of the limits, because corruption can make a table endless.
    fn read(&mut self, row: &Row<'_>, gauge: &ReadBudget) {
        let start = self.bytes.len();
        let places = self.keys.len()..self.keys.len() + self.columns.len();
        let cells = places.map(|at| {
            row.get_ref(at)
                .map(cell)
                .map_err(|_| StreamError::malformed("a cell is missing"))
        });
        let written = self.writer.write(cells, &mut self.bytes);
        let length = (self.bytes.len() - start) as u64;
        if !gauge.produce(length.max(1)) {
            self.is_over = true;
            let message = "the rows of the database are longer than the limit allows";
            let broken = about(&self.table, StreamError::unbounded(message));
            self.rows.push_back(Outcome::LimitReached(broken));
            return;
        }
        match written {
            Ok(Written::Row) if length > gauge.limits.record => {
                self.bytes.truncate(start);
                let message = format!("{length} bytes, the limit is {}", gauge.limits.record);
                self.row_error(StreamError::new(&RECORD_TOO_LONG, message));
            }
            Ok(Written::Row) => self.rows.push_back(Outcome::Row(start..self.bytes.len())),
            Ok(Written::Filtered) => self.filtered += 1,
            Err(broken) => self.row_error(broken),
        }
    }

    /// Reports an error of the last row.
    fn row_error(&mut self, broken: StreamError) {
        let which = match self.last.as_deref() {
            Some([Value::Integer(number)]) => format!("row {number}"),
            _ => "a row".to_owned(),
        };
        self.framing_error(broken.about(which));
    }

    fn framing_error(&mut self, broken: StreamError) {
        self.rows
            .push_back(Outcome::FramingError(about(&self.table, broken)));
    }
}

/// Whether the number of a row is greater than the last one, as in every valid table.
fn follows(last: Option<&[Value]>, key: &[Value]) -> bool {
    match (last, key) {
        (Some([Value::Integer(last)]), [Value::Integer(key)]) => key > last,
        (None, [Value::Integer(_)]) => true,
        _ => false,
    }
}

fn cell(value: ValueRef<'_>) -> Cell<'_> {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Number(Cow::Owned(number.to_string())),
        // Values that JSON cannot represent are spelled as in a dump.
        ValueRef::Real(number) if number.is_infinite() => {
            Cell::Number(Cow::Borrowed(if number > 0.0 { "1e999" } else { "-1e999" }))
        }
        ValueRef::Real(number) => Cell::Number(Cow::Owned(format!("{number:?}"))),
        ValueRef::Text(text) => Cell::Text(Cow::Borrowed(text)),
        ValueRef::Blob(bytes) => Cell::Blob(Cow::Borrowed(bytes)),
    }
}
