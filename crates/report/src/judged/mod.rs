//! Files with what was found in them, as pages show them.

pub(crate) mod found;

use chatmill_diag::{Code, Severity};

/// A file as a check judged it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgedFile {
    /// The path as it is shown.
    pub path: String,
    /// Who sent it.
    pub supplier: String,
    /// `valid`, `warnings`, `errors`, `known`, `empty`, `skipped` or `unreadable`.
    pub verdict: &'static str,
    /// Its length, where it has one.
    pub bytes: Option<u64>,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: Option<String>,
    /// Conversations read.
    pub conversations: u64,
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
    /// Occurrences of each code, whether they are shown or not.
    pub codes: Vec<(&'static Code, u64)>,
    /// The findings that are shown, in the order of their places.
    pub findings: Vec<ShownFinding>,
}

/// A finding that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownFinding {
    /// What was found.
    pub code: &'static Code,
    /// How severe it is here.
    pub severity: Severity,
    /// Occurrences that it stands for.
    pub count: u64,
    /// What stays the same from check to check.
    pub key: String,
    /// Where it is inside its file.
    pub place: String,
    /// Its path in the record.
    pub json_path: Option<String>,
    /// The conversation.
    pub conversation: Option<String>,
    /// What is said of it.
    pub message: String,
}

impl JudgedFile {
    /// Occurrences of a code that are not shown.
    pub(crate) fn left_out(&self, code: &Code) -> u64 {
        let all = self.codes.iter().filter(|(other, _)| *other == code);
        let shown = self.findings.iter().filter(|finding| finding.code == code);
        let shown: u64 = shown.map(|finding| finding.count).sum();
        all.map(|(_, count)| count).sum::<u64>().saturating_sub(shown)
    }
}
