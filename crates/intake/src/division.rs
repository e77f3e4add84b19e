//! Divides a file of lines: finds the starts of its ranges, and the state that a reader in the middle needs about the
//! bytes before.
//!
//! Each line is a record that does not depend on other lines, so reading can start at any of them. Whether a file has
//! this form is decided from its head by the caller.

use std::path::Path;

use memchr::memchr;

use crate::access::{self, Failure};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A part of a file of lines. It begins and ends at the start of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The offset of its first byte in the file.
    pub start: u64,
    /// The offset of its end, exclusive.
    pub end: u64,
    /// The line of its first byte, from 1.
    pub line: u64,
    /// The number of records before it.
    pub record: u64,
    /// Whether it ends with the file.
    pub is_last: bool,
    /// BLAKE3 of its bytes.
    pub hash: blake3::Hash,
}

/// The facts about a file of lines that was read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// The number of bytes in the file.
    pub bytes: u64,
    /// BLAKE3 of the whole file.
    pub hash: blake3::Hash,
    /// The ranges in order, without gaps.
    pub ranges: Vec<LineRange>,
}

/// Reads a file of lines and divides it at the first line that begins at or after each multiple of `every` bytes.
/// `go_on` receives the number of bytes of each piece; if it returns false, there is no division.
///
/// # Errors
///
/// When the file cannot be read; the failure states whether the input or the system is the cause.
pub fn divide(
    path: &Path,
    every: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Division>, Failure> {
    let mut divider = Divider::new(every);
    let is_whole = access::pieces(path, |piece| {
        divider.push(piece);
        go_on(piece.len() as u64)
    })?;
    Ok(is_whole.then(|| divider.finish()))
}

/// Counts bytes, lines and records, and computes the hashes.
#[derive(Default)]
struct Divider {
    every: u64,
    /// The offset from which on the next range may begin.
    next: u64,
    /// The number of bytes before the current one.
    at: u64,
    line: u64,
    records: u64,
    /// Whether the current line has anything except white space.
    is_record: bool,
    /// Start, line and record of the current range.
    begun: (u64, u64, u64),
    ranges: Vec<LineRange>,
    whole: blake3::Hasher,
    range_hasher: blake3::Hasher,
}

impl Divider {
    fn new(every: u64) -> Self {
        let every = every.max(1);
        Self {
            every,
            next: every,
            line: 1,
            begun: (0, 1, 0),
            ..Self::default()
        }
    }

    /// Takes the next chunk. The first chunk contains the whole byte order mark, if there is one. Lines and records are
    /// counted here, because a reader that starts in the middle cannot know the numbers of its first line and record.
    fn push(&mut self, chunk: &[u8]) {
        self.whole.update(chunk);
        let mut rest = chunk;
        if self.at == 0 && rest.starts_with(BOM) {
            // The mark belongs to no record.
            let (mark, after) = rest.split_at(BOM.len());
            self.range_hasher.update(mark);
            self.at += mark.len() as u64;
            rest = after;
        }
        // The part of the chunk that has not been hashed yet.
        let mut unhashed = rest;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end + 1);
            self.is_record |= holds_text(line);
            self.records += u64::from(std::mem::take(&mut self.is_record));
            self.line += 1;
            self.at += line.len() as u64;
            rest = after;
            if self.at >= self.next {
                let (before, after) = unhashed.split_at(unhashed.len() - rest.len());
                self.range_hasher.update(before);
                unhashed = after;
                self.end_range();
            }
        }
        self.is_record |= holds_text(rest);
        self.at += rest.len() as u64;
        self.range_hasher.update(unhashed);
    }

    fn end_range(&mut self) {
        let (start, line, record) = self.begun;
        self.ranges.push(LineRange {
            start,
            end: self.at,
            line,
            record,
            is_last: false,
            hash: std::mem::take(&mut self.range_hasher).finalize(),
        });
        self.begun = (self.at, self.line, self.records);
        self.next = (self.at / self.every + 1) * self.every;
    }

    fn finish(mut self) -> Division {
        if self.begun.0 < self.at || self.ranges.is_empty() {
            self.end_range();
        }
        if let Some(last) = self.ranges.last_mut() {
            last.is_last = true;
        }
        Division {
            bytes: self.at,
            hash: self.whole.finalize(),
            ranges: self.ranges,
        }
    }
}

/// Whether a line is a record: a line of white space is not.
fn holds_text(line: &[u8]) -> bool {
    line.iter()
        .any(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests need files")]
mod tests {
    use super::*;

    fn divided(text: &[u8], every: u64) -> Division {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, text).unwrap();
        divide(&path, every, &mut |_| true).unwrap().unwrap()
    }

    #[test]
    fn ranges_begin_at_the_first_line_at_or_behind_a_multiple() {
        let text = b"{1}\n\n{2}\r\n \t\n{3}{3}{3}{3}\n{4}";
        let division = divided(text, 4);
        let seen: Vec<_> = division
            .ranges
            .iter()
            .map(|one| (one.start, one.end, one.line, one.record, one.is_last))
            .collect();
        assert_eq!(
            seen,
            [
                (0, 4, 1, 0, false),
                (4, 10, 2, 1, false),
                (10, 13, 4, 2, false),
                (13, 26, 5, 2, false),
                (26, 29, 6, 3, true)
            ]
        );
        for one in &division.ranges {
            let bytes = &text[one.start as usize..one.end as usize];
            assert_eq!(one.hash, blake3::hash(bytes));
        }
        assert_eq!((division.bytes, division.hash), (29, blake3::hash(text)));
    }

    #[test]
    fn no_range_is_empty_and_a_byte_order_mark_is_no_record() {
        let division = divided(b"\xEF\xBB\xBF\n{1}\n", 4);
        let seen: Vec<_> = division
            .ranges
            .iter()
            .map(|one| (one.start, one.end, one.record, one.is_last))
            .collect();
        assert_eq!(seen, [(0, 4, 0, false), (4, 8, 0, true)]);
        let empty = divided(b"", 4).ranges;
        assert_eq!((empty.len(), empty[0].is_last, empty[0].end), (1, true, 0));
    }

    #[test]
    fn ranges_of_a_file_do_not_depend_on_the_size_of_reads() {
        let line = format!("{{\"a\":\"{}\"}}\n", "x".repeat(1_000));
        let text = line.repeat(2 * access::PIECE_BYTES / line.len() + 7);
        let division = divided(text.as_bytes(), 100_000);
        assert!(division.ranges.len() > 4);
        for one in &division.ranges {
            assert_eq!(one.start % line.len() as u64, 0);
            assert_eq!(one.record, one.start / line.len() as u64);
            assert_eq!(one.line, one.record + 1);
            let bytes = &text.as_bytes()[one.start as usize..one.end as usize];
            assert_eq!(one.hash, blake3::hash(bytes));
        }
    }
}
