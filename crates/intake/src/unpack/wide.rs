//! Decodes text in UTF-16 and UTF-32 to UTF-8. It is recognised by the byte order mark that editors and programs on
//! Windows write.
//!
//! A lone surrogate becomes a replacement character with a note, as in JSON escapes. A unit that is not a character,
//! and an incomplete unit at the end, become a byte that is not UTF-8; the next stage reports it with its place, as in
//! any corrupt text.

use std::io::{self, BufRead};
use std::sync::Arc;

use chatmill_diag::Finding;
use chatmill_diag::codes::{BYTE_ORDER_MARK, LONE_SURROGATE};

use crate::stream::{Buffered, ReadBudget};

/// A byte that is never part of UTF-8.
const BROKEN: u8 = 0xFF;

/// An encoding with units of several bytes.
#[derive(Clone, Copy)]
struct Form {
    mark: &'static [u8],
    name: &'static str,
    is_upper_first: bool,
}

impl Form {
    const fn new(mark: &'static [u8], name: &'static str, is_upper_first: bool) -> Self {
        Self {
            mark,
            name,
            is_upper_first,
        }
    }
}

/// The encodings with units of four bytes come first, because their marks begin with those of two-byte encodings.
const FORMS: [Form; 4] = [
    Form::new(b"\xFF\xFE\0\0", "UTF-32LE", false),
    Form::new(b"\0\0\xFE\xFF", "UTF-32BE", true),
    Form::new(b"\xFF\xFE", "UTF-16LE", false),
    Form::new(b"\xFE\xFF", "UTF-16BE", true),
];

fn form(head: &[u8]) -> Option<Form> {
    FORMS.into_iter().find(|form| head.starts_with(form.mark))
}

/// Whether `head` begins with such a mark.
pub(super) fn starts(head: &[u8]) -> bool {
    form(head).is_some()
}

/// Decodes one text without its mark.
pub(super) struct Wide {
    pub(super) stream: Buffered,
    form: Form,
    /// The first bytes of an incomplete unit.
    unit: Vec<u8>,
    /// The first half of a surrogate pair.
    high: Option<u16>,
    decoded: Vec<u8>,
    given: usize,
    /// The number of bytes decoded before these.
    before: u64,
    /// The number of lone surrogates, and the offset of the first.
    halves: (u64, u64),
    gauge: Arc<ReadBudget>,
}

impl Wide {
    /// A decoder for a stream that begins with a mark.
    pub(super) fn new(mut stream: Buffered, gauge: Arc<ReadBudget>) -> Option<Self> {
        let form = form(stream.peek(4))?;
        stream.consume(form.mark.len());
        let message = format!(
            "the byte order mark at the start marks the text as {}: it was decoded, and offsets are those of the decoded bytes",
            form.name
        );
        gauge.note(Finding::new(&BYTE_ORDER_MARK, message));
        Some(Self {
            stream,
            form,
            unit: Vec::with_capacity(form.mark.len()),
            high: None,
            decoded: Vec::new(),
            given: 0,
            before: 0,
            halves: (0, 0),
            gauge,
        })
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.decoded.len() {
            self.before += self.decoded.len() as u64;
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
        let rest = self.decoded.split_at(self.given).1;
        let count = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        self.given += count;
        Ok(count)
    }

    fn byte(&mut self, byte: u8) {
        self.unit.push(byte);
        if self.unit.len() < self.form.mark.len() {
            return;
        }
        let shifted = |number: u32, byte: &u8| number << 8 | u32::from(*byte);
        let number = if self.form.is_upper_first {
            self.unit.iter().fold(0, shifted)
        } else {
            self.unit.iter().rev().fold(0, shifted)
        };
        self.unit.clear();
        match u16::try_from(number).ok().filter(|_| self.form.mark.len() == 2) {
            Some(unit) => self.half(unit),
            None => match char::from_u32(number) {
                Some(character) => self.push_character(character),
                None if (0xD800..0xE000).contains(&number) => self.lone(),
                None => self.decoded.push(BROKEN),
            },
        }
    }

    /// Decodes a unit of two bytes.
    fn half(&mut self, unit: u16) {
        let units = self.high.take().into_iter().chain([unit]);
        for decoded in char::decode_utf16(units) {
            match decoded {
                Ok(character) => self.push_character(character),
                // The second half of the pair may follow.
                Err(half) if half.unpaired_surrogate() == unit && unit < 0xDC00 => self.high = Some(unit),
                Err(_) => self.lone(),
            }
        }
    }

    fn push_character(&mut self, character: char) {
        let mut bytes = [0; 4];
        self.decoded
            .extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
    }

    fn lone(&mut self) {
        let (count, first) = &mut self.halves;
        if *count == 0 {
            *first = self.before + self.decoded.len() as u64;
        }
        *count += 1;
        self.push_character(char::REPLACEMENT_CHARACTER);
    }

    fn end(&mut self) {
        if self.high.take().is_some() {
            self.lone();
        }
        if !self.unit.is_empty() {
            self.unit.clear();
            self.decoded.push(BROKEN);
        }
        let (count, first) = std::mem::take(&mut self.halves);
        if count > 0 {
            let message = format!(
                "half of a pair of surrogates in {} names no character and is read as U+FFFD",
                self.form.name
            );
            let mut finding = Finding::new(&LONE_SURROGATE, message);
            finding.count = count;
            let length = char::REPLACEMENT_CHARACTER.len_utf8() as u64;
            self.gauge.note(finding.at_span(first, first + length));
        }
    }
}
