//! Columnar files, Parquet and Arrow: returns their rows as JSON objects, batch by batch. A reader takes their events
//! instead of those of a framer.
//!
//! The unit of reading is a row group of Parquet or a record batch of Arrow: if one is corrupt, only its rows are lost.
//! As in a database, rows have no byte offsets. Null fields are omitted: in columns every row has every field, and most
//! nulls mean nothing.
//!
//! The sizes that a file states are not trusted: schemas, pages and buffers are measured before memory of their stated
//! size is allocated, and decoded bytes are limited like decompressed ones. Input that makes a decoder panic also ends
//! in a finding.

mod arrow;
mod parquet;
mod stored;
mod thrift;
mod value;

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use chatmill_diag::Finding;
use chatmill_diag::caught::catching;
use chatmill_diag::codes::{EMPTY_INPUT, RECORD_TOO_LONG};

use self::value::Row;
use crate::database::DatabaseFile;
use crate::event::{Event, Frame, Framing, FramingError, Head};
use crate::stream::{ReadBudget, StreamError};
use crate::table::TableMap;
use crate::table::row::SAMPLE;

/// The number of rows in the head of an entry.
const HEAD_ROWS: usize = SAMPLE;

/// The maximum length of the head, in bytes.
const HEAD_BYTES: usize = 1 << 20;

/// The format of a columnar file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Parquet.
    Parquet,
    /// The Arrow file format, which begins with magic bytes.
    ArrowFile,
    /// The Arrow streaming format.
    ArrowStream,
}

/// A source of record batches.
trait Batches: Send {
    /// The next batch. A unit that cannot be read is an error, and others may follow it.
    fn next(&mut self) -> Option<Result<RecordBatch, StreamError>>;

    /// The number of bytes of the file that the batches so far took, for progress.
    fn taken(&self) -> u64;
}

/// Reads one columnar file.
pub(crate) struct Columnar {
    batches: Box<dyn Batches>,
    /// The current batch and the index of its next row.
    batch: Option<(RecordBatch, usize)>,
    /// Rows and errors that were read for the head.
    first: VecDeque<Result<Vec<u8>, StreamError>>,
    /// The columns of text that the user's maps name.
    mapped: Vec<String>,
    gauge: Arc<ReadBudget>,
    /// The file, which exists as long as it is read.
    file: DatabaseFile,
    /// The number of its bytes that were counted as read.
    counted: u64,
    /// The number of the next frame or framing error.
    record: u64,
    /// Whether there is nothing left to read.
    is_over: bool,
    queue: VecDeque<Event>,
}

impl Columnar {
    /// Opens a file; the head shows its first rows as lines.
    pub(crate) fn open(
        file: DatabaseFile,
        kind: Kind,
        maps: &[TableMap],
        gauge: Arc<ReadBudget>,
    ) -> Result<(Self, Head), StreamError> {
        let stored = stored::Stored::open(file.path(), &gauge)?;
        let limits = &gauge.limits;
        let batches: Box<dyn Batches> = guarded(|| {
            Ok(match kind {
                Kind::Parquet => {
                    Box::new(parquet::Groups::open(stored, Arc::clone(&gauge))?) as Box<dyn Batches>
                }
                Kind::ArrowFile => {
                    let start = arrow::behind_padding(&stored)?;
                    Box::new(arrow::Messages::open(stored, start, limits)?)
                }
                Kind::ArrowStream => Box::new(arrow::Messages::open(stored, 0, limits)?),
            })
        })?;
        let mut columnar = Self {
            batches,
            batch: None,
            first: VecDeque::new(),
            mapped: maps.iter().flat_map(TableMap::words).cloned().collect(),
            gauge,
            file,
            counted: 0,
            record: 0,
            is_over: false,
            queue: VecDeque::new(),
        };
        let head = columnar.read_head();
        Ok((columnar, head))
    }

    /// Reads the first rows.
    fn read_head(&mut self) -> Head {
        let mut bytes = Vec::new();
        let mut rows = 0;
        while rows < HEAD_ROWS && bytes.len() < HEAD_BYTES {
            let Some(row) = self.row() else { break };
            if let Ok(row) = &row {
                bytes.extend_from_slice(row);
                bytes.push(b'\n');
                rows += 1;
            }
            self.first.push_back(row);
        }
        let complete = self.is_over;
        if self.first.is_empty() {
            let finding = Finding::new(&EMPTY_INPUT, "the file holds no row");
            self.queue.push_back(Event::Note(finding));
        }
        let framing = if rows == 0 { Framing::Empty } else { Framing::Lines };
        Head {
            framing,
            complete,
            bytes,
        }
    }

    /// Refuses the whole file as one framing error. Only before the first event.
    pub(crate) fn refuse(&mut self, broken: StreamError) {
        self.skip();
        let event = self.framing_error(broken);
        self.queue.push_back(event);
    }

    /// Skips the rest of the file.
    pub(crate) fn skip(&mut self) {
        self.is_over = true;
        self.batch = None;
        self.first.clear();
        self.queue.clear();
    }

    /// The next event; a row is appended to `buffer`.
    pub(crate) fn next(&mut self, buffer: &mut Vec<u8>) -> Option<Event> {
        if let Some(event) = self.queue.pop_front() {
            return Some(event);
        }
        let row = self.first.pop_front().or_else(|| self.row())?;
        let longest = self.gauge.limits.record;
        match row {
            Ok(row) if row.len() as u64 > longest => {
                let text = format!("the row has more bytes than the limit, {longest}");
                Some(self.framing_error(StreamError::new(&RECORD_TOO_LONG, text)))
            }
            Ok(row) => {
                let start = buffer.len();
                buffer.extend_from_slice(&row);
                let record = self.record;
                self.record += 1;
                Some(Event::Frame(Frame::row(record, start..buffer.len())))
            }
            Err(broken) => Some(self.framing_error(broken)),
        }
    }

    /// The next row as JSON, or its error.
    fn row(&mut self) -> Option<Result<Vec<u8>, StreamError>> {
        loop {
            if self.is_over {
                return None;
            }
            let Some((batch, next)) = &mut self.batch else {
                let batches = &mut self.batches;
                let found = guarded(|| batches.next().transpose());
                self.count_read_bytes();
                match found {
                    Ok(Some(batch)) => self.batch = Some((batch, 0)),
                    Ok(None) => self.is_over = true,
                    Err(broken) => return Some(Err(broken)),
                }
                continue;
            };
            if *next >= batch.num_rows() {
                self.batch = None;
                continue;
            }
            let place = *next;
            *next += 1;
            let left = self.gauge.values_left();
            let mut row = Row::within(self.gauge.limits.record, left);
            let written = guarded(|| {
                row.write(batch, place, &self.mapped);
                Ok(())
            });
            if let Err(broken) = written {
                return Some(Err(broken));
            }
            self.gauge.unfold(row.values);
            if row.values > left {
                self.is_over = true;
                return Some(Err(unfolded()));
            }
            if row.is_garbled {
                return Some(Err(StreamError::garbled()));
            }
            let row = row.bytes;
            if !self.gauge.produce(row.len() as u64) {
                self.is_over = true;
                return Some(Err(too_long()));
            }
            return Some(Ok(row));
        }
    }

    /// Counts the bytes that were read, except those of a copy, which were counted when it was made.
    fn count_read_bytes(&mut self) {
        if self.file.is_own() {
            let taken = self.batches.taken().max(self.counted);
            self.gauge.count_raw(taken - self.counted);
            self.counted = taken;
        }
    }

    fn framing_error(&mut self, broken: StreamError) -> Event {
        let record = self.record;
        self.record += 1;
        Event::FramingError(FramingError::of_nothing(record, broken))
    }
}

/// The error for rows that are longer than a compressed input may become.
fn too_long() -> StreamError {
    let text = "the rows are longer than the limits for compressed data allow";
    StreamError::unbounded(text)
}

/// The error for columns that unfold to too many values.
fn unfolded() -> StreamError {
    let text = "the columns unfold to more values than limits.unfolded_floor and limits.unfolded_ratio allow";
    StreamError::unbounded(text)
}

/// Runs a decoder of another crate; its panic becomes an error of the unit that it decodes.
fn guarded<T>(act: impl FnOnce() -> Result<T, StreamError>) -> Result<T, StreamError> {
    catching(act).unwrap_or_else(|| {
        let text = "the file contradicts itself";
        Err(StreamError::corrupt(text))
    })
}
