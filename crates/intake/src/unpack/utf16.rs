//! Text in UTF-16 as UTF-8: a byte order mark says so, as editors and programs on Windows write it.
//!
//! The mark stays, as one of UTF-8. Half a pair of surrogates, and half a unit at the end, become bytes that are no UTF-8: who
//! reads on reports them with their place, as in any text that is damaged.

use std::io::{self, BufRead};

use crate::stream::Buffered;

/// The marks of both orders of bytes: the lower byte first, the upper byte first.
const MARKS: [&[u8]; 2] = [b"\xFF\xFE", b"\xFE\xFF"];

/// A byte that is in no text of UTF-8.
const BROKEN: u8 = 0xFF;

/// Whether `head` begins text in UTF-16.
pub(super) fn starts(head: &[u8]) -> bool {
    MARKS.iter().any(|mark| head.starts_with(mark))
}

/// Decodes one text.
pub(super) struct Utf16 {
    pub(super) stream: Buffered,
    /// Whether the upper byte of a unit stands first; the mark says it.
    is_upper_first: Option<bool>,
    /// The first byte of a unit.
    half: Option<u8>,
    /// The first unit of a pair of surrogates.
    high: Option<u16>,
    decoded: Vec<u8>,
    given: usize,
}

impl Utf16 {
    pub(super) fn new(stream: Buffered) -> Self {
        Self {
            stream,
            is_upper_first: None,
            half: None,
            high: None,
            decoded: Vec::new(),
            given: 0,
        }
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.decoded.len() {
            self.decoded.clear();
            self.given = 0;
            let input = self.stream.fill_buf()?;
            let take = input.len().min(buffer.len());
            let bytes: Vec<u8> = input.iter().take(take).copied().collect();
            self.stream.consume(take);
            if bytes.is_empty() {
                self.end();
                if self.decoded.is_empty() {
                    return Ok(0);
                }
            }
            for byte in bytes {
                self.byte(byte);
            }
        }
        let rest = self.decoded.get(self.given..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        self.given += count;
        Ok(count)
    }

    fn byte(&mut self, byte: u8) {
        let Some(first) = self.half.take() else {
            self.half = Some(byte);
            return;
        };
        let is_upper_first = *self.is_upper_first.get_or_insert(first == 0xFE);
        let unit = if is_upper_first {
            u16::from_be_bytes([first, byte])
        } else {
            u16::from_le_bytes([first, byte])
        };
        let units = self.high.take().into_iter().chain([unit]);
        for decoded in char::decode_utf16(units) {
            match decoded {
                Ok(character) => self
                    .decoded
                    .extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                // The second half may follow.
                Err(half) if half.unpaired_surrogate() == unit && unit < 0xDC00 => self.high = Some(unit),
                Err(_) => self.decoded.push(BROKEN),
            }
        }
    }

    fn end(&mut self) {
        if self.half.take().is_some() | self.high.take().is_some() {
            self.decoded.push(BROKEN);
        }
    }
}
