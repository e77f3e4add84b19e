//! Cuts a decoded entry into frames, as a stream and in bounded memory.
//!
//! Framing decides only where a record begins and ends. The scan of the frame decides whether it is JSON; a
//! framing error is a part that cannot even be delimited, exceeds a limit, or was cut off.

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

/// The state of a framing between events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Lines,
    /// Lines from which the escapes of `COPY` are taken off.
    EscapedLines,
    Array(array::State),
    Documents,
    Sql,
    Csv,
    Text,
    /// The whole entry is one framing error, for this reason.
    Refused,
    /// The whole entry is skipped, as a file of this kind.
    PassedOver(&'static str),
    /// All events were reported.
    Over,
}

/// The source of the decision how an entry is cut.
#[derive(Clone, Copy)]
pub(crate) enum How<'t> {
    /// By its head.
    AsItBegins,
    /// One record for each line, whatever the first of them looks like.
    Lines,
    /// The entry is the rows of one table, cut out of a dump. Data of a `COPY` ends with its end mark; where
    /// the stream ends before it, the dump is incomplete.
    Table(&'t DumpTable),
}

/// Cuts one entry.
pub(crate) struct Framer {
    window: Window,
    state: State,
    framing: Framing,
    /// The position of the first byte of the window's rest.
    place: Place,
    /// The position at which reading began.
    begins: u64,
    record_limit: u64,
    document_limit: u64,
    head_limit: usize,
    /// Number of the next frame or framing error.
    record: u64,
    /// Bytes of separators that were not reported yet.
    separators: u64,
    rows: Rows,
    /// The state of cutting SQL, where there is any.
    sql: Sql,
    csv: Csv,
    /// Whether a byte order mark is still to be passed over.
    is_marked: bool,
    refusal: Option<(StreamError, Option<u64>)>,
    queue: VecDeque<Event>,
}

impl Framer {
    /// Reads the head of `stream`. `memory` is reused from an earlier entry; `maps` say which rows are read where the entry holds
    /// tables.
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
            // By what their lines say they are recognised.
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

    /// Notes anomalies of the entry's beginning.
    fn note_beginning(&mut self) {
        self.is_marked = self.window.rest().starts_with(BOM);
        if self.is_marked {
            let message = "the byte order mark at the start was passed over";
            let note = Finding::new(&BYTE_ORDER_MARK, message).at_span(0, BOM.len() as u64);
            self.queue.push_back(Event::Note(note));
        }
        if self.state == State::EscapedLines {
            let message = "the lines carry the escapes of COPY, which were taken off";
            self.queue
                .push_back(Event::Note(Finding::new(&COPY_ESCAPED, message)));
        }
    }

    /// Takes over the columns and the encoding that a dump states for the table.
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

    /// Takes over the statement that creates the table, as `mydumper` writes it, where the entry is a text dump. Only before the first event.
    pub(crate) fn define(&mut self, definition: &str) {
        if matches!(self.state, State::Sql) {
            let syntax = Syntax::new(Dialect::MySql);
            self.follow(Statement::parse(definition.as_bytes(), syntax), syntax);
        }
    }

    /// Continues with a range of the entry, whose bytes are `stream`; the framing is that of the head. Only before the first event.
    pub(crate) fn go_over_to(&mut self, range: &LineRange, stream: Bytes) {
        self.window.restart(stream);
        self.begins = range.start;
        if range.start > 0 {
            // Notes about the entry are reported where it begins.
            self.is_marked = false;
            self.queue.clear();
            self.place = Place {
                byte: range.start,
                line: range.line,
                column: 1,
            };
        }
        // Whether there is no record at all shows at the end of the entry.
        let before = range.record;
        self.record = if range.is_last { before } else { before.max(1) };
    }

    /// Makes the whole entry one framing error. Only before the first event. `at` is where in the head the error is.
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

    /// Cuts the entry into the rows of a table that no map knows, each of which is one framing error; its header is none. Only before the
    /// first event.
    pub(crate) fn refuse_rows(&mut self, broken: StreamError) {
        self.csv = Csv::unknown(self.window.rest());
        self.state = State::Csv;
        self.framing = Framing::Tables;
        self.rows.reject_all(broken);
    }

    /// Cuts the entry into the rows of a table that this map reads. Only before the first event.
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

    /// Reads nothing of the entry. Only before the first event.
    pub(crate) fn skip(&mut self, kind: &'static str) {
        self.state = State::PassedOver(kind);
        self.is_marked = false;
        self.queue.clear();
    }

    /// Decoded bytes so far; of a range, its own.
    pub(crate) fn decoded(&self) -> u64 {
        self.place.byte - self.begins
    }

    /// Gives the memory back for the next entry.
    pub(crate) fn into_memory(self) -> Vec<u8> {
        self.window.into_memory()
    }

    /// The next event; a frame's bytes are appended to `buffer`.
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
                State::Refused => self.pass_all(buffer),
                State::PassedOver(kind) => self.pass_over(kind, buffer),
                State::Over => return None,
            }
        }
        self.queue.pop_front()
    }

    /// Passes separators as long as `is_separator` holds; the first byte after them, or nothing at the end.
    fn pass_separators(&mut self, is_separator: fn(u8) -> bool) -> Option<u8> {
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

    /// Passes the one separator byte that is next.
    fn pass_separator(&mut self) {
        self.place.advance(self.window.rest().split_at(1).0);
        self.window.consume(1);
        self.separators += 1;
    }

    /// Moves `count` bytes of the window into the unit, keeping track of lines and columns.
    fn take(&mut self, unit: &mut Unit, count: usize, buffer: &mut Vec<u8>) {
        let bytes = self.window.rest().split_at(count).0;
        self.place.advance(bytes);
        unit.push(bytes, buffer);
        self.window.consume(count);
    }

    /// Begins a unit, unless separators are still to be reported: no byte goes into the buffer before the events that
    /// stand before its frame have been taken.
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

    /// Ends a unit as a frame, or as a framing error where it exceeds its limit.
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

    /// Ends the entry between records: a framing error of no bytes when the stream is broken, or `open` says so.
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

    /// Ends the entry inside a unit. `cut` is the error if the stream itself ended cleanly.
    fn finish_inside(&mut self, mut unit: Unit, cut: StreamError, buffer: &mut Vec<u8>) {
        let broken = self.window.take_broken();
        let broken = broken.unwrap_or_else(|| unit.why_open(buffer, cut));
        self.reject(unit, &broken, buffer);
        self.state = State::Over;
    }

    /// Reads an entry that is passed over to its end.
    fn pass_over(&mut self, kind: &'static str, buffer: &mut Vec<u8>) {
        self.state = State::Over;
        while self.window.ready() {
            let count = self.window.rest().len();
            self.place.byte += count as u64;
            self.window.consume(count);
        }
        let bytes = self.place.byte;
        self.queue.push_back(Event::PassedOver { kind, bytes });
        if let Some(broken) = self.window.take_broken() {
            let unit = Unit::new(self.place, buffer.len(), u64::MAX, self.head_limit, broken.code);
            self.reject(unit, &broken, buffer);
        }
    }

    /// Reads a refused entry to its end.
    fn pass_all(&mut self, buffer: &mut Vec<u8>) {
        self.state = State::Over;
        let Some((refusal, at)) = self.refusal.take() else {
            return;
        };
        // No byte is kept but the head's.
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
