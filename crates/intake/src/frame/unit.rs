//! A record that is being cut: its bytes go directly into the caller's buffer, until a limit is exceeded and only their
//! hash is kept.

use chatmill_diag::{Code, cut};

use crate::event::{ErrorContext, Event, Form, Frame, FramingError, Place};
use crate::json;
use crate::stream::StreamError;

/// A record that has not ended yet.
pub(super) struct Unit {
    start: Place,
    /// The offset of its first byte in the caller's buffer.
    buffer_start: usize,
    length: u64,
    limit: u64,
    head_limit: usize,
    too_long: &'static Code,
    /// Set once the limit is exceeded; nothing is buffered from then on.
    passed: Option<Passed>,
    /// The place of the error, once it is known.
    error_place: Option<Place>,
}

struct Passed {
    hasher: blake3::Hasher,
    head: Vec<u8>,
}

impl Unit {
    pub(super) fn new(
        start: Place,
        buffer_start: usize,
        limit: u64,
        head_limit: usize,
        too_long: &'static Code,
    ) -> Self {
        Self {
            start,
            buffer_start,
            length: 0,
            limit,
            head_limit,
            too_long,
            passed: None,
            error_place: None,
        }
    }

    /// Appends bytes.
    pub(super) fn push(&mut self, bytes: &[u8], buffer: &mut Vec<u8>) {
        self.length += bytes.len() as u64;
        if self.length <= self.limit {
            buffer.extend_from_slice(bytes);
            return;
        }
        let passed = self.passed.get_or_insert_with(|| {
            let so_far = buffer.split_at(self.buffer_start).1;
            let mut hasher = blake3::Hasher::new();
            hasher.update(so_far);
            let head = cut::up_to(so_far, self.head_limit).to_vec();
            buffer.truncate(self.buffer_start);
            Passed { hasher, head }
        });
        passed.hasher.update(bytes);
        let length = self.head_limit.saturating_sub(passed.head.len()).min(bytes.len());
        passed.head.extend_from_slice(bytes.split_at(length).0);
    }

    /// Sets the place of the error.
    pub(super) fn set_error_place(&mut self, place: Place) {
        self.error_place = Some(place);
    }

    /// The error of a unit without an end: the JSON error in its bytes, or else `cut`.
    pub(super) fn why_open(&mut self, buffer: &[u8], cut: StreamError) -> StreamError {
        let Some(bytes) = self.bytes(buffer) else {
            return cut;
        };
        let Err(error) = json::scan(bytes, u32::MAX) else {
            return cut;
        };
        let place = self.start.after(bytes.split_at(error.at).0);
        let ends_inside = error.at >= bytes.len();
        self.set_error_place(place);
        if ends_inside {
            cut
        } else {
            StreamError::new(error.code, error.message)
        }
    }

    /// The offset of its first byte in the caller's buffer.
    pub(super) const fn buffer_start(&self) -> usize {
        self.buffer_start
    }

    /// The number of bytes.
    pub(super) const fn length(&self) -> u64 {
        self.length
    }

    /// The bytes so far, unless the limit was exceeded.
    pub(super) fn bytes<'b>(&self, buffer: &'b [u8]) -> Option<&'b [u8]> {
        if self.passed.is_some() {
            None
        } else {
            buffer.get(self.buffer_start..)
        }
    }

    /// Ends the unit as a frame, or as a framing error if the limit was exceeded.
    pub(super) fn accept(self, record: u64, form: Form, buffer: &mut Vec<u8>) -> Event {
        if self.passed.is_some() {
            let message = format!("{} bytes, the limit is {}", self.length, self.limit);
            let broken = StreamError::new(self.too_long, message);
            return self.reject(record, &broken, buffer);
        }
        Event::Frame(Frame {
            record,
            start: self.start.byte,
            end: self.start.byte + self.length,
            line: self.start.line,
            column: self.start.column,
            buffer: self.buffer_start..buffer.len(),
            form,
        })
    }

    /// Ends the unit as a framing error; the caller's buffer is reset to its former length.
    pub(super) fn reject(self, record: u64, broken: &StreamError, buffer: &mut Vec<u8>) -> Event {
        let (hash, head, around) = if let Some(passed) = self.passed {
            (passed.hasher.finalize(), passed.head, None)
        } else {
            let bytes = buffer.split_at(self.buffer_start).1;
            let around = |place: Place| ErrorContext::around(bytes, self.start.byte, place.byte);
            (
                blake3::hash(bytes),
                cut::up_to(bytes, self.head_limit).to_vec(),
                self.error_place.map(around),
            )
        };
        buffer.truncate(self.buffer_start);
        Event::FramingError(FramingError {
            record,
            start: self.start.byte,
            end: self.start.byte + self.length,
            line: self.start.line,
            column: self.start.column,
            code: broken.code,
            hash: hash.to_hex().to_string(),
            head,
            message: broken.message.clone(),
            at: self.error_place,
            around,
        })
    }
}
