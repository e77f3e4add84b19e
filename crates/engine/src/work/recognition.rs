//! Whether a source fits the input that it reads, which is known after all of the input was read.

use std::collections::BTreeMap;

use chatmill_diag::{Finding, Reject, RejectLevel, codes};
use chatmill_intake::may_contain_text;
use serde::{Deserialize, Serialize};

use crate::entry::EntryRef;
use crate::record::UnreadAt;
use crate::record::locate::Located;
use crate::record::unread::{FirstPlace, UnreadFields};
use crate::slice::records::Record;

/// The evidence for and against the source of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recognition {
    /// Intact records that the source cannot read.
    pub misread: u64,
    /// The bytes of words that the source reads.
    pub read_words: u64,
    /// The bytes of words in unread fields that look like messages.
    pub unread_words: u64,
    /// Fields that the source does not read.
    #[serde(default, skip_serializing_if = "UnreadFields::is_empty")]
    pub unread: UnreadFields,
}

impl Recognition {
    /// Adds the read and unread fields of a record to the counts of its input.
    pub(crate) fn add<C: Default>(
        inputs: &mut BTreeMap<usize, C>,
        of: fn(&mut C) -> &mut Self,
        record: Record<'_>,
        (unread, (read_words, unread_words)): (&[UnreadAt], (u64, u64)),
        limit: u64,
    ) {
        let own = of(inputs.entry(record.entry.input).or_default());
        own.read_words += read_words;
        own.unread_words += unread_words;
        for unread in unread {
            let (input, place) = record.place_of(unread);
            let fields = &mut of(inputs.entry(input).or_default()).unread;
            fields.add(unread, place, limit);
        }
    }

    /// Adds an archive member that is skipped, unless its kind cannot contain words.
    pub(crate) fn add_skipped(&mut self, entry: Option<&EntryRef>, kind: &str, bytes: u64, limit: u64) {
        if let Some(member) = entry.filter(|entry| !entry.entry.is_empty() && may_contain_text(kind)) {
            self.unread.add_skipped(member, kind, bytes, limit);
        }
    }

    /// Adds the counts of later records, up to `limit` paths.
    pub(crate) fn merge(&mut self, later: Self, limit: u64) {
        self.misread += later.misread;
        self.read_words += later.read_words;
        self.unread_words += later.unread_words;
        self.unread.merge(later.unread, limit);
    }

    /// Returns the findings about the whole input: whether its source
    /// fits, and the unread fields, each with its first place.
    pub(crate) fn findings(
        self,
        framed: u64,
        source: &str,
    ) -> impl Iterator<Item = (Located, Option<FirstPlace>)> {
        let misread = self.misfit(framed, source).map(|located| (located, None));
        misread.into_iter().chain(self.unread.findings())
    }

    /// Returns the finding that the source is wrong. A single record already has a finding.
    fn misfit(&self, framed: u64, source: &str) -> Option<Located> {
        let other = "the file has another format: name its source with --source";
        let message = if self.misread >= 2 && self.misread * 2 > framed {
            format!(
                "{source} cannot read {} of {framed} records: {other}",
                self.misread
            )
        } else if self.unread_words > self.read_words {
            let (read, unread) = (self.read_words, self.unread_words);
            format!(
                "{source} reads {read} bytes of words and leaves {unread} unread in fields that look like messages: {other}"
            )
        } else {
            return None;
        };
        Some(Located::nowhere(Finding::new(
            &codes::MISRECOGNISED_INPUT,
            message,
        )))
    }
}

/// Returns whether a record is intact, but not in the format that its source
/// expects. A record that is corrupt in the file is no evidence about its format.
pub(crate) fn is_misread(reject: &Reject) -> bool {
    reject.level == RejectLevel::Frame && !reject.finding.code.code.starts_with("IN")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_cannot_read_more_than_half_of_the_records_is_the_wrong_one() {
        let is_wrong_source = |misread, framed| {
            let recognition = Recognition {
                misread,
                ..Recognition::default()
            };
            recognition.misfit(framed, "sharegpt").is_some()
        };
        assert!(
            !is_wrong_source(0, 0)
                && !is_wrong_source(2, 4)
                && is_wrong_source(3, 4)
                && is_wrong_source(2, 3)
                && !is_wrong_source(1, 1)
        );
    }

    #[test]
    fn a_source_that_leaves_more_words_than_it_reads_is_the_wrong_one() {
        let is_wrong_source = |read_words, unread_words| {
            let recognition = Recognition {
                read_words,
                unread_words,
                ..Recognition::default()
            };
            recognition.misfit(3, "sharegpt").is_some()
        };
        assert!(!is_wrong_source(0, 0) && !is_wrong_source(9, 9) && is_wrong_source(9, 10));
    }
}
