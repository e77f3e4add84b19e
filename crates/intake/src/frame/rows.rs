//! The output of table rows: selecting and writing them, and reporting rows that are not wanted.
//!
//! A row is written when its last byte has been read, and reported after everything in front of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use chatmill_diag::codes::{COLUMNS_UNKNOWN, INVALID_UTF8, RECORD_TOO_LONG, UNKNOWN_FORMAT};

use super::Framer;
use super::unit::Unit;
use crate::event::{Event, Form, TableName};
use crate::stream::StreamError;
use crate::table::column::{Column, ColumnKind};
use crate::table::row::{Cell, RowWriter, Written};
use crate::table::sql::Syntax;
use crate::table::{TableMap, copy, csv, literal};

/// The maximum number of steps from a partition to its whole table.
const MAX_PARENTS: usize = 16;

/// The number of bytes of skipped rows after which they are reported, so that progress is visible.
const REPORT_AFTER_BYTES: u64 = 4 << 20;

/// The state of table reading between events.
#[derive(Default)]
pub(super) struct Rows {
    maps: Arc<[TableMap]>,
    /// The encoding of the text in the rows.
    pub(super) encoding: Encoding,
    /// The table of the current rows.
    target: Target,
    /// The columns of tables, from their definitions.
    known: BTreeMap<String, Vec<Column>>,
    /// The kind of each domain, or the type that it is, which may be a domain, too.
    domains: BTreeMap<String, (ColumnKind, Option<String>)>,
    /// For each partition or inheriting table, the table that it belongs to.
    parents: BTreeMap<String, String>,
    /// The number of bytes of all names in `known`, `domains` and `parents`.
    known_bytes: usize,
    /// The name of the table that was announced last.
    announced: Option<String>,
    skipped: Skipped,
    /// Whether any row or table has been reported.
    pub(super) has_reported: bool,
    /// The bytes of the current row.
    pub(super) raw: Vec<u8>,
    /// The waiting row, written as JSON.
    json: Vec<u8>,
    /// The next event to report.
    waiting: Option<Event>,
}

/// The current table and how its rows are handled.
#[derive(Default)]
struct Target {
    table: String,
    columns: Option<Vec<String>>,
    /// The map that has the columns of the table, if the table is skipped and not declared.
    resembles: Option<String>,
    handling: RowHandling,
}

#[derive(Default)]
enum RowHandling {
    /// The rows are not wanted.
    #[default]
    Skip,
    Write(RowWriter),
    /// The rows are wanted, but rejected for this error.
    Reject(StreamError),
}

/// Rows that were skipped and not reported yet.
#[derive(Default)]
struct Skipped {
    table: String,
    /// The map that the table resembles.
    resembles: Option<String>,
    rows: u64,
    bytes: u64,
    /// Whether the skipped rows begin before the unreported separators.
    is_before_separators: bool,
}

/// The encoding of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    #[default]
    Utf8,
    /// ISO 8859-1: the value of each byte is its code point.
    Latin1,
    /// Another encoding, which is not read, by its name.
    Other(String),
}

impl Encoding {
    /// The encoding with this name. MySQL's `latin1` is not ISO 8859-1.
    pub(super) fn named(name: &str, is_mysql: bool) -> Self {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        match plain.to_ascii_uppercase().as_str() {
            // Text without a declared encoding must be UTF-8 as well.
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

    /// Remembers the columns and the parents of a table; a later definition replaces an earlier one. All names together
    /// may take `limit` bytes.
    pub(super) fn remember(&mut self, table: String, own: Vec<Column>, parents: Vec<String>, limit: u64) {
        if self.target.table == table {
            self.target = Target::default();
        }
        self.known.remove(&table);
        self.parents.remove(&table);
        let inherited = || parents.iter().map(|parent| self.known.get(parent));
        let are_known = inherited().all(|parent| parent.is_some());
        let mut columns: Vec<Column> = inherited().flatten().flatten().cloned().collect();
        columns.extend(own);
        // A column that several tables declare is listed once.
        let mut names = BTreeSet::new();
        columns.retain(|column| names.insert(column.name.clone()));
        let types = columns.iter().filter_map(|column| column.domain.as_ref());
        let bytes = table.len() + names.iter().chain(types).map(String::len).sum::<usize>();
        if let Some(parent) = parents.into_iter().next() {
            self.attach(table.clone(), parent, limit);
        }
        if are_known && self.has_space(bytes, limit) {
            self.known.insert(table, columns);
        }
    }

    /// Remembers the type of a domain.
    pub(super) fn define(&mut self, name: String, kind: ColumnKind, base: Option<String>, limit: u64) {
        if self.has_space(name.len() + base.as_ref().map_or(0, String::len), limit) {
            self.domains.insert(name, (kind, base));
        }
    }

    /// The kind of a type that may be a domain.
    fn kind_of(&self, domain: &str) -> ColumnKind {
        let first = self.domains.get(domain);
        let bases = std::iter::successors(first, |(_, base)| self.domains.get(base.as_ref()?));
        // The limit ends a circle, which a hostile dump may contain.
        bases
            .take(MAX_PARENTS)
            .fold(ColumnKind::Plain, |kind, (next, _)| kind.or(*next))
    }

    /// The columns of a table, those of domains with the kind of their type.
    fn known_columns(&self, table: &str) -> Option<Vec<Column>> {
        let mut columns = self.known.get(table)?.clone();
        for column in &mut columns {
            let domain = column.domain.take();
            column.kind = column
                .kind
                .or(domain.map(|domain| self.kind_of(&domain)).unwrap_or_default());
        }
        Some(columns)
    }

    /// Remembers that a table is part of another.
    pub(super) fn attach(&mut self, child: String, parent: String, limit: u64) {
        if self.has_space(child.len() + parent.len(), limit) {
            self.parents.insert(child, parent);
        }
    }

    fn has_space(&mut self, bytes: usize, limit: u64) -> bool {
        let fits = (self.known_bytes + bytes) as u64 <= limit;
        self.known_bytes += if fits { bytes } else { 0 };
        fits
    }

    /// The table and its parents, up to the whole.
    fn line_of<'t>(&'t self, table: &'t str) -> impl Iterator<Item = &'t str> {
        let parent = |table: &&'t str| self.parents.get(*table).map(String::as_str);
        // The limit ends a circle, which a hostile dump may contain.
        std::iter::successors(Some(table), parent).take(MAX_PARENTS)
    }

    /// Whether some map names this table, or one that it is part of.
    pub(super) fn is_named(&self, table: &str) -> bool {
        self.line_of(table)
            .any(|table| self.maps.iter().any(|map| map.names(table)))
    }

    /// Rejects all following rows, of a table without a name.
    pub(super) fn reject_all(&mut self, error: StreamError) {
        self.target = Target {
            handling: RowHandling::Reject(error),
            ..Target::default()
        };
    }

    /// Whether the rows of the current table are neither written nor rejected.
    pub(super) const fn is_skipping(&self) -> bool {
        matches!(self.target.handling, RowHandling::Skip)
    }

    /// The user's map with the columns of a table that it does not name, if the dump does not declare the table.
    fn resembled(&self, table: &str, columns: &[String]) -> Option<String> {
        let mut maps = self
            .maps
            .iter()
            .filter(|map| map.is_own && map.requires.len() > 1);
        let map = maps.find(|map| map.reads(None, columns))?;
        (!self.known.contains_key(table)).then(|| map.name.clone())
    }

    /// How the rows of a table are handled, the map that reads them, and the name under which that map lists the table.
    /// `table` is `None` for a file that does not name its table.
    fn handling(
        &self,
        table: Option<&str>,
        columns: Option<&[String]>,
    ) -> (RowHandling, Option<(&TableMap, String)>) {
        let known = table.and_then(|table| self.known_columns(table));
        let declared: Option<Vec<Column>> = match columns {
            Some(columns) => Some(
                columns
                    .iter()
                    .map(|name| declared(known.as_ref(), name))
                    .collect(),
            ),
            None => known,
        };
        let names: Option<Vec<String>> = declared
            .as_ref()
            .map(|columns| columns.iter().map(|column| column.name.clone()).collect());
        let line: Vec<Option<&str>> = match table {
            Some(table) => self.line_of(table).map(Some).collect(),
            None => vec![None],
        };
        let found = line.iter().find_map(|table| {
            let map = match &names {
                Some(names) => TableMap::find(&self.maps, *table, names),
                None => self
                    .maps
                    .iter()
                    .find(|map| table.is_none_or(|table| map.names(table))),
            };
            // The name of the whole table, of which the mapped one may be a part.
            let (map, whole) = (map?, line.last().copied().flatten());
            let whole = whole.map(|whole| map.whole(whole).unwrap_or_else(|| whole.to_owned()));
            Some((map, whole.unwrap_or_default()))
        });
        let handling = match (&declared, found.as_ref().map(|(map, _)| *map)) {
            (_, None) => RowHandling::Skip,
            (
                _,
                Some(TableMap {
                    refusal: Some(why), ..
                }),
            ) => RowHandling::Reject(StreamError::new(&UNKNOWN_FORMAT, why.clone())),
            (Some(columns), Some(map)) => RowHandling::Write(RowWriter::new(map, columns)),
            (None, Some(map)) if !map.definition.is_empty() => {
                RowHandling::Write(RowWriter::new(map, &undeclared(&map.definition)))
            }
            (None, Some(map)) => RowHandling::Reject(StreamError::new(
                &COLUMNS_UNKNOWN,
                format!(
                    "the columns of {} are not declared anywhere",
                    map.display_name(table)
                ),
            )),
        };
        (handling, found)
    }
}

/// A column with this name, as its table declares it.
fn declared(known: Option<&Vec<Column>>, name: &str) -> Column {
    let found = known.and_then(|columns| columns.iter().find(|column| column.name == name));
    found.cloned().unwrap_or_else(|| Column::plain(name))
}

fn undeclared(names: &[String]) -> Vec<Column> {
    names.iter().map(|name| Column::plain(name)).collect()
}

impl Framer {
    /// Sets the table of the following rows. Without `columns`, those of the table's definition are used. An `error`
    /// applies to every row if the table is wanted.
    pub(super) fn aim(
        &mut self,
        table: Option<TableName>,
        columns: Option<Vec<String>>,
        error: Option<StreamError>,
    ) {
        let rows = &mut self.rows;
        let full = table.as_ref().map(TableName::full);
        let is_same =
            error.is_none() && full.as_deref() == Some(&rows.target.table) && columns == rows.target.columns;
        // The definition may have changed in between.
        if is_same && !matches!(rows.target.handling, RowHandling::Reject(_)) {
            return;
        }
        let (mut handling, found) = rows.handling(full.as_deref(), columns.as_deref());
        let reader = found
            .as_ref()
            .map(|(map, _)| (map.source.clone(), map.name.clone()));
        if let RowHandling::Write(writer) = &mut handling {
            writer.offset.clone_from(&self.sql.offset);
        }
        let full = full.unwrap_or_else(|| {
            found
                .as_ref()
                .map(|(map, _)| map.table.clone())
                .unwrap_or_default()
        });
        let whole = found.map(|(_, whole)| whole).unwrap_or_default();
        if let (Some(error), Some(_)) = (error, &reader) {
            handling = RowHandling::Reject(error);
        }
        let resembles = match (&handling, &columns) {
            (RowHandling::Skip, Some(columns)) => self.rows.resembled(&full, columns),
            _ => None,
        };
        self.rows.target = Target {
            table: full,
            columns,
            resembles,
            handling,
        };
        if let Some((source, map)) = reader
            && self.rows.announced.as_ref() != Some(&self.rows.target.table)
        {
            let name = self.rows.target.table.clone();
            self.flush_separators();
            self.rows.has_reported = true;
            self.rows.announced = Some(name.clone());
            let whole = table.map(|table| table.renamed(&whole));
            self.queue.push_back(Event::Table {
                name,
                source,
                map,
                whole,
            });
        }
    }

    /// Shows the buffered rows to their writer; `next` finds the first row of a text.
    pub(super) fn sample(&mut self, cells: CellsOf, next: impl Fn(&[u8]) -> Option<Range<usize>>) {
        if let RowHandling::Write(writer) = &mut self.rows.target.handling {
            if let CellsOf::Csv(style) = cells {
                writer.has_quotes = csv::quotes_texts(self.window.rest(), style);
            }
            if writer.needs_sample() {
                writer.sample(cells.rows(self.window.rest(), next));
            }
        }
    }

    /// Skips the remaining rows of the current table.
    pub(crate) fn skip_table(&mut self) {
        self.rows.target.handling = RowHandling::Skip;
    }

    /// Counts a skipped row.
    pub(super) fn skip_row(&mut self, bytes: u64) {
        let skipped = &self.rows.skipped;
        let is_other = skipped.table != self.rows.target.table;
        if skipped.rows > 0 && (is_other || skipped.bytes > REPORT_AFTER_BYTES) {
            self.flush_separators();
        }
        let skipped = &mut self.rows.skipped;
        if is_other {
            skipped.table.clone_from(&self.rows.target.table);
            skipped.resembles.clone_from(&self.rows.target.resembles);
        }
        if skipped.rows == 0 {
            skipped.is_before_separators = self.separators == 0;
        }
        skipped.rows += 1;
        skipped.bytes += bytes;
    }

    /// Queues the unreported separators and skipped rows, in order of their beginnings; true if there were any.
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
        let is_before_separators = skipped.is_before_separators;
        let skipped = (rows > 0).then(|| Event::Skipped {
            table: skipped.table.clone(),
            rows,
            bytes,
            resembles: skipped.resembles.clone(),
        });
        self.rows.has_reported |= skipped.is_some();
        let before = self.queue.len();
        if is_before_separators {
            self.queue.extend(skipped.into_iter().chain(separators));
        } else {
            self.queue.extend(separators.into_iter().chain(skipped));
        }
        self.queue.len() > before
    }

    /// Begins a row, and returns a separate buffer for its bytes.
    pub(super) fn row_unit(&mut self, limit: u64) -> (Unit, Vec<u8>) {
        let mut raw = std::mem::take(&mut self.rows.raw);
        raw.clear();
        (
            Unit::new(self.place, 0, limit, self.head_limit, &RECORD_TOO_LONG),
            raw,
        )
    }

    /// Ends a row with the bytes in `raw`: it is written, skipped or rejected. `cut` is the error for a row that the
    /// end of the entry breaks.
    pub(super) fn end_row(&mut self, unit: Unit, mut raw: Vec<u8>, cells: CellsOf, cut: Option<StreamError>) {
        let rows = &mut self.rows;
        rows.json.clear();
        let written = match (&rows.target.handling, unit.bytes(&raw)) {
            (RowHandling::Skip, _) => Ok(Written::Filtered),
            (RowHandling::Reject(error), _) => Err(error.clone()),
            // The row is too long, which the unit reports itself.
            (RowHandling::Write(_), None) => Ok(Written::Row),
            (RowHandling::Write(writer), Some(row)) => match rows.encoding.decode(row) {
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

    /// Reports the waiting event, or the separators before it; true if an event was waiting.
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

/// How a row is cut into cells.
#[derive(Clone, Copy, Debug)]
pub(super) enum CellsOf {
    /// A line of `COPY` data.
    Copy,
    /// Values in brackets; functions in them may produce at most this many bytes.
    Insert(Syntax, u64),
    /// Cells and rows that end with the bytes of this style.
    Csv(csv::CsvStyle),
}

impl CellsOf {
    /// The complete rows in a text, as far as they can be read.
    fn rows(
        self,
        text: &[u8],
        next: impl Fn(&[u8]) -> Option<Range<usize>>,
    ) -> impl Iterator<Item = Vec<Cell<'_>>> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let range = next(rest)?;
            let (row, after) = (rest.get(range.clone())?, rest.get(range.end..)?);
            rest = after;
            let row = csv::strip_line_break(row);
            if matches!(self, Self::Copy) && row == copy::END {
                return None;
            }
            match self {
                Self::Copy => Some(copy::cells(row).collect()),
                Self::Csv(style) => csv::cells(row, style.separator).collect::<Result<_, _>>().ok(),
                Self::Insert(syntax, budget) => {
                    literal::cells(row, syntax, budget).collect::<Result<_, _>>().ok()
                }
            }
        })
    }

    fn write(self, row: &[u8], writer: &RowWriter, json: &mut Vec<u8>) -> Result<Written, StreamError> {
        let line = row.strip_suffix(b"\r").unwrap_or(row);
        match self {
            Self::Copy => writer.write(copy::cells(line).map(Ok::<Cell<'_>, StreamError>), json),
            Self::Insert(syntax, budget) => writer.write(literal::cells(row, syntax, budget), json),
            Self::Csv(style) => writer.write(csv::cells(line, style.separator), json),
        }
    }
}
