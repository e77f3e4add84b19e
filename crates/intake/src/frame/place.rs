//! The position of a byte (offset, line and column), updated while reading.

use memchr::{memchr_iter, memrchr};

use crate::event::Place;

impl Place {
    /// The start of an entry.
    pub(super) const START: Self = Self {
        byte: 0,
        line: 1,
        column: 1,
    };

    /// The position after these bytes.
    pub(super) fn after(mut self, bytes: &[u8]) -> Self {
        self.advance(bytes);
        self
    }

    /// Moves past `bytes`.
    pub(super) fn advance(&mut self, bytes: &[u8]) {
        self.byte += bytes.len() as u64;
        match memrchr(b'\n', bytes) {
            None => self.column += code_points(bytes),
            Some(last) => {
                self.line += memchr_iter(b'\n', bytes).count() as u64;
                self.column = 1 + code_points(bytes.split_at(last + 1).1);
            }
        }
    }
}

/// The number of code points that begin in `bytes`.
fn code_points(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn columns_count_code_points_and_lines_line_feeds() {
        let text = "a中😀\r\n\néx";
        let mut whole = Place::START;
        whole.advance(text.as_bytes());
        assert_eq!((whole.line, whole.column), (3, 3));
        let mut bytewise = Place::START;
        for byte in text.bytes() {
            bytewise.advance(&[byte]);
        }
        assert_eq!(bytewise, whole);
    }
}
