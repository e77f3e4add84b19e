//! The verdict on a file, and the counts that it is computed from.

use chatmill_diag::{Code, Finding, Limits, Severity};
use chatmill_dialect::Dialect;
use serde::Serialize;

use super::acceptance;
use super::definitions::RefusedDefinitions;
use crate::work::recognition::Recognition;

/// The verdict on a file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FileVerdict {
    /// The path as the user typed it.
    pub path: String,
    /// The source that read it.
    pub source: Option<&'static str>,
    /// `valid`, `warnings`, `errors`, `known`, `empty`, `unreadable`, or `skipped` if it is not a chat.
    ///
    /// `known` has errors or warnings, and all of them are known. A file that is empty, or could
    /// not be read at all, is `empty` or `unreadable` whatever is selected, ignored or known.
    pub verdict: &'static str,
    /// Records found.
    pub records: u64,
    /// Conversations read.
    pub conversations: u64,
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
    /// The length in bytes, if known before reading.
    #[serde(skip)]
    pub bytes: Option<u64>,
    /// BLAKE3 of its bytes in hexadecimal, if requested and the file was read to its end.
    #[serde(skip)]
    pub hash: Option<String>,
    /// The supplier of the file.
    #[serde(skip)]
    pub supplier: String,
    /// Findings of each code, in the order of their first occurrence.
    #[serde(skip)]
    pub codes: Vec<(&'static Code, u64)>,
    /// Findings left out because they are known.
    #[serde(skip_serializing_if = "chatmill_diag::is_zero")]
    pub known: u64,
    /// The result of each dialect.
    #[serde(rename = "for", skip_serializing_if = "Vec::is_empty")]
    pub judgements: Vec<Judgement>,
}

/// The result of one dialect for a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The dialect, `ID` or `ID@PROFILE`.
    pub dialect: String,
    /// Conversations that the dialect would accept.
    pub accepted: u64,
    /// Conversations that the dialect would refuse.
    pub refused: u64,
}

/// The counts of a file.
#[derive(Default)]
pub(super) struct FileCounts {
    pub(super) source: Option<&'static str>,
    pub(super) records: u64,
    pub(super) rejected: u64,
    /// Whether its source fits, and its unread fields.
    pub(super) recognition: Recognition,
    pub(super) conversations: u64,
    /// The kind of file or entry that was skipped because it is no chat.
    pub(super) skipped_entry: Option<&'static str>,
    errors: u64,
    warnings: u64,
    notes: u64,
    /// Findings of each code, in the order of their first occurrence. A file has few codes: a list is enough.
    codes: Vec<(&'static Code, u64)>,
    pub(super) known: u64,
    /// Whether the file was not read to its end because the system failed.
    pub(super) failed: bool,
    /// Whether an error or a warning is known.
    pub(super) has_known_errors: bool,
    /// Whether the intake reported that the file is empty.
    pub(super) is_empty: bool,
    /// Definitions of tools that targets would refuse.
    pub(super) definitions: RefusedDefinitions,
    /// Conversations that each target would refuse.
    pub(super) refused: Vec<u64>,
}

impl FileCounts {
    /// Adds the counts of a slice; findings are counted when they are delivered.
    pub(super) fn add(&mut self, other: Self, limits: &Limits) {
        self.source = self.source.or(other.source);
        self.skipped_entry = self.skipped_entry.or(other.skipped_entry);
        self.records += other.records;
        self.rejected += other.rejected;
        self.recognition.merge(other.recognition, limits.unread_paths);
        self.conversations += other.conversations;
        self.definitions.merge(other.definitions, limits.unread_paths);
        self.is_empty |= other.is_empty;
        self.refused
            .resize(self.refused.len().max(other.refused.len()), 0);
        for (sum, refused) in self.refused.iter_mut().zip(&other.refused) {
            *sum += refused;
        }
    }

    /// Counts a finding that is reported.
    pub(super) fn count(&mut self, finding: &Finding) {
        let known = self.codes.iter_mut().find(|(code, _)| *code == finding.code);
        if let Some((_, count)) = known {
            *count += finding.count;
        } else {
            self.codes.reserve_exact(1);
            self.codes.push((finding.code, finding.count));
        }
        match finding.severity {
            Severity::Error => self.errors += finding.count,
            Severity::Warning => self.warnings += finding.count,
            Severity::Note => self.notes += finding.count,
        }
    }

    /// Returns the verdict.
    pub(super) fn verdict(&self, path: &str, targets: &[Dialect]) -> FileVerdict {
        let verdict = if self.failed || self.rejected > 0 && self.conversations == 0 {
            "unreadable"
        } else if self.is_empty && self.records == 0 {
            "empty"
        } else if self.errors > 0 {
            "errors"
        } else if self.warnings > 0 {
            "warnings"
        } else if self.records == 0 && self.skipped_entry.is_some() {
            "skipped"
        } else if self.has_known_errors {
            "known"
        } else {
            "valid"
        };
        let refused = self.refused.iter().copied().chain(std::iter::repeat(0));
        let judgements = targets.iter().zip(refused).map(|(target, refused)| Judgement {
            dialect: acceptance::name(target),
            accepted: self.conversations - refused,
            refused,
        });
        FileVerdict {
            path: path.to_owned(),
            source: self.source,
            verdict,
            records: self.records,
            conversations: self.conversations,
            errors: self.errors,
            warnings: self.warnings,
            notes: self.notes,
            codes: self.codes.clone(),
            known: self.known,
            judgements: judgements.collect(),
            ..FileVerdict::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_diag::codes;

    #[test]
    fn a_file_of_which_nothing_could_be_read_is_unreadable() {
        let mut counts = FileCounts {
            records: 2,
            rejected: 2,
            ..FileCounts::default()
        };
        counts.count(&Finding::new(&codes::INVALID_JSON, "x"));
        assert_eq!(
            (counts.errors, counts.verdict("a", &[]).verdict),
            (1, "unreadable")
        );
    }

    #[test]
    fn findings_are_counted_by_code() {
        let mut counts = FileCounts::default();
        for code in [
            &codes::UNANSWERED_CALL,
            &codes::INVALID_JSON,
            &codes::UNANSWERED_CALL,
        ] {
            counts.count(&Finding::new(code, "x"));
        }
        assert_eq!(
            counts.verdict("a", &[]).codes,
            [(&codes::UNANSWERED_CALL, 2), (&codes::INVALID_JSON, 1)]
        );
    }

    #[test]
    fn an_unread_or_empty_file_is_invalid_with_any_codes_left_out() {
        let verdict = |counts: FileCounts| counts.verdict("a", &[]).verdict;
        // Findings are not counted here: each was ignored or is known.
        let unread = || FileCounts {
            records: 2,
            rejected: 2,
            ..FileCounts::default()
        };
        assert_eq!(verdict(unread()), "unreadable");
        assert_eq!(
            verdict(FileCounts {
                has_known_errors: true,
                known: 2,
                ..unread()
            }),
            "unreadable"
        );
        let empty = || FileCounts {
            is_empty: true,
            ..FileCounts::default()
        };
        assert_eq!(verdict(empty()), "empty");
        assert_eq!(
            verdict(FileCounts {
                records: 1,
                conversations: 1,
                ..empty()
            }),
            "valid",
            "an archive with one empty member is not empty"
        );
    }

    #[test]
    fn files_whose_errors_are_all_known_are_not_valid() {
        let counts = FileCounts {
            records: 2,
            rejected: 1,
            conversations: 1,
            known: 1,
            has_known_errors: true,
            ..FileCounts::default()
        };
        assert_eq!(counts.verdict("a", &[]).verdict, "known");
    }
}
