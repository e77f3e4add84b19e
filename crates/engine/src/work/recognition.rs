//! Whether a source fits the input that it reads, which shows when all of it was read.

use chatmill_diag::{Finding, Reject, RejectLevel, codes};

use crate::record::locate::Located;
use crate::record::unread::{FirstPlace, UnreadFields};

/// What speaks for and against a source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recognition {
    /// Records.
    pub framed: u64,
    /// Records that are whole and that the source cannot read all the same.
    pub misread: u64,
    /// Bytes of what it reads, as far as that holds words.
    pub read_words: u64,
    /// Bytes of what it does not read, as far as that holds words.
    pub unread_words: u64,
}

impl Recognition {
    /// The finding that the source is the wrong one. Of a single record what is wrong with it is said already.
    pub fn finding(self, source: &str) -> Option<Located> {
        let other = "this is another format, or another source reads it; name that with --source";
        let message = if self.misread >= 2 && self.misread * 2 > self.framed {
            format!(
                "{source} cannot read {} of {} records: {other}",
                self.misread, self.framed
            )
        } else if self.unread_words > self.read_words {
            let (read, unread) = (self.read_words, self.unread_words);
            format!("{source} reads {read} bytes of words and leaves {unread}: {other}")
        } else {
            return None;
        };
        Some(Located::nowhere(Finding::new(
            &codes::MISRECOGNISED_INPUT,
            message,
        )))
    }
}

/// What is told of a whole input: whether its source fits it, and what nobody reads, each with its first place.
pub fn of_input(
    recognition: Recognition,
    source: &str,
    unread: UnreadFields,
) -> impl Iterator<Item = (Located, Option<FirstPlace>)> {
    let recognition = Recognition {
        unread_words: unread.words(),
        ..recognition
    };
    let misread = recognition.finding(source).map(|located| (located, None));
    misread.into_iter().chain(unread.findings())
}

/// Whether a record is whole, and not what its source takes it for. What is broken as it lies in the file says nothing of its
/// format.
pub fn is_misread(reject: &Reject) -> bool {
    reject.level == RejectLevel::Frame && !reject.finding.code.code.starts_with("IN")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_cannot_read_more_than_half_of_the_records_is_the_wrong_one() {
        let told = |misread, framed| {
            let recognition = Recognition {
                framed,
                misread,
                ..Recognition::default()
            };
            recognition.finding("sharegpt").is_some()
        };
        assert!(!told(0, 0) && !told(2, 4) && told(3, 4) && told(2, 3) && !told(1, 1));
    }

    #[test]
    fn a_source_that_leaves_more_words_than_it_reads_is_the_wrong_one() {
        let told = |read_words, unread_words| {
            let recognition = Recognition {
                framed: 3,
                read_words,
                unread_words,
                ..Recognition::default()
            };
            recognition.finding("sharegpt").is_some()
        };
        assert!(!told(0, 0) && !told(9, 9) && told(9, 10));
    }
}
