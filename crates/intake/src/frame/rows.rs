//! Output of table rows: selection, writing, and notes on rows that are not wanted.
//!
//! A row is written when its last byte was read, and reported after everything before it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use chatmill_diag::codes::{COLUMNS_UNKNOWN, INVALID_UTF8, RECORD_TOO_LONG};

use super::Framer;
use super::unit::Unit;
use crate::event::{Event, Form};
use crate::stream::StreamError;
use crate::table::row::{Cell, RowWriter, Written};
use crate::table::sql::Syntax;
use crate::table::{TableMap, copy, csv, literal};

/// The bytes of skipped rows after which their number is reported, so that progress is visible.
const REPORT_AFTER_BYTES: u64 = 4 << 20;

/// The state of tables between events.
#[derive(Default)]
pub(super) struct Rows {
    maps: Arc<[TableMap]>,
    /// The encoding of the rows' text.
    pub(super) encoding: Encoding,
    /// The table whose rows are read.
    target: Target,
    /// Columns of tables that some map names, from their definitions.
    known: BTreeMap<String, Vec<String>>,
    /// Bytes of all names in `known`.
    known_bytes: usize,
    /// Name of the table that was announced last.
    announced: Option<String>,
    skipped: Skipped,
    /// Whether any row or table was reported.
    pub(super) has_reported: bool,
    /// The bytes of the row that is read.
    pub(super) raw: Vec<u8>,
    /// The row that waits, as it is written.
    json: Vec<u8>,
    /// The next event to report.
    waiting: Option<Event>,
}

/// The handling of a table's rows.
#[derive(Default)]
struct Target {
    table: String,
    columns: Option<Vec<String>>,
    wish: Wish,
}

#[derive(Default)]
enum Wish {
    /// The rows are not wanted.
    #[default]
    Skip,
    Write(RowWriter),
    /// The rows would be read, but for this error.
    Reject(StreamError),
}

/// Rows that were passed over and not yet reported.
#[derive(Default)]
struct Skipped {
    table: String,
    rows: u64,
    bytes: u64,
    /// Whether the skipped rows begin before the separators that were not reported yet.
    stands_first: bool,
}

/// The encoding of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    #[default]
    Utf8,
    /// ISO 8859-1: each byte is the code point of its number.
    Latin1,
    /// An encoding that is not read, by its name.
    Other(String),
}

impl Encoding {
    /// The encoding of this name; what MySQL calls `latin1` is another one.
    pub(super) fn named(name: &str, is_mysql: bool) -> Self {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        match plain.to_ascii_uppercase().as_str() {
            // Text without an encoding is checked like the rest.
            "UTF8" | "UTF8MB3" | "UTF8MB4" | "UNICODE" | "SQLASCII" | "BINARY" => Self::Utf8,
            "LATIN1" | "ISO88591" if !is_mysql => Self::Latin1,
            _ => Self::Other(name.to_owned()),
        }
    }

    fn decode<'r>(&self, row: &'r [u8]) -> Result<Cow<'r, [u8]>, StreamError> {
        match self {
            Self::Utf8 => Ok(Cow::Borrowed(row)),
            Self::Latin1 if row.is_ascii() => Ok(Cow::Borrowed(row)),
            Self::Latin1 => {
                let text: String = row.iter().copied().map(char::from).collect();
                Ok(Cow::Owned(text.into_bytes()))
            }
            Self::Other(name) => Err(StreamError::new(
                &INVALID_UTF8,
                format!("the dump is encoded in {name}, which is not read"),
            )),
        }
    }
}

impl Rows {
    pub(super) fn new(maps: &Arc<[TableMap]>) -> Self {
        Self {
            maps: Arc::clone(maps),
            ..Self::default()
        }
    }

    /// Keeps the columns of a table for rows that come without them; a later definition takes the place of an earlier one. `limit` is how many bytes all names may take.
    pub(super) fn remember(&mut self, table: String, columns: Vec<String>, limit: u64) {
        let bytes = table.len() + columns.iter().map(String::len).sum::<usize>();
        let is_small = (self.known_bytes + bytes) as u64 <= limit;
        if self.target.table == table {
            self.target = Target::default();
        }
        self.known.remove(&table);
        if is_small && self.is_named(&table) {
            self.known_bytes += bytes;
            self.known.insert(table, columns);
        }
    }

    /// Whether some map means this table.
    pub(super) fn is_named(&self, table: &str) -> bool {
        self.maps.iter().any(|map| map.names(table))
    }

    /// Rejects all rows that follow, of a table that has no name.
    pub(super) fn reject_all(&mut self, error: StreamError) {
        self.target = Target {
            wish: Wish::Reject(error),
            ..Target::default()
        };
    }

    /// Whether the rows of the present table are neither written nor rejected.
    pub(super) const fn is_skipping(&self) -> bool {
        matches!(self.target.wish, Wish::Skip)
    }

    /// The handling of a table's rows, and the map that reads them. `table` is `None` for a file without the
    /// name of its table.
    fn wish(&self, table: Option<&str>, columns: Option<&[String]>) -> (Wish, Option<&TableMap>) {
        let named = || {
            self.maps
                .iter()
                .find(|map| table.is_none_or(|table| map.names(table)))
        };
        let known = table.and_then(|table| self.known.get(table)).map(Vec::as_slice);
        match columns.or(known) {
            Some(columns) => match TableMap::find(&self.maps, table, columns) {
                Some(map) => (Wish::Write(RowWriter::new(map, columns)), Some(map)),
                None => (Wish::Skip, None),
            },
            None => match named() {
                Some(map) if !map.definition.is_empty() => {
                    (Wish::Write(RowWriter::new(map, &map.definition)), Some(map))
                }
                Some(map) => {
                    let error = StreamError::new(
                        &COLUMNS_UNKNOWN,
                        format!("nothing says what the columns of {} are", map.table),
                    );
                    (Wish::Reject(error), Some(map))
                }
                None => (Wish::Skip, None),
            },
        }
    }
}

impl Framer {
    /// Sets the table of the following rows. Without `columns`, those of the table's definition are used. An
    /// `error` applies to every row, if the table is wanted.
    pub(super) fn aim(
        &mut self,
        table: Option<String>,
        columns: Option<Vec<String>>,
        error: Option<StreamError>,
    ) {
        let rows = &mut self.rows;
        let is_same =
            error.is_none() && table.as_deref() == Some(&rows.target.table) && columns == rows.target.columns;
        // A definition may have come in between.
        if is_same && !matches!(rows.target.wish, Wish::Reject(_)) {
            return;
        }
        let (mut wish, map) = rows.wish(table.as_deref(), columns.as_deref());
        let source = map.map(|map| map.source.clone());
        let table = table
            .or_else(|| map.map(|map| map.table.clone()))
            .unwrap_or_default();
        if let (Some(error), Some(_)) = (error, &source) {
            wish = Wish::Reject(error);
        }
        self.rows.target = Target { table, columns, wish };
        if let Some(source) = source
            && self.rows.announced.as_ref() != Some(&self.rows.target.table)
        {
            let name = self.rows.target.table.clone();
            self.flush_separators();
            self.rows.has_reported = true;
            self.rows.announced = Some(name.clone());
            self.queue.push_back(Event::Table { name, source });
        }
    }

    /// Counts a row that is passed over.
    pub(super) fn skip_row(&mut self, bytes: u64) {
        let skipped = &self.rows.skipped;
        let is_other = skipped.table != self.rows.target.table;
        if skipped.rows > 0 && (is_other || skipped.bytes > REPORT_AFTER_BYTES) {
            self.flush_separators();
        }
        let skipped = &mut self.rows.skipped;
        if is_other {
            skipped.table.clone_from(&self.rows.target.table);
        }
        if skipped.rows == 0 {
            skipped.stands_first = self.separators == 0;
        }
        skipped.rows += 1;
        skipped.bytes += bytes;
    }

    /// Queues the separators and the rows passed over so far, what began first first; whether there were any.
    pub(super) fn flush_separators(&mut self) -> bool {
        let separators = match std::mem::take(&mut self.separators) {
            0 => None,
            bytes => Some(Event::Separator { bytes }),
        };
        let skipped = &mut self.rows.skipped;
        let (rows, bytes) = (
            std::mem::take(&mut skipped.rows),
            std::mem::take(&mut skipped.bytes),
        );
        let stands_first = skipped.stands_first;
        let skipped = (rows > 0).then(|| Event::Skipped {
            table: skipped.table.clone(),
            rows,
            bytes,
        });
        self.rows.has_reported |= skipped.is_some();
        let before = self.queue.len();
        if stands_first {
            self.queue.extend(skipped.into_iter().chain(separators));
        } else {
            self.queue.extend(separators.into_iter().chain(skipped));
        }
        self.queue.len() > before
    }

    /// Begins a row, whose bytes a buffer of its own will hold.
    pub(super) fn row_unit(&mut self, limit: u64) -> (Unit, Vec<u8>) {
        let mut raw = std::mem::take(&mut self.rows.raw);
        raw.clear();
        (
            Unit::new(self.place, 0, limit, self.head_limit, &RECORD_TOO_LONG),
            raw,
        )
    }

    /// Ends a row, whose bytes `raw` holds: it is written, skipped or rejected. `cut` is the error to report
    /// for a broken row at the end of the entry.
    pub(super) fn end_row(&mut self, unit: Unit, mut raw: Vec<u8>, cells: CellsOf, cut: Option<StreamError>) {
        let rows = &mut self.rows;
        rows.json.clear();
        let written = match (&rows.target.wish, unit.bytes(&raw)) {
            (Wish::Skip, _) => Ok(Written::Filtered),
            (Wish::Reject(error), _) => Err(error.clone()),
            // Too long, which the unit says itself.
            (Wish::Write(_), None) => Ok(Written::Row),
            (Wish::Write(writer), Some(row)) => match rows.encoding.decode(row) {
                Ok(row) => cells.write(&row, writer, &mut rows.json),
                Err(error) => Err(error),
            },
        };
        match written {
            Ok(Written::Row) => {
                let event = unit.accept(self.record, Form::Row, &mut raw);
                self.wait(event);
            }
            Ok(Written::Filtered) => self.skip_row(unit.length()),
            Err(error) => return self.reject_row(unit, raw, &cut.unwrap_or(error)),
        }
        self.rows.raw = raw;
    }

    /// Ends a row that is cut off or cannot be delimited.
    pub(super) fn reject_row(&mut self, unit: Unit, mut raw: Vec<u8>, broken: &StreamError) {
        let event = unit.reject(self.record, broken, &mut raw);
        self.wait(event);
        self.rows.raw = raw;
    }

    fn wait(&mut self, event: Event) {
        self.record += 1;
        self.rows.has_reported = true;
        self.rows.waiting = Some(event);
    }

    /// Reports a waiting event, or the separators before it; returns whether any event is waiting.
    pub(super) fn release(&mut self, buffer: &mut Vec<u8>) -> bool {
        if self.rows.waiting.is_none() {
            return false;
        }
        if self.flush_separators() {
            return true;
        }
        if let Some(mut event) = self.rows.waiting.take() {
            if let Event::Frame(frame) = &mut event {
                let start = buffer.len();
                buffer.extend_from_slice(&self.rows.json);
                frame.buffer = start..buffer.len();
            }
            self.queue.push_back(event);
        }
        true
    }
}

/// The way in which a row is cut into cells.
#[derive(Clone, Copy, Debug)]
pub(super) enum CellsOf {
    /// A line of `COPY` data.
    Copy,
    /// Values in brackets, in which functions may make so many bytes.
    Insert(Syntax, u64),
    /// Cells between this byte.
    Csv(u8),
}

impl CellsOf {
    fn write(self, row: &[u8], writer: &RowWriter, json: &mut Vec<u8>) -> Result<Written, StreamError> {
        let line = row.strip_suffix(b"\r").unwrap_or(row);
        match self {
            Self::Copy => writer.write(copy::cells(line).map(Ok::<Cell<'_>, StreamError>), json),
            Self::Insert(syntax, budget) => writer.write(literal::cells(row, syntax, budget), json),
            Self::Csv(separator) => writer.write(csv::cells(line, separator), json),
        }
    }
}
