//! Opens a database as a file that does not change.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use chatmill_diag::codes::UNREAD_JOURNAL;
use chatmill_diag::faults::Call;
use chatmill_diag::limits::MIB;
use chatmill_diag::{Finding, Limits};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use tempfile::NamedTempFile;

use super::pages::{HEADER_BYTES, Pages};
use crate::access::{self, FirstFailure, InputFile};
use crate::stream::{ReadBudget, StreamError};

/// The first bytes of every database.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";

/// The suffixes in the names of a database's journals.
const JOURNALS: [&str; 2] = ["-wal", "-journal"];

/// The suffix in the name of the index of the first journal.
const INDEX: &str = "-shm";

/// Whether a file is part of the database next to it: a journal, or the index of one.
pub(crate) fn is_companion(path: &Path) -> io::Result<bool> {
    let mut endings = JOURNALS.iter().chain([&INDEX]);
    let name = path.as_os_str().to_string_lossy();
    let Some(database) = endings.find_map(|ending| name.strip_suffix(ending)) else {
        return Ok(false);
    };
    match access::head(Path::new(database), MAGIC.len() as u64) {
        Ok(head) => Ok(head == MAGIC),
        Err(error) if access::is_of_the_system(&error) => Err(error),
        Err(_) => Ok(false),
    }
}

/// A database file, or another file that is read with seeking.
pub(crate) struct DatabaseFile {
    path: PathBuf,
    /// The length of the file.
    pub(super) bytes: u64,
    /// The copy of an archive member, a decompressed stream or a pipe; `None` for an input that is a file. Only its
    /// owner may read it, and it has a name only until SQLite has opened it.
    copy: Option<NamedTempFile>,
}

impl DatabaseFile {
    /// A file that is itself the input.
    pub(crate) fn own(path: &Path, bytes: u64) -> Self {
        Self {
            path: path.to_owned(),
            bytes,
            copy: None,
        }
    }

    /// Whether the file is itself the input, so that its bytes are not counted elsewhere.
    pub(crate) fn is_own(&self) -> bool {
        self.copy.is_none()
    }

    /// Copies a stream to a temporary file, because a database is read with seeking.
    pub(crate) fn copy(stream: &mut dyn Read, gauge: &ReadBudget) -> Result<Self, StreamError> {
        let mut spool = Spool::new(gauge)?;
        spool.add(stream, gauge)?;
        Ok(Self {
            path: spool.path().to_owned(),
            bytes: spool.bytes,
            copy: Some(spool.file),
        })
    }

    /// The same database without an incomplete last page, which SQLite would fill with zeros. If the header and the
    /// length of the file disagree, a finding is returned as well.
    pub(super) fn whole_pages(self, gauge: &ReadBudget) -> Result<(Self, Option<Finding>), StreamError> {
        let opened = InputFile::open(self.path(), &gauge.first_failure);
        let mut file = opened?;
        let mut header = [0; HEADER_BYTES];
        // A file without a valid header is reported by SQLite.
        let read = file.read_exact(&mut header).ok();
        let Some(pages) = read.and_then(|()| Pages::of(&header)) else {
            return Ok((self, None));
        };
        let finding = pages.length_finding(self.bytes, &mut file)?;
        let rest = self.bytes % pages.size;
        if rest == 0 {
            return Ok((self, finding));
        }
        if rest == self.bytes {
            return Err(StreamError::truncated("the database ends inside its first page"));
        }
        file.seek(SeekFrom::Start(0))?;
        let whole = Self::copy(&mut file.take(self.bytes - rest), gauge)?;
        Ok((whole, finding))
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the database so that nothing in it is executed and nothing outside it is read. A copy loses its name.
    pub(super) fn connect(self, limits: &Limits) -> rusqlite::Result<Connection> {
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(address(self.path()), flags)?;
        // Without this, a file that was cut could not be read at all; nothing can be written anyway.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        // A name in double quotes is a column or an error, never a text.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        // The limit is reported before a longer cell is read. Statements in the schema need some room as well.
        let longest = i32::try_from(limits.record.max(MIB)).unwrap_or(i32::MAX);
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest)?;
        Ok(connection)
    }

    /// Findings about the files next to the database that belong to it but are not read.
    pub(super) fn notes(&self, first_failure: &FirstFailure) -> Vec<Finding> {
        let mut notes = Vec::new();
        for ending in JOURNALS.into_iter().filter(|_| self.is_own()) {
            let mut beside = OsString::from(&self.path);
            beside.push(ending);
            let length = match access::follow(Path::new(&beside)) {
                Ok(metadata) => metadata.len(),
                Err(error) if access::is_absent(&error) => 0,
                Err(error) => {
                    first_failure.at("look at", Path::new(&beside), &error);
                    0
                }
            };
            if length > 0 {
                let message =
                    format!("{length} bytes in the file {ending} next to the database were not read");
                notes.push(Finding::new(&UNREAD_JOURNAL, message));
            }
        }
        notes
    }
}

/// A temporary file to which streams are copied; `limits.spool` bounds its length. Only its owner may read it.
pub(crate) struct Spool {
    file: NamedTempFile,
    bytes: u64,
}

impl Spool {
    pub(crate) fn new(gauge: &ReadBudget) -> Result<Self, StreamError> {
        let created = access::call(Call::Create, NamedTempFile::new);
        let file = created.map_err(|error| no_space(&std::env::temp_dir(), &error, &gauge.first_failure))?;
        Ok(Self { file, bytes: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Appends a stream, and returns the range of its bytes.
    pub(crate) fn add(
        &mut self,
        stream: &mut dyn Read,
        gauge: &ReadBudget,
    ) -> Result<Range<u64>, StreamError> {
        let (limits, first_failure) = (&gauge.limits, &gauge.first_failure);
        let start = self.bytes;
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let count = match stream.read(&mut buffer) {
                Ok(0) => return Ok(start..self.bytes),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            if self.bytes + count as u64 > limits.spool {
                return Err(StreamError::unbounded(format!(
                    "the file is longer than the {} bytes that may be copied to a temporary file",
                    limits.spool
                )));
            }
            let block = buffer.split_at(count).0;
            access::call(Call::Write, || self.file.write_all(block))
                .map_err(|error| no_space(self.file.path(), &error, first_failure))?;
            self.bytes += count as u64;
        }
    }
}

/// The error for a copy that could not be made, which is no property of the input.
fn no_space(path: &Path, error: &io::Error, first_failure: &FirstFailure) -> StreamError {
    first_failure.at("write a temporary copy to", path, error);
    StreamError::of(error)
}

/// The path of a file as a URI for SQLite, with unusual bytes escaped.
fn address(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut address = "file://".to_owned();
    for (at, byte) in path.as_os_str().as_encoded_bytes().iter().enumerate() {
        match byte {
            b'\\' if cfg!(windows) => address.push('/'),
            b'/' => address.push('/'),
            other => {
                if at == 0 {
                    // A path that begins with a drive.
                    address.push('/');
                }
                if other.is_ascii_alphanumeric() || b"._-:".contains(other) {
                    address.push(char::from(*other));
                } else {
                    // Writing to a String cannot fail.
                    let _ = write!(address, "%{other:02X}");
                }
            }
        }
    }
    address.push_str("?immutable=1");
    address
}

#[cfg(all(test, unix))]
mod tests {
    use super::address;
    use std::path::Path;

    #[test]
    fn unusual_names_are_escaped() {
        assert_eq!(
            address(Path::new("/a b/c?d#%.db")),
            "file:///a%20b/c%3Fd%23%25.db?immutable=1"
        );
    }
}
