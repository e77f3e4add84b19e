//! The events of a reader: entries, frames, separators, framing errors and notes.
//!
//! Within an entry, the frames, separators and framing errors tile the decoded bytes: in order, without gap or overlap.

use std::ops::Range;

use chatmill_diag::{Code, Finding, cut};

use crate::access::Failure;
use crate::stream::StreamError;

/// The name of a table, which distinguishes its conversations from those of all other tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableName {
    /// The database, if the dump names it.
    pub database: Option<String>,
    /// The table, with its schema if it has one.
    pub table: String,
}

impl TableName {
    /// The full name: database and table, joined by a dot.
    pub fn full(&self) -> String {
        match &self.database {
            Some(database) => format!("{database}.{}", self.table),
            None => self.table.clone(),
        }
    }

    /// A table of the same database with this full name.
    pub(crate) fn renamed(self, full: &str) -> Self {
        let prefix = self.database.as_ref().map(|database| format!("{database}."));
        let table = prefix
            .and_then(|prefix| full.strip_prefix(&prefix))
            .unwrap_or(full);
        Self {
            table: table.to_owned(),
            ..self
        }
    }
}

/// One step of reading an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An entry begins: the input itself, or a member of an archive.
    EntryStart {
        /// The label of the archive member; empty for the input itself.
        entry: String,
        /// The first decoded bytes.
        head: Head,
    },
    /// The bytes of one record.
    Frame(Frame),
    /// Bytes between records: line breaks, commas, brackets, white space, a byte order mark.
    Separator {
        /// The number of bytes.
        bytes: u64,
    },
    /// Rows of a table follow, until the next event of this kind or the end of the entry.
    Table {
        /// The name of the table, with its schema if it has one.
        name: String,
        /// The id of the source that reads the rows.
        source: String,
        /// The name of the map that reads the rows.
        map: String,
        /// The table that this one is a partition of, or the table itself. `None` where the rows have no table.
        whole: Option<TableName>,
    },
    /// Rows of a table that is not wanted, or that a filter skips: counted but not framed. They need not be adjacent;
    /// the bytes between them are counted in the separator before or after this event.
    Skipped {
        /// The name of the table, with its schema if it has one.
        table: String,
        /// The number of rows.
        rows: u64,
        /// The number of bytes in the decoded entry.
        bytes: u64,
        /// The map that has the columns of the table and does not name it, if the dump does not declare the table, which may then be a
        /// part of another one.
        resembles: Option<String>,
    },
    /// The whole entry is skipped unread, because it is not a chat or not wanted.
    SkippedEntry {
        /// The kind of entry, or `excluded`.
        kind: &'static str,
        /// The number of bytes.
        bytes: u64,
    },
    /// A unit that is rejected by the framing.
    FramingError(FramingError),
    /// A finding without a reject.
    Note(Finding),
    /// The entry has ended.
    EntryEnd {
        /// The number of decoded bytes of the entry.
        decoded_bytes: u64,
    },
    /// The system failed, and no further events of this input follow. Its events so far are incomplete.
    Failed(Failure),
}

/// One record, cut from its entry and not scanned yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The number in the entry, counted from 0 over frames and framing errors.
    pub record: u64,
    /// The first byte in the decoded entry.
    pub start: u64,
    /// The end, exclusive.
    pub end: u64,
    /// Line of the first byte, from 1.
    pub line: u64,
    /// Column of the first byte in code points, from 1.
    pub column: u64,
    /// The range of the bytes in the caller's buffer.
    pub buffer: Range<usize>,
    /// The form of the bytes in the buffer.
    pub form: Form,
}

impl Frame {
    /// A row without a place in its entry.
    pub(crate) const fn row(record: u64, buffer: Range<usize>) -> Self {
        Self {
            record,
            start: 0,
            end: 0,
            line: 1,
            column: 1,
            buffer,
            form: Form::Row,
        }
    }
}

/// The form of a frame's bytes in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The bytes of the entry, unchanged.
    Original,
    /// A row of a table, written as JSON. Places inside it refer to the whole row.
    Row,
    /// A line without the escapes of `COPY`; [`CopiedLine`](crate::CopiedLine) maps back to its bytes.
    Copied,
    /// A text, written as a JSON object; [`FramedText`](crate::FramedText) maps back to its bytes.
    Text,
}

/// A framing error: a byte range of an entry that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramingError {
    /// The number in the entry, counted from 0 over frames and framing errors.
    pub record: u64,
    /// The first byte in the decoded entry.
    pub start: u64,
    /// The end, exclusive; equal to `start` if nothing could be decoded.
    pub end: u64,
    /// Line of the first byte, from 1.
    pub line: u64,
    /// Column of the first byte in code points, from 1.
    pub column: u64,
    /// The code of the error.
    pub code: &'static Code,
    /// BLAKE3 of the bytes, in hexadecimal.
    pub hash: String,
    /// The first bytes, as many as [`Limits::reject_head`](chatmill_diag::Limits::reject_head) keeps.
    pub head: Vec<u8>,
    /// The message, one clause.
    pub message: String,
    /// The place of the error in the range, if it is known and not the first byte.
    pub at: Option<Place>,
    /// The bytes around the error.
    pub around: Option<ErrorContext>,
}

/// A position in an entry, for example that of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The byte offset; one past the last byte where more was expected.
    pub byte: u64,
    /// The line, from 1.
    pub line: u64,
    /// The column in code points, from 1.
    pub column: u64,
}

/// The bytes around an error, as reports show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorContext {
    /// The offset of the first byte in the entry.
    pub start: u64,
    /// The bytes, as many as a wide terminal shows.
    pub bytes: Vec<u8>,
}

/// The number of bytes that are kept before an error.
const CONTEXT_BEFORE: u64 = 256;

/// The number of bytes that are kept from an error on.
const CONTEXT_AFTER: u64 = 512;

impl ErrorContext {
    /// The bytes around a byte of the entry, out of a range that begins at `start`.
    pub fn around(bytes: &[u8], start: u64, byte: u64) -> Self {
        let at = byte.saturating_sub(start).min(bytes.len() as u64);
        let from = at.saturating_sub(CONTEXT_BEFORE);
        let to = (at + CONTEXT_AFTER).min(bytes.len() as u64);
        Self {
            start: start + from,
            bytes: cut::slice(bytes, from as usize..to as usize).to_vec(),
        }
    }
}

impl FramingError {
    /// A framing error without bytes, at the start of its entry.
    pub(crate) fn of_nothing(record: u64, broken: StreamError) -> Self {
        Self {
            record,
            start: 0,
            end: 0,
            line: 1,
            column: 1,
            code: broken.code,
            hash: blake3::hash(b"").to_hex().to_string(),
            head: Vec::new(),
            message: broken.message,
            at: None,
            around: None,
        }
    }
}

/// How an entry is cut into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One record per line.
    Lines,
    /// One record per element of the outermost array.
    Array,
    /// JSON documents, one after another.
    Documents,
    /// Rows of tables: a dump, CSV, a database file.
    Tables,
    /// One transcript that is not JSON.
    Text,
    /// Only white space.
    Empty,
}

/// The beginning of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// How the entry is cut.
    pub framing: Framing,
    /// Whether `bytes` is the whole entry.
    pub complete: bool,
    /// The first MiB, without a byte order mark and without the escapes of `COPY`.
    pub bytes: Vec<u8>,
}

impl Head {
    /// A head without bytes, for an entry that is not shown.
    pub(crate) const fn without_bytes(framing: Framing, complete: bool) -> Self {
        Self {
            framing,
            complete,
            bytes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_of_an_error_is_as_long_as_a_terminal_shows() {
        let bytes: Vec<u8> = (0..=255).cycle().take(2_000).collect();
        for (byte, start, length) in [
            (100, 100, 512),
            (355, 100, 767),
            (356, 100, 768),
            (357, 101, 768),
            (1_588, 1_332, 768),
            (1_589, 1_333, 767),
            (2_100, 1_844, 256),
            (9_999, 1_844, 256),
        ] {
            let context = ErrorContext::around(&bytes, 100, byte);
            assert_eq!((context.start, context.bytes.len()), (start, length), "{byte}");
            assert_eq!(context.bytes[0], bytes[(start - 100) as usize]);
        }
    }
}
