//! The fields in the header, the table of contents and the blocks of a dump: integers and texts.

use std::io::{self, Read};

use chatmill_diag::codes::RECORD_TOO_LONG;

use crate::stream::{Buffered, StreamError};

/// The layout of integers, as the header states it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The second number of the archive version; the first is 1.
    pub(super) minor: u8,
    /// The length of an integer after its sign, in bytes.
    pub(super) int_size: usize,
    /// The length of a file offset after its flag, in bytes.
    pub(super) offset_size: usize,
}

/// Reads fields in the layout of one dump.
pub(super) struct Fields<'b> {
    bytes: &'b mut Buffered,
    pub(super) layout: Layout,
    /// The number of bytes of text that may still be kept.
    pub(super) budget: u64,
    /// The message if the bytes end early.
    end: &'b str,
}

impl<'b> Fields<'b> {
    pub(super) fn new(bytes: &'b mut Buffered, layout: Layout, end: &'b str) -> Self {
        Self {
            bytes,
            layout,
            budget: 0,
            end,
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), StreamError> {
        self.bytes
            .read_exact(bytes)
            .map_err(|error| broken(&error, self.end))
    }

    pub(super) fn byte(&mut self) -> Result<u8, StreamError> {
        let mut byte = [0];
        self.fill(&mut byte)?;
        Ok(u8::from_le_bytes(byte))
    }

    /// Skips `count` bytes.
    pub(super) fn skip_bytes(&mut self, count: u64) -> Result<(), StreamError> {
        if self.bytes.skip_bytes(count)? {
            return Ok(());
        }
        Err(StreamError::incomplete(self.end))
    }

    /// Reads an integer: its sign, then its bytes from the lowest to the highest.
    pub(super) fn int(&mut self) -> Result<i64, StreamError> {
        let sign = self.byte()?;
        let mut bytes = [0; 8];
        let places = bytes.split_at_mut(self.layout.int_size).0;
        self.fill(places)?;
        let value = i64::from_le_bytes(bytes);
        match sign {
            0 if value >= 0 => Ok(value),
            1 if value >= 0 => Ok(-value),
            _ => Err(StreamError::corrupt("an integer in the dump is malformed")),
        }
    }

    /// Reads an integer that is a count.
    pub(super) fn count(&mut self) -> Result<u64, StreamError> {
        u64::try_from(self.int()?).map_err(|_| StreamError::corrupt("a length in the dump is negative"))
    }

    /// The length of a text; `None` for a text that is absent.
    fn text_length(&mut self) -> Result<Option<u64>, StreamError> {
        Ok(u64::try_from(self.int()?).ok())
    }

    /// Reads a text. No memory is reserved for the stated length before the bytes are read.
    pub(super) fn text(&mut self) -> Result<Option<String>, StreamError> {
        let Some(length) = self.text_length()? else {
            return Ok(None);
        };
        self.budget = self.budget.checked_sub(length).ok_or_else(|| {
            StreamError::new(
                &RECORD_TOO_LONG,
                "the names in the dump's table of contents are longer than `limits.record`",
            )
        })?;
        let mut bytes = Vec::new();
        let read = self.bytes.by_ref().take(length).read_to_end(&mut bytes);
        if read? as u64 == length {
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        } else {
            Err(StreamError::incomplete(self.end))
        }
    }

    /// Skips a text; true if there was one.
    pub(super) fn skip_text(&mut self) -> Result<bool, StreamError> {
        let length = self.text_length()?;
        self.skip_bytes(length.unwrap_or(0))?;
        Ok(length.is_some())
    }
}

/// The error for a failed read; `end` is the message if the bytes end early.
pub(super) fn broken(error: &io::Error, end: &str) -> StreamError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        StreamError::incomplete(end)
    } else {
        StreamError::of(error)
    }
}
