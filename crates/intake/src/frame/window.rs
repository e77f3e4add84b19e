//! The part of an entry that is in memory.

use std::io::{ErrorKind, Read};

use chatmill_diag::cut;

use crate::stream::{Bytes, StreamError};

/// The length of the head, which decides how an entry is cut, in decoded bytes.
const HEAD_BYTES: usize = 1 << 20;

/// The size of the first allocation; it doubles up to [`HEAD_BYTES`] as an entry needs it.
const SMALL_BYTES: usize = 16 * 1024;

/// The number of bytes that are read at once after the head: small enough to stay in the cache of a core.
const CHUNK_BYTES: usize = 256 * 1024;

/// A window that moves over a stream. It is filled only when it is empty, and then completely, so that bytes are never
/// moved within it. Every framing must therefore be able to stop at any byte and continue with the next chunk.
pub(super) struct Window {
    stream: Bytes,
    bytes: Vec<u8>,
    at: usize,
    filled: usize,
    ended: bool,
    broken: Option<StreamError>,
}

impl Window {
    /// Reads the head of the stream.
    pub(super) fn new(stream: Bytes, memory: Vec<u8>) -> Self {
        let mut window = Self {
            stream,
            bytes: memory,
            at: 0,
            filled: 0,
            ended: false,
            broken: None,
        };
        if window.bytes.is_empty() {
            window.bytes.resize(SMALL_BYTES, 0);
        }
        loop {
            window.fill(window.bytes.len());
            if window.ended || window.bytes.len() >= HEAD_BYTES {
                return window;
            }
            window.bytes.resize((window.bytes.len() * 2).min(HEAD_BYTES), 0);
        }
    }

    /// Switches to another stream and reads its head.
    pub(super) fn restart(&mut self, stream: Bytes) {
        self.stream = stream;
        self.at = 0;
        self.filled = 0;
        self.ended = false;
        self.broken = None;
        self.fill(self.bytes.len());
    }

    /// Reads until `length` bytes are buffered or the stream ends.
    fn fill(&mut self, length: usize) {
        while !self.ended && self.filled < length {
            match self
                .stream
                .read(self.bytes.split_at_mut(length).0.split_at_mut(self.filled).1)
            {
                Ok(0) => self.ended = true,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.broken = Some(StreamError::of(&error));
                }
            }
        }
    }

    /// The bytes that were read and not consumed.
    pub(super) fn rest(&self) -> &[u8] {
        cut::slice(&self.bytes, self.at..self.filled)
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.filled);
    }

    /// Whether there is at least one byte; reads more if all were consumed.
    pub(super) fn ready(&mut self) -> bool {
        if self.at == self.filled && !self.ended {
            self.at = 0;
            self.filled = 0;
            self.fill(CHUNK_BYTES.min(self.bytes.len()));
        }
        self.at < self.filled
    }

    /// Whether the whole stream is in the window and ended without an error.
    pub(super) fn is_complete(&self) -> bool {
        self.ended && self.broken.is_none()
    }

    /// Whether the stream broke off; true only once all its bytes are consumed.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Takes the error with which the stream broke off.
    pub(super) fn take_broken(&mut self) -> Option<StreamError> {
        self.broken.take()
    }

    pub(super) fn into_memory(self) -> Vec<u8> {
        self.bytes
    }
}
