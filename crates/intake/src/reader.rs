//! Reads one input from its first byte to its last: opens containers and cuts entries into frames. The engine opens a
//! [`Reader`] for each input, or for a range of one, and takes its events one by one.
//!
//! Reading is strictly sequential, in bounded memory, and does not panic whatever the bytes are.

mod walk;

use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use chatmill_diag::codes::NESTED_ARCHIVE;
use chatmill_diag::{Code, Limits};

#[cfg(test)]
use crate::access::FirstFailure;
use crate::access::{Failure, InputFile};
use crate::archive::dump::Custom;
use crate::archive::label::Heading;
use crate::archive::{Member, MemberBody};
use crate::columnar::{self, Columnar};
use crate::database::{Database, DatabaseFile};
use crate::discover::{Input, content_hash};
use crate::division::LineRange;
use crate::event::{Event, Framing, FramingError, Head};
use crate::frame::{Framer, How};
use crate::sniff::{Container, HEAD_BYTES, sniff};
#[cfg(test)]
use crate::stream::ReadBudget;
use crate::stream::{Buffered, Raw, StreamError};
use crate::table::TableMap;

use walk::{Inner, Opened, Walk, nothing, too_many_layers, uncover, unsupported};

/// Reads one input as a sequence of events.
pub struct Reader {
    input: Opened,
    /// The dump inside an archive, which is read before the archive's next member.
    inner: Option<Inner>,
    entry: Option<Entry>,
    /// The number of entries begun so far.
    entries: u64,
    /// Memory that the framers reuse.
    memory: Vec<u8>,
    queue: VecDeque<Event>,
    tables: Arc<[TableMap]>,
    /// The statement that creates the table of the input, if it is in another file.
    definition: Option<Box<Arc<str>>>,
    /// The range of the file to read, with the path of the file, until it is entered.
    range: Option<(PathBuf, LineRange)>,
    /// Stored bytes that were read only to learn the framing of a range.
    read_before: u64,
    has_failed: bool,
}

/// The reader of the current entry.
enum Entry {
    Framer(Box<Framer>),
    Database(Box<Database>),
    Columns(Box<Columnar>),
}

impl Reader {
    /// Opens an input. Errors are reported as events: errors in the input as framing errors and notes, errors of the
    /// system as [`Event::Failed`].
    pub fn open(input: &Input, limits: &Limits) -> Self {
        Self {
            definition: input.definition.clone(),
            ..Self::new(Opened::input(input, limits))
        }
    }

    /// Opens one range of a file of lines; places, line numbers and framing are those of the whole file.
    pub fn open_range(input: &Input, limits: &Limits, range: &LineRange) -> Self {
        Self {
            range: Some((input.path(), range.clone())),
            ..Self::open(input, limits)
        }
    }

    /// Reads a stream; `length` is its number of stored bytes, if known.
    #[cfg(test)]
    fn of_stream(stream: crate::stream::Bytes, length: Option<u64>, limits: &Limits) -> Self {
        let gauge = ReadBudget::new(limits.clone(), length, FirstFailure::default());
        Self::new(Opened::stream(stream, gauge))
    }

    fn new(input: Opened) -> Self {
        Self {
            input,
            inner: None,
            entry: None,
            entries: 0,
            memory: Vec::new(),
            queue: VecDeque::new(),
            tables: Arc::default(),
            definition: None,
            range: None,
            read_before: 0,
            has_failed: false,
        }
    }

    /// Reads the tables that these maps name, if the input is a database or a dump of one. Only before the first event.
    #[must_use]
    pub fn with_tables(mut self, tables: Arc<[TableMap]>) -> Self {
        self.tables = tables;
        self
    }

    /// The next event, or `None` at the end. The bytes of a frame are appended to `buffer`.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> Option<Event> {
        if self.has_failed {
            return None;
        }
        let event = self.step(buffer);
        let Some(failure) = self.input.gauge.first_failure.get().cloned() else {
            return event;
        };
        // A failure of the system overrides whatever the layers in between reported.
        self.has_failed = true;
        self.queue.clear();
        self.entry = None;
        self.input.walk = Walk::Over;
        Some(Event::Failed(failure))
    }

    fn step(&mut self, buffer: &mut Vec<u8>) -> Option<Event> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            if let Some(entry) = &mut self.entry {
                let event = match entry {
                    Entry::Framer(framer) => framer.next(buffer),
                    Entry::Database(database) => database.next(buffer),
                    Entry::Columns(columns) => columns.next(buffer),
                };
                if event.is_some() {
                    return event;
                }
                self.end_entry();
            } else if !self.begin_entry() {
                return None;
            }
        }
    }

    /// Turns the entry that has just begun into one framing error, because no source can read it; an empty entry stays.
    /// `at` is the byte of the head with the error, if known.
    pub fn refuse_entry(&mut self, code: &'static Code, message: String, at: Option<u64>) {
        let broken = StreamError::new(code, message);
        match &mut self.entry {
            Some(Entry::Framer(framer)) => framer.refuse(broken, at),
            Some(Entry::Database(database)) => database.refuse(broken),
            Some(Entry::Columns(columns)) => columns.refuse(broken),
            None => {}
        }
    }

    /// Reads the entry that has just begun as the rows of a table, with this map.
    pub fn read_table(&mut self, map: TableMap) {
        if let Some(Entry::Framer(framer)) = &mut self.entry {
            framer.read_table(map);
        }
    }

    /// Turns each row of the entry that has just begun into one framing error: it is a table with a header that no map can read.
    pub fn refuse_rows(&mut self, code: &'static Code, message: String) {
        if let Some(Entry::Framer(framer)) = &mut self.entry {
            framer.refuse_rows(StreamError::new(code, message));
        }
    }

    /// Turns each line of the entry that has just begun into a frame, whatever its content: it is text and not JSON.
    pub fn take_lines(&mut self) {
        if let Some(Entry::Framer(framer)) = &mut self.entry {
            framer.take_lines();
        }
    }

    /// Skips the entry that has just begun, as one of this kind.
    pub fn skip_entry(&mut self, kind: &'static str) {
        match &mut self.entry {
            Some(Entry::Framer(framer)) => framer.skip(kind),
            Some(Entry::Columns(columns)) => {
                columns.skip();
                self.queue.push_back(Event::SkippedEntry { kind, bytes: 0 });
            }
            Some(Entry::Database(_)) | None => {}
        }
    }

    /// Skips the remaining rows of the current table.
    pub fn skip_table(&mut self) {
        match &mut self.entry {
            Some(Entry::Framer(framer)) => framer.skip_table(),
            Some(Entry::Database(database)) => database.skip_table(),
            Some(Entry::Columns(_)) | None => {}
        }
    }

    /// Whether an archive has a member with this file name after the current entry; true if members are known only once
    /// they are reached.
    pub fn may_have_member(&self, name: &str) -> bool {
        self.input.walk.may_have_member(name)
    }

    /// The number of stored bytes read so far.
    pub fn raw_bytes_read(&self) -> u64 {
        self.input.gauge.raw_read() - self.read_before
    }

    /// Whether the stored bytes are those of the only entry: the input is no archive, not compressed, and read in order.
    pub fn is_plain(&self) -> bool {
        self.input.is_plain
    }

    /// BLAKE3 of the stored bytes, or of those of a range; complete after the last event of a file.
    ///
    /// A zip, a database and a folder are hashed again, because they are not read in order; `go_on` is called in
    /// between, as by [`content_hash`]. `None` if it returned false, or if the input was refused.
    ///
    /// # Errors
    ///
    /// When a file that is hashed again cannot be read.
    pub fn raw_hash(&self, go_on: &mut dyn FnMut(u64) -> bool) -> Result<Option<blake3::Hash>, Failure> {
        match (&self.input.raw, &self.input.path) {
            (Some(raw), _) => Ok(Some(raw.hash())),
            (None, Some(path)) => Ok(content_hash(path, go_on)?.map(|(_, hash)| hash)),
            (None, None) => Ok(None),
        }
    }

    /// Queues the start of the next entry; false if there is none.
    fn begin_entry(&mut self) -> bool {
        let member = self.inner.as_mut().and_then(Inner::next).or_else(|| {
            self.inner = None;
            self.input.walk.next()
        });
        let Some(Member { heading, body }) = member else {
            return self.end_input();
        };
        match body {
            MemberBody::File(bytes) => self.begin_body(heading, bytes),
            MemberBody::Lines(bytes) => self.begin_frames(heading, bytes, How::Lines),
            MemberBody::Table(bytes, table) => self.begin_frames(heading, bytes, How::Table(&table)),
            MemberBody::Database(file) => self.begin_database(heading, Ok(file)),
            MemberBody::Columns(file, kind) => self.begin_columns(heading, Ok(file), kind),
            MemberBody::Unread(broken) => self.skip_unread(heading, broken),
        }
        self.entries += 1;
        true
    }

    /// Queues the events that are known only at the end; true if there are any.
    fn end_input(&mut self) -> bool {
        if matches!(self.input.walk, Walk::Over) {
            return false;
        }
        let walk = std::mem::replace(&mut self.input.walk, Walk::Over);
        if self.input.gauge.knows_length()
            && let Some(raw) = &mut self.input.raw
        {
            raw.drain();
        }
        let mut notes = self.input.gauge.take_notes();
        if self.entries == 0 {
            notes.push(nothing(walk.nothing()));
        }
        if notes.is_empty() {
            return false;
        }
        let label = String::new();
        self.skip_unread(Heading { label, notes }, None);
        true
    }

    fn begin_body(&mut self, heading: Heading, mut body: Buffered) {
        let nested = |name| {
            StreamError::new(
                &NESTED_ARCHIVE,
                format!("the entry is a {name} inside an archive"),
            )
        };
        // The layers of compression around a whole input were removed before.
        let (container, mut body) = match (&self.input.walk, sniff(body.peek(HEAD_BYTES))) {
            (Walk::Single(_), known @ (Container::Database | Container::Columnar(_))) => (known, body),
            (Walk::Single(_), _) => (Container::Plain, body),
            _ => uncover(body, &self.input.gauge),
        };
        let broken = match container {
            Container::Plain => return self.begin_frames(heading, body, How::AsItBegins),
            Container::Database => {
                let copy = DatabaseFile::copy(&mut body, &self.input.gauge);
                return self.begin_database(heading, copy);
            }
            Container::Columnar(kind) => {
                let copy = DatabaseFile::copy(&mut body, &self.input.gauge);
                return self.begin_columns(heading, copy, kind);
            }
            Container::Dump => match Custom::open(body, Arc::clone(&self.input.gauge)) {
                Ok(dump) => {
                    self.inner = Some(Inner::new(heading, dump));
                    return;
                }
                Err(broken) => broken,
            },
            Container::Zip => nested("zip archive"),
            Container::Tar => nested("tar archive"),
            Container::Unsupported(name, way_out) => unsupported(name, way_out),
            Container::Compressed(_) => too_many_layers(),
        };
        self.skip_unread(heading, Some(broken));
    }

    /// Moves to the start of the requested range, if there is one. Failures of the system are recorded in the gauge.
    fn enter_range(&mut self, framer: &mut Framer) {
        let Some((path, range)) = self.range.take() else {
            return;
        };
        let Ok(mut file) = InputFile::open(&path, &self.input.gauge.first_failure) else {
            return;
        };
        if file.seek(SeekFrom::Start(range.start)).is_ok() {
            self.read_before = self.input.gauge.raw_read();
            let bytes = file.take(range.end - range.start);
            let raw = Raw::new(Box::new(bytes), Arc::clone(&self.input.gauge));
            framer.go_over_to(&range, Box::new(raw.clone()));
            self.input.raw = Some(raw);
        }
    }

    fn begin_database(&mut self, heading: Heading, file: Result<DatabaseFile, StreamError>) {
        let (tables, gauge) = (&self.tables, &self.input.gauge);
        match file.and_then(|file| Database::open(file, Arc::clone(tables), Arc::clone(gauge))) {
            Ok(database) => {
                let head = Head::without_bytes(Framing::Tables, false);
                self.begin(heading, head, Some(Entry::Database(Box::new(database))));
            }
            Err(broken) => self.skip_unread(heading, Some(broken)),
        }
    }

    fn begin_columns(
        &mut self,
        heading: Heading,
        file: Result<DatabaseFile, StreamError>,
        kind: columnar::Kind,
    ) {
        match file.and_then(|file| Columnar::open(file, kind, &self.tables, Arc::clone(&self.input.gauge))) {
            Ok((columns, head)) => self.begin(heading, head, Some(Entry::Columns(Box::new(columns)))),
            Err(broken) => self.skip_unread(heading, Some(broken)),
        }
    }

    fn begin_frames(&mut self, heading: Heading, bytes: Buffered, how: How<'_>) {
        let memory = std::mem::take(&mut self.memory);
        let (stream, limits) = (Box::new(bytes), &self.input.gauge.limits);
        let (mut framer, head) = Framer::new(stream, memory, limits, &self.tables, how);
        if let Some(definition) = &self.definition {
            framer.define(definition);
        }
        self.enter_range(&mut framer);
        self.begin(heading, head, Some(Entry::Framer(Box::new(framer))));
    }

    /// Queues the start of an entry.
    fn begin(&mut self, heading: Heading, head: Head, entry: Option<Entry>) {
        let Heading { label, notes } = heading;
        self.queue.push_back(Event::EntryStart { entry: label, head });
        self.queue.extend(notes.into_iter().map(Event::Note));
        self.entry = entry;
    }

    /// Queues an entry that is skipped unread.
    fn skip_unread(&mut self, mut heading: Heading, broken: Option<StreamError>) {
        heading.notes.extend(self.input.gauge.take_notes());
        self.begin(heading, Head::without_bytes(Framing::Empty, true), None);
        if let Some(broken) = broken {
            self.queue
                .push_back(Event::FramingError(FramingError::of_nothing(0, broken)));
        }
        self.queue.push_back(Event::EntryEnd { decoded_bytes: 0 });
    }

    fn end_entry(&mut self) {
        let Some(entry) = self.entry.take() else { return };
        self.queue
            .extend(self.input.gauge.take_notes().into_iter().map(Event::Note));
        let decoded_bytes = match entry {
            Entry::Framer(framer) => {
                let decoded = framer.decoded();
                self.memory = framer.into_memory();
                decoded
            }
            Entry::Database(_) | Entry::Columns(_) => 0,
        };
        self.queue.push_back(Event::EntryEnd { decoded_bytes });
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
