//! Byte streams below the framing: the raw input with its hash, buffering that hides the sizes of reads, and the limit
//! on decompressed bytes.

use std::fmt;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chatmill_diag::codes::{
    CORRUPT_STREAM, DECOMPRESSION_LIMIT, DUMP_INCOMPLETE, INVALID_UTF8, MALFORMED_ROW, TRAILING_GARBAGE,
    TRUNCATED_STREAM, UNREADABLE_INPUT, UNSUPPORTED_CONTAINER,
};
use chatmill_diag::{Code, Finding, Limits, cut};

use crate::access::{FirstFailure, InputFile};

/// The number of bytes that one layer reads ahead.
const BUFFER_BYTES: usize = 64 * 1024;

/// A stream of bytes that can move between threads.
pub(crate) type Bytes = Box<dyn Read + Send>;

/// The error when a stream breaks off or a row cannot be read: the code, and one clause without any byte of the row. It
/// is wrapped in [`io::Error`] to pass through decoders.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct StreamError {
    pub(crate) code: &'static Code,
    pub(crate) message: String,
}

impl StreamError {
    pub(crate) fn new(code: &'static Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }

    /// The error for bytes that are not in the stated format.
    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Self::new(&CORRUPT_STREAM, message)
    }

    /// The error for bytes that end too early.
    pub(crate) fn truncated(message: impl Into<String>) -> Self {
        Self::new(&TRUNCATED_STREAM, message)
    }

    /// The error for a dump that ends too early.
    pub(crate) fn incomplete(message: impl Into<String>) -> Self {
        Self::new(&DUMP_INCOMPLETE, message)
    }

    /// The error for a known format that is not read.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(&UNSUPPORTED_CONTAINER, message)
    }

    /// The error for more bytes or values than the limits allow for the input.
    pub(crate) fn unbounded(message: impl Into<String>) -> Self {
        Self::new(&DECOMPRESSION_LIMIT, message)
    }

    /// The error for a row that does not fit its table.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(&MALFORMED_ROW, message)
    }

    /// The error for a row with bytes that are not text in a column that is read as text.
    pub(crate) fn garbled() -> Self {
        let text = "the column that is read as text holds bytes that are not UTF-8";
        Self::new(&INVALID_UTF8, text)
    }

    /// The same error, with the subject in front of its message.
    pub(crate) fn about(self, what: impl fmt::Display) -> Self {
        Self::new(self.code, format!("{what}: {}", self.message))
    }

    /// The error that an [`io::Error`] wraps, or one made from an error of the operating system.
    pub(crate) fn of(error: &io::Error) -> Self {
        error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Self>())
            .cloned()
            .unwrap_or_else(|| Self::new(&UNREADABLE_INPUT, format!("reading failed: {}", error.kind())))
    }
}

impl From<io::Error> for StreamError {
    fn from(error: io::Error) -> Self {
        Self::of(&error)
    }
}

impl From<StreamError> for io::Error {
    fn from(broken: StreamError) -> Self {
        Self::other(broken)
    }
}

/// Locks a mutex even if a thread panicked: the data guarded here is valid after every step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The part of a buffer that `left` bytes can fill.
pub(crate) fn within(buffer: &mut [u8], left: u64) -> &mut [u8] {
    let length = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
    buffer.split_at_mut(length).0
}

/// A shared file with a separate position.
pub(crate) struct Handle {
    pub(crate) file: Arc<Mutex<InputFile>>,
    pub(crate) at: u64,
}

impl Read for Handle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = lock(&self.file);
        file.seek(SeekFrom::Start(self.at))?;
        let count = file.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Handle {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut file = lock(&self.file);
        file.seek(SeekFrom::Start(self.at))?;
        self.at = file.seek(to)?;
        Ok(self.at)
    }
}

/// State shared by all layers of one input: counters, limits, and notes for the reader.
#[derive(Debug)]
pub(crate) struct ReadBudget {
    pub(crate) limits: Limits,
    /// The compressed length of the input, if it is known beforehand.
    length: Option<u64>,
    raw_read: AtomicU64,
    produced: AtomicU64,
    /// The number of values that columns have unfolded to.
    unfolded: AtomicU64,
    notes: Mutex<Vec<Finding>>,
    /// The first failure of the system.
    pub(crate) first_failure: FirstFailure,
}

impl ReadBudget {
    pub(crate) fn new(limits: Limits, length: Option<u64>, first_failure: FirstFailure) -> Arc<Self> {
        Arc::new(Self {
            first_failure,
            limits,
            length,
            raw_read: AtomicU64::new(0),
            produced: AtomicU64::new(0),
            unfolded: AtomicU64::new(0),
            notes: Mutex::default(),
        })
    }

    pub(crate) fn count_raw(&self, bytes: u64) {
        self.raw_read.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn raw_read(&self) -> u64 {
        self.raw_read.load(Ordering::Relaxed)
    }

    pub(crate) fn note(&self, finding: Finding) {
        lock(&self.notes).push(finding);
    }

    pub(crate) fn take_notes(&self) -> Vec<Finding> {
        std::mem::take(&mut lock(&self.notes))
    }

    /// The length of the input in bytes; the number of bytes read so far if the length is unknown.
    fn stored(&self) -> u64 {
        self.length.unwrap_or_else(|| self.raw_read())
    }

    /// Reads the bytes after the end of a stream and notes their number.
    pub(crate) fn drain(&self, rest: &mut Buffered, end: &str) -> io::Result<()> {
        let garbage = io::copy(rest, &mut io::sink())?;
        if garbage > 0 {
            let message = format!("{garbage} bytes after the {end} were not read");
            self.note(Finding::new(&TRAILING_GARBAGE, message));
        }
        Ok(())
    }

    /// The number of decompressed bytes that may still be produced.
    pub(crate) fn left(&self) -> u64 {
        let allowed = self.limits.decompressed(self.stored());
        allowed.saturating_sub(self.produced.load(Ordering::Relaxed))
    }

    /// The number of members that a stream of the input may have.
    pub(crate) fn members(&self) -> u64 {
        self.limits.members_in(self.stored())
    }

    /// Counts bytes that did not pass a decoder; false if the limits do not allow them.
    pub(crate) fn produce(&self, bytes: u64) -> bool {
        let is_allowed = bytes <= self.left();
        self.produced.fetch_add(bytes, Ordering::Relaxed);
        is_allowed
    }

    /// The number of values that columns may still unfold to.
    pub(crate) fn values_left(&self) -> u64 {
        let allowed = self.limits.unfolded(self.stored());
        allowed.saturating_sub(self.unfolded.load(Ordering::Relaxed))
    }

    /// Counts values that columns have unfolded to.
    pub(crate) fn unfold(&self, values: u64) {
        self.unfolded.fetch_add(values, Ordering::Relaxed);
    }

    /// Whether the input is a file with a known length.
    pub(crate) fn knows_length(&self) -> bool {
        self.length.is_some()
    }
}

/// The stored bytes of an input, counted and hashed as they are read.
#[derive(Clone)]
pub(crate) struct Raw {
    source: Arc<Mutex<Source>>,
    gauge: Arc<ReadBudget>,
}

struct Source {
    stream: Bytes,
    hasher: blake3::Hasher,
}

impl Raw {
    pub(crate) fn new(stream: Bytes, gauge: Arc<ReadBudget>) -> Self {
        Self {
            source: Arc::new(Mutex::new(Source {
                stream,
                hasher: blake3::Hasher::new(),
            })),
            gauge,
        }
    }

    /// Reads the rest, so that the hash covers the whole input.
    pub(crate) fn drain(&mut self) {
        // A layer above met the same error; an error of the system is recorded where it occurs.
        let _ = io::copy(self, &mut io::sink());
    }

    /// BLAKE3 of the bytes that were read.
    pub(crate) fn hash(&self) -> blake3::Hash {
        lock(&self.source).hasher.finalize()
    }
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut source = lock(&self.source);
        let count = source.stream.read(buffer)?;
        source.hasher.update(buffer.split_at(count).0);
        self.gauge.count_raw(count as u64);
        Ok(count)
    }
}

/// Reads ahead, always as much as fits, so that callers see the same chunks whatever the sizes of the underlying reads.
pub(crate) struct Buffered {
    stream: Bytes,
    bytes: Vec<u8>,
    at: usize,
    filled: usize,
    ended: bool,
    error: Option<io::Error>,
}

impl Buffered {
    pub(crate) fn new(stream: Bytes) -> Self {
        Self {
            stream,
            bytes: Vec::new(),
            at: 0,
            filled: 0,
            ended: false,
            error: None,
        }
    }

    /// The next bytes: at least `count` of them, unless the stream ends or breaks off before.
    pub(crate) fn peek(&mut self, count: usize) -> &[u8] {
        if self.filled - self.at < count.min(BUFFER_BYTES) {
            self.fill();
        }
        cut::slice(&self.bytes, self.at..self.filled)
    }

    /// Skips bytes; true if there were enough.
    pub(crate) fn skip_bytes(&mut self, count: u64) -> io::Result<bool> {
        let mut left = count;
        while left > 0 {
            let ready = self.fill_buf()?.len() as u64;
            if ready == 0 {
                return Ok(false);
            }
            let passed = ready.min(left);
            self.consume(passed as usize);
            left -= passed;
        }
        Ok(true)
    }

    /// Skips zero bytes, with which tapes and some tools pad.
    pub(crate) fn skip_zeros(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.fill_buf()?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let all = zeros == bytes.len();
            self.consume(zeros);
            if !all || zeros == 0 {
                return Ok(());
            }
        }
    }

    fn fill(&mut self) {
        self.bytes.resize(BUFFER_BYTES, 0);
        self.bytes.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.at = 0;
        while !self.ended && self.filled < BUFFER_BYTES {
            match self.stream.read(self.bytes.split_at_mut(self.filled).1) {
                Ok(0) => self.ended = true,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.error = Some(error);
                }
            }
        }
    }
}

impl BufRead for Buffered {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.filled {
            self.fill();
            if self.filled == 0
                && let Some(error) = self.error.take()
            {
                return Err(error);
            }
        }
        Ok(cut::slice(&self.bytes, self.at..self.filled))
    }

    fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.filled);
    }
}

impl Read for Buffered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

/// Stops a decoder once its input has produced as many bytes as the limits allow.
pub(crate) struct Capped<R> {
    stream: R,
    gauge: Arc<ReadBudget>,
}

impl<R> Capped<R> {
    pub(crate) fn new(stream: R, gauge: Arc<ReadBudget>) -> Self {
        Self { stream, gauge }
    }
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.gauge.left();
        if left == 0 {
            // Exactly as many bytes as allowed are fine; only one more exceeds the limit.
            return match self.stream.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(StreamError::unbounded("more decompressed bytes than the limit allows").into()),
            };
        }
        let count = self.stream.read(within(buffer, left))?;
        self.gauge.produced.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
