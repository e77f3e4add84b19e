//! Cuts a decoded entry into frames, as a stream and in bounded memory. A reader creates one [`Framer`] per entry and
//! takes its events.
//!
//! Framing decides only where a record begins and ends; whether it is JSON is decided by the scan of the frame. A
//! framing error is a part that cannot be delimited, exceeds a limit or was cut off.

mod array;
pub(crate) mod balance;
mod csv;
pub(crate) mod dated;
mod documents;
mod head;
mod lines;
mod place;
mod rows;
mod sql;
pub(crate) mod text;
mod unit;
mod window;

use std::collections::VecDeque;
use std::sync::Arc;

use chatmill_diag::codes::{BYTE_ORDER_MARK, COPY_ESCAPED, EMPTY_INPUT};
use chatmill_diag::{Code, Finding, Limits};

use crate::archive::dump::{DumpTable, RowText};
use crate::division::LineRange;
use crate::event::{Event, Form, Framing, Head, Place};
use crate::stream::{Bytes, StreamError};
use crate::table::TableMap;
use crate::table::copy;
use crate::table::csv::Layout;
use crate::table::sql::{Dialect, Syntax};
use crate::table::statement::Statement;

use csv::Csv;
use head::Cut;
use rows::{Encoding, Rows};
use sql::Sql;
use unit::Unit;
use window::Window;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The state of a framer between events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Lines,
    /// Lines in which the escapes of `COPY` are removed.
    EscapedLines,
    Array(array::State),
    Documents,
    Sql,
    Csv,
    Text,
    /// The whole entry is one framing error.
    Refused,
    /// The whole entry is skipped as a file of this kind.
    SkippedEntry(&'static str),
    /// All events have been returned.
    Over,
}

/// What decides how an entry is cut.
#[derive(Clone, Copy)]
pub(crate) enum How<'t> {
    /// Its head.
    AsItBegins,
    /// Always one record per line, whatever the first line looks like.
    Lines,
    /// The entry contains the rows of one table of a dump. The data of a `COPY` ends with its end mark; if the stream
    /// ends before it, the dump is incomplete.
    Table(&'t DumpTable),
}

/// Cuts one entry into frames.
pub(crate) struct Framer {
    window: Window,
    state: State,
    framing: Framing,
    /// The position of the first byte that the window has not consumed.
    place: Place,
    /// The position at which reading began.
    begins: u64,
    record_limit: u64,
    document_limit: u64,
    head_limit: usize,
    /// The number of the next frame or framing error.
    record: u64,
    /// Bytes of separators that have not been reported yet.
    separators: u64,
    rows: Rows,
    /// The state of cutting SQL, if the entry is a dump.
    sql: Sql,
    csv: Csv,
    /// Whether a byte order mark still has to be skipped.
    is_marked: bool,
    refusal: Option<(StreamError, Option<u64>)>,
    queue: VecDeque<Event>,
}

impl Framer {
    /// Reads the head of `stream`. `memory` is reused from an earlier entry; if the entry holds tables, `maps` decide
    /// which rows are read.
    pub(crate) fn new(
        stream: Bytes,
        memory: Vec<u8>,
        limits: &Limits,
        maps: &Arc<[TableMap]>,
        how: How<'_>,
    ) -> (Self, Head) {
        let window = Window::new(stream, memory);
        let head = window.rest().strip_prefix(BOM).unwrap_or(window.rest());
        let complete = window.is_complete();
        let cut = match how {
            How::AsItBegins => head::decide(head, complete, maps),
            How::Lines if head.is_empty() => Cut::Empty,
            How::Lines => Cut::Lines,
            How::Table(_) => Cut::Sql(Dialect::PostgreSql),
        };
        let framing = cut.framing();
        let head = Head {
            framing,
            complete,
            // Sources recognise the entry by the content of its lines, not by the escapes.
            bytes: match cut {
                Cut::EscapedLines => copy::unescape(head).into_owned(),
                _ => head.to_vec(),
            },
        };
        let (mut sql, mut csv) = (Sql::default(), Csv::default());
        let state = match cut {
            Cut::Array => State::Array(array::State::Start),
            Cut::Lines => State::Lines,
            Cut::EscapedLines => State::EscapedLines,
            Cut::Documents | Cut::Empty => State::Documents,
            Cut::Text => State::Text,
            Cut::Sql(dialect) => {
                sql = Sql::new(dialect);
                State::Sql
            }
            Cut::Csv(layout) => {
                csv = Csv::new(layout);
                State::Csv
            }
        };
        let mut framer = Self {
            window,
            state,
            framing,
            place: Place::START,
            begins: 0,
            record_limit: limits.record,
            document_limit: limits.document,
            head_limit: usize::try_from(limits.reject_head).unwrap_or(usize::MAX),
            record: 0,
            separators: 0,
            rows: Rows::new(maps),
            sql,
            csv,
            is_marked: false,
            refusal: None,
            queue: VecDeque::new(),
        };
        match how {
            How::AsItBegins => framer.note_beginning(),
            How::Lines => {}
            How::Table(table) => framer.begin_table(table),
        }
        (framer, head)
    }

    /// Notes anomalies at the beginning of the entry.
    fn note_beginning(&mut self) {
        self.is_marked = self.window.rest().starts_with(BOM);
        if self.is_marked {
            let message = "the byte order mark at the start was skipped";
            let note = Finding::new(&BYTE_ORDER_MARK, message).at_span(0, BOM.len() as u64);
            self.queue.push_back(Event::Note(note));
        }
        if self.state == State::EscapedLines {
            let message = "the lines have the escapes of COPY, which were removed";
            self.queue
                .push_back(Event::Note(Finding::new(&COPY_ESCAPED, message)));
        }
    }

    /// Uses the columns and the encoding that a dump states for the table.
    fn begin_table(&mut self, table: &DumpTable) {
        if let Some(name) = &table.encoding {
            self.rows.encoding = Encoding::named(name, false);
        }
        let syntax = Syntax::new(Dialect::PostgreSql);
        self.sql = match &table.text {
            RowText::Copy { .. } => Sql::of_copy_data(),
            RowText::Inserts => Sql::of_inserts(),
        };
        self.sql.schema = table.name.split_once('.').map(|(schema, _)| schema.to_owned());
        for definition in &table.definitions {
            self.follow(Statement::parse(definition.as_bytes(), syntax), syntax);
        }
        if let RowText::Copy { columns } = &table.text {
            let name = self.sql.full_name(table.name.clone());
            self.aim(Some(name), Some(columns.clone()), None);
        }
    }

    /// Reads the statement that creates the table, as `mydumper` writes it, if the entry is a text dump. Only before
    /// the first event.
    pub(crate) fn define(&mut self, definition: &str) {
        if matches!(self.state, State::Sql) {
            let syntax = Syntax::new(Dialect::MySql);
            self.follow(Statement::parse(definition.as_bytes(), syntax), syntax);
        }
    }

    /// Continues with `range` of the entry, which has the bytes `stream`; the framing remains that of the head. Only
    /// before the first event.
    pub(crate) fn go_over_to(&mut self, range: &LineRange, stream: Bytes) {
        self.window.restart(stream);
        self.begins = range.start;
        if range.start > 0 {
            // Notes about the entry are reported by the range at its beginning.
            self.is_marked = false;
            self.queue.clear();
            self.place = Place {
                byte: range.start,
                line: range.line,
                column: 1,
            };
        }
        // Whether the entry has no record at all is decided at its end, so only the last range may report that.
        let before = range.record;
        self.record = if range.is_last { before } else { before.max(1) };
    }

    /// Turns the whole entry into one framing error, at the byte `at` of the head. Only before the first event.
    pub(crate) fn refuse(&mut self, broken: StreamError, at: Option<u64>) {
        if self.framing != Framing::Empty {
            self.state = State::Refused;
            let before = if std::mem::take(&mut self.is_marked) {
                BOM.len() as u64
            } else {
                0
            };
            self.refusal = Some((broken, at.map(|at| at + before)));
            self.queue.clear();
        }
    }

    /// Cuts the entry into the rows of a table that no map recognises. Each row is one framing error; the header is
    /// not. Only before the first event.
    pub(crate) fn refuse_rows(&mut self, broken: StreamError) {
        self.csv = Csv::unknown(self.window.rest());
        self.state = State::Csv;
        self.framing = Framing::Tables;
        self.rows.reject_all(broken);
    }

    /// Cuts the entry into the rows of a table and reads them with this map. Only before the first event.
    pub(crate) fn read_table(&mut self, map: TableMap) {
        let maps: Arc<[TableMap]> = [map].into();
        let rest = self.window.rest();
        let head = if self.is_marked {
            rest.strip_prefix(BOM).unwrap_or(rest)
        } else {
            rest
        };
        if let Some(layout) = Layout::of(head, self.window.is_complete(), &maps) {
            self.csv = Csv::new(layout);
            self.state = State::Csv;
            self.framing = Framing::Tables;
            self.rows = Rows::new(&maps);
        }
    }

    /// Cuts the entry into lines. Only before the first event.
    pub(crate) fn take_lines(&mut self) {
        self.state = State::Lines;
    }

    /// Skips the whole entry. Only before the first event.
    pub(crate) fn skip(&mut self, kind: &'static str) {
        self.state = State::SkippedEntry(kind);
        self.is_marked = false;
        self.queue.clear();
    }

    /// The number of bytes decoded so far, within the range if one is read.
    pub(crate) fn decoded(&self) -> u64 {
        self.place.byte - self.begins
    }

    /// Returns the memory for the next entry.
    pub(crate) fn into_memory(self) -> Vec<u8> {
        self.window.into_memory()
    }

    /// The next event. The bytes of a frame are appended to `buffer`.
    pub(crate) fn next(&mut self, buffer: &mut Vec<u8>) -> Option<Event> {
        while self.queue.is_empty() {
            if self.state != State::Refused && std::mem::take(&mut self.is_marked) {
                self.window.consume(BOM.len());
                self.place.byte = BOM.len() as u64;
                self.separators = self.place.byte;
            }
            if self.release(buffer) {
                continue;
            }
            match self.state {
                State::Lines | State::EscapedLines => self.next_line(buffer),
                State::Array(state) => self.next_element(state, buffer),
                State::Documents => self.next_document(buffer),
                State::Sql => self.next_sql(buffer),
                State::Csv => self.next_csv_row(buffer),
                State::Text => self.next_transcript(buffer),
                State::Refused => self.skip_refused(buffer),
                State::SkippedEntry(kind) => self.skip_entry(kind, buffer),
                State::Over => return None,
            }
        }
        self.queue.pop_front()
    }

    /// Skips separators while `is_separator` holds; returns the first byte after them, or `None` at the end.
    fn skip_separators(&mut self, is_separator: fn(u8) -> bool) -> Option<u8> {
        loop {
            if !self.window.ready() {
                return None;
            }
            let rest = self.window.rest();
            let passed = rest.iter().take_while(|byte| is_separator(**byte)).count();
            let next = rest.get(passed).copied();
            self.place.advance(rest.split_at(passed).0);
            self.window.consume(passed);
            self.separators += passed as u64;
            if next.is_some() {
                return next;
            }
        }
    }

    /// Skips the next byte, which is a separator.
    fn skip_separator(&mut self) {
        self.place.advance(self.window.rest().split_at(1).0);
        self.window.consume(1);
        self.separators += 1;
    }

    /// Moves `count` bytes from the window into the unit and updates line and column.
    fn take(&mut self, unit: &mut Unit, count: usize, buffer: &mut Vec<u8>) {
        let bytes = self.window.rest().split_at(count).0;
        self.place.advance(bytes);
        unit.push(bytes, buffer);
        self.window.consume(count);
    }

    /// Begins a unit, unless separators have to be reported first: no byte goes into the buffer before the events in
    /// front of its frame have been taken.
    fn unit(&mut self, limit: u64, too_long: &'static Code, buffer: &[u8]) -> Option<Unit> {
        if self.flush_separators() {
            return None;
        }
        Some(Unit::new(
            self.place,
            buffer.len(),
            limit,
            self.head_limit,
            too_long,
        ))
    }

    /// Ends a unit as a frame, or as a framing error if it exceeds its limit.
    fn accept(&mut self, unit: Unit, form: Form, buffer: &mut Vec<u8>) {
        let event = unit.accept(self.record, form, buffer);
        self.record += 1;
        self.queue.push_back(event);
    }

    /// Ends a unit as a framing error.
    fn reject(&mut self, unit: Unit, broken: &StreamError, buffer: &mut Vec<u8>) {
        let event = unit.reject(self.record, broken, buffer);
        self.record += 1;
        self.queue.push_back(event);
    }

    /// Ends the entry between records. A broken stream, or the error `open`, becomes a framing error without bytes.
    fn finish(&mut self, open: Option<StreamError>, buffer: &mut Vec<u8>) {
        if self.flush_separators() {
            return;
        }
        if let Some(broken) = self.window.take_broken().or(open) {
            let unit = Unit::new(self.place, buffer.len(), u64::MAX, self.head_limit, broken.code);
            self.reject(unit, &broken, buffer);
        } else if self.record == 0 && !matches!(self.framing, Framing::Array | Framing::Tables) {
            self.queue.push_back(Event::Note(Finding::new(
                &EMPTY_INPUT,
                "there is no record, only white space",
            )));
        }
        self.state = State::Over;
    }

    /// Ends the entry inside a unit. `cut` is the error if the stream itself did not break.
    fn finish_inside(&mut self, mut unit: Unit, cut: StreamError, buffer: &mut Vec<u8>) {
        let broken = self.window.take_broken();
        let broken = broken.unwrap_or_else(|| unit.why_open(buffer, cut));
        self.reject(unit, &broken, buffer);
        self.state = State::Over;
    }

    /// Reads a skipped entry to its end.
    fn skip_entry(&mut self, kind: &'static str, buffer: &mut Vec<u8>) {
        self.state = State::Over;
        while self.window.ready() {
            let count = self.window.rest().len();
            self.place.byte += count as u64;
            self.window.consume(count);
        }
        let bytes = self.place.byte;
        self.queue.push_back(Event::SkippedEntry { kind, bytes });
        if let Some(broken) = self.window.take_broken() {
            let unit = Unit::new(self.place, buffer.len(), u64::MAX, self.head_limit, broken.code);
            self.reject(unit, &broken, buffer);
        }
    }

    /// Reads a refused entry to its end.
    fn skip_refused(&mut self, buffer: &mut Vec<u8>) {
        self.state = State::Over;
        let Some((refusal, at)) = self.refusal.take() else {
            return;
        };
        // Only the bytes of the head are kept.
        let mut unit = Unit::new(self.place, buffer.len(), 0, self.head_limit, refusal.code);
        while self.window.ready() {
            let rest = self.window.rest();
            let before = at.map(|at| at.saturating_sub(self.place.byte) as usize);
            let is_here = at.is_some_and(|at| at >= self.place.byte);
            if let Some(passed) = before.filter(|_| is_here).and_then(|before| rest.get(..before)) {
                unit.set_error_place(self.place.after(passed));
            }
            let count = rest.len();
            self.take(&mut unit, count, buffer);
        }
        let broken = self.window.take_broken();
        if self.place.byte > 0 {
            self.reject(unit, &refusal, buffer);
            if let Some(broken) = broken {
                self.queue
                    .push_back(Event::Note(Finding::new(broken.code, broken.message)));
            }
        } else {
            self.finish(broken, buffer);
        }
    }
}

/// White space of JSON.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
