//! Renders the findings of a check, as a page for users or as a report for each supplier.
//!
//! The caller fills in [`CheckedFile`]s, without content that must not be shown. No file is read here.

mod page;
mod supplier_report;

use chatmill_diag::Severity;
use serde::Serialize;

pub use crate::checked::{CheckedFile, ShownFinding};

pub use page::check_page;
pub use supplier_report::{SupplierReport, supplier_reports};

/// The counts of a code.
#[derive(Clone, Copy, Debug, Serialize)]
struct CodeCounts {
    code: &'static str,
    name: &'static str,
    what: &'static str,
    why: &'static str,
    fix: &'static str,
    /// The highest severity of its findings.
    #[serde(skip)]
    severity: Severity,
    count: u64,
    files: u64,
}

/// The codes of files: those with the highest severity first, then the most frequent.
fn counts_by_code<'f>(files: impl Iterator<Item = &'f CheckedFile>) -> Vec<CodeCounts> {
    let mut counts_by_code: std::collections::BTreeMap<&str, CodeCounts> = std::collections::BTreeMap::new();
    for file in files {
        for (code, count) in &file.codes {
            let shown = file.findings.iter().filter(|finding| finding.code == *code);
            let severity = shown.map(|finding| finding.severity).max();
            let severity = severity.unwrap_or(code.severity);
            let code_counts = counts_by_code.entry(code.code).or_insert(CodeCounts {
                code: code.code,
                name: code.name,
                what: code.page.what,
                why: code.page.why,
                fix: code.page.fix,
                severity,
                count: 0,
                files: 0,
            });
            code_counts.severity = code_counts.severity.max(severity);
            code_counts.count += count;
            code_counts.files += 1;
        }
    }
    let mut counts_by_code: Vec<CodeCounts> = counts_by_code.into_values().collect();
    counts_by_code.sort_by_key(|code_counts| std::cmp::Reverse((code_counts.severity, code_counts.count)));
    counts_by_code
}

#[cfg(test)]
mod samples {
    use super::*;
    use chatmill_diag::{Code, codes};

    pub(super) fn finding(code: &'static Code, place: &str, message: &str) -> ShownFinding {
        ShownFinding {
            code,
            severity: code.severity,
            count: 1,
            key: format!("{:0>16}", place.replace(':', "")),
            place: place.to_owned(),
            json_path: Some("$.x".to_owned()),
            conversation: None,
            message: message.to_owned(),
            excerpt: Some("\"x\": <1>\n     ^^^".to_owned()),
        }
    }

    /// Three files of two suppliers: broken, suspicious and accepted.
    pub(super) fn files() -> Vec<CheckedFile> {
        let file = |path: &str, supplier: &str, verdict| CheckedFile {
            path: path.to_owned(),
            supplier: supplier.to_owned(),
            verdict,
            bytes: Some(1_234),
            hash: Some("0f".repeat(32)),
            conversations: 1,
            ..CheckedFile::default()
        };
        let mut broken = file("in/acme/<b>|a.json", "acme", "errors");
        broken.errors = 4;
        broken.warnings = 1;
        broken.codes = vec![(&codes::DANGLING_REFERENCE, 1), (&codes::INVALID_JSON, 4)];
        broken.findings = vec![
            finding(&codes::DANGLING_REFERENCE, "3:4", "reference to `m<9>`"),
            finding(&codes::INVALID_JSON, "7:1", "expected a value"),
        ];
        let mut noted = file("in/bird/b.json", "bird", "valid");
        noted.notes = 1;
        noted.codes = vec![(&codes::BYTE_ORDER_MARK, 1)];
        noted.findings = vec![finding(&codes::BYTE_ORDER_MARK, "1:1", "passed over")];
        vec![broken, file("in/acme/c.json", "acme", "valid"), noted]
    }

    #[test]
    fn codes_are_counted_the_severest_and_most_frequent_first() {
        let files = files();
        let counted: Vec<_> = counts_by_code(files.iter())
            .iter()
            .map(|code_counts| (code_counts.code, code_counts.count, code_counts.files))
            .collect();
        assert_eq!(counted, [("IN001", 4, 1), ("RF001", 1, 1), ("IN016", 1, 1)]);
        assert_eq!(files[0].left_out(&codes::INVALID_JSON), 3);
        assert_eq!(files[0].left_out(&codes::DANGLING_REFERENCE), 0);
    }
}
