//! Files with their findings, for the pages that show them: `cli` fills them in for the page of a check, `build` for the page of a report,
//! and `found` renders both.

pub(crate) mod found;

use chatmill_diag::{Code, Severity};

/// A checked file, with its verdict and findings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckedFile {
    /// The path, as pages show it.
    pub path: String,
    /// The argument of `chatmill show` for the conversations of the file; `None` if pages must not print a command for it.
    pub shown_by: Option<String>,
    /// The supplier of the file.
    pub supplier: String,
    /// `valid`, `warnings`, `errors`, `known`, `empty`, `skipped` or `unreadable`.
    pub verdict: &'static str,
    /// The length of the file in bytes, if it is known.
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
    /// The occurrences of each code, whether they are shown or not.
    pub codes: Vec<(&'static Code, u64)>,
    /// The findings that are shown, in the order of their places.
    pub findings: Vec<ShownFinding>,
}

/// A finding that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownFinding {
    /// The code.
    pub code: &'static Code,
    /// The severity in this check.
    pub severity: Severity,
    /// Number of occurrences that it represents.
    pub count: u64,
    /// The key of the finding, which is the same in every check.
    pub key: String,
    /// The position inside the file.
    pub place: String,
    /// The path in the record.
    pub json_path: Option<String>,
    /// The conversation.
    pub conversation: Option<String>,
    /// The message.
    pub message: String,
    /// The source line, and in a second line carets under the place, if content may be quoted.
    pub excerpt: Option<String>,
}

impl CheckedFile {
    /// The number of occurrences of a code that are not shown.
    pub(crate) fn left_out(&self, code: &Code) -> u64 {
        let all = self.codes.iter().filter(|(other, _)| *other == code);
        let shown = self.findings.iter().filter(|finding| finding.code == code);
        let shown: u64 = shown.map(|finding| finding.count).sum();
        all.map(|(_, count)| count).sum::<u64>().saturating_sub(shown)
    }
}
