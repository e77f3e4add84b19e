//! Whether a source fits the input that it reads, which shows when all of it was read.

use chatmill_diag::{Finding, Reject, RejectLevel, codes};

use crate::record::locate::Located;

/// What speaks for and against a source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recognition {
    /// Records.
    pub framed: u64,
    /// Records that are whole and that the source cannot read all the same.
    pub misread: u64,
}

impl Recognition {
    /// The finding that the source is the wrong one. Of a single record what is wrong with it is said already.
    pub fn finding(self, source: &str) -> Option<Located> {
        if self.misread < 2 || self.misread * 2 <= self.framed {
            return None;
        }
        let message = format!(
            "{source} cannot read {} of {} records: this is another format, or another source reads it; name that with --source",
            self.misread, self.framed
        );
        Some(Located::nowhere(Finding::new(
            &codes::MISRECOGNISED_INPUT,
            message,
        )))
    }
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
        let told = |misread, framed| Recognition { framed, misread }.finding("sharegpt").is_some();
        assert!(!told(0, 0) && !told(2, 4) && told(3, 4) && told(2, 3) && !told(1, 1));
    }
}
