//! The pages of a database: the figures in the header are compared with the length of the file.

use std::cmp::Ordering;
use std::io::{self, Read, Seek};

use chatmill_diag::codes::{CORRUPT_STREAM, TRUNCATED_STREAM};
use chatmill_diag::{Finding, cut};

use crate::stream::StreamError;

/// The length of the header of a database, in bytes.
pub(super) const HEADER_BYTES: usize = 100;

/// The page size and count in the header of a database.
pub(super) struct Pages {
    /// The length of a page in bytes.
    pub(super) size: u64,
    /// The number of pages; `None` if the header's number is not valid, as in files of programs before 2010.
    count: Option<u64>,
}

impl Pages {
    /// The pages that a header states, if their size is valid.
    pub(super) fn of(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let byte = |at: usize| *cut::at(header, at);
        let number = |at: usize| u32::from_be_bytes([byte(at), byte(at + 1), byte(at + 2), byte(at + 3)]);
        let size = match u64::from(u16::from_be_bytes([byte(16), byte(17)])) {
            1 => 65_536,
            size => size,
        };
        let is_count_valid = number(24) == number(92) && number(28) > 0;
        (size >= 512 && size.is_power_of_two()).then(|| Self {
            size,
            count: is_count_valid.then(|| u64::from(number(28))),
        })
    }

    /// The finding for a file that is not as long as these pages. Zeros after them are reserved space.
    pub(super) fn length_finding<F: Read + Seek>(
        &self,
        length: u64,
        file: &mut F,
    ) -> Result<Option<Finding>, StreamError> {
        let Self { size, count } = *self;
        let Some(count) = count else {
            let message =
                format!("the database ends inside a page: {length} bytes are not pages of {size} bytes");
            return Ok((!length.is_multiple_of(size)).then(|| Finding::new(&TRUNCATED_STREAM, message)));
        };
        let code = match length.cmp(&(count * size)) {
            Ordering::Equal => return Ok(None),
            Ordering::Less => &TRUNCATED_STREAM,
            Ordering::Greater if is_blank(file, count * size)? => return Ok(None),
            Ordering::Greater => &CORRUPT_STREAM,
        };
        let message =
            format!("the header counts {count} pages of {size} bytes, and the file has {length} bytes");
        Ok(Some(Finding::new(code, message)))
    }
}

/// Whether a file has only zeros from an offset on.
fn is_blank<F: Read + Seek>(file: &mut F, from: u64) -> io::Result<bool> {
    file.seek(io::SeekFrom::Start(from))?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(count) if buffer.iter().take(count).all(|byte| *byte == 0) => {}
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
