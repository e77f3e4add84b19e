//! `--output-format gitlab`: a Code Quality report of GitLab, which shows findings beside a merge request.

use std::collections::HashMap;
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::Severity;
use chatmill_engine::check::{Checked, Files};
use serde::Serialize;

use super::report::{Report, Totals, with_times};
use crate::output::{self, Output};

/// The report.
pub(super) struct Gitlab {
    out: Output,
    findings: u64,
    /// How often each key was met: GitLab takes what has one fingerprint for one finding.
    met: HashMap<Box<str>, u64>,
}

/// A finding.
#[derive(Serialize)]
struct Issue<'r> {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location<'r>,
}

#[derive(Serialize)]
struct Location<'r> {
    path: &'r str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u64,
}

impl Gitlab {
    /// A report into a sink.
    pub(super) fn new(out: Output) -> Self {
        Self {
            out,
            findings: 0,
            met: HashMap::new(),
        }
    }

    /// The key of a finding, and from its second time on the number of the time.
    fn fingerprint(&mut self, key: &str) -> String {
        let times = self.met.entry(key.into()).or_default();
        *times += 1;
        match *times {
            1 => key.to_owned(),
            times => format!("{key}-{times}"),
        }
    }
}

impl Report for Gitlab {
    fn finding(&mut self, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        let place = match row.entry {
            "" => String::new(),
            entry => format!("{entry}: "),
        };
        let issue = Issue {
            description: format!("{place}{}", with_times(row.message, row.count)),
            check_name: format!("{} {}", row.code, row.name),
            fingerprint: self.fingerprint(row.key),
            severity: severity(checked.located.finding.severity),
            location: Location {
                path: row.input.strip_prefix("./").unwrap_or(row.input),
                lines: Lines {
                    // A line of a member is none of the archive, and GitLab wants one.
                    begin: row.line_number.filter(|_| row.entry.is_empty()).unwrap_or(1),
                },
            },
        };
        self.out
            .write_all(if self.findings == 0 { b"[\n" } else { b",\n" })?;
        self.findings += 1;
        self.out.write_all(output::json_line(&issue)?.as_bytes())
    }

    fn end(&mut self, _files: &Files, _totals: &Totals) -> io::Result<()> {
        self.out
            .write_all(if self.findings == 0 { b"[]\n" } else { b"\n]\n" })?;
        self.out.flush()
    }
}

/// The word of Code Quality for a severity.
fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "major",
        Severity::Warning => "minor",
        Severity::Note => "info",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_findings_have_one_fingerprint() {
        let mut report = Gitlab::new(Box::new(io::sink()));
        let fingerprints = ["a", "b", "a", "a"].map(|key| report.fingerprint(key));
        assert_eq!(fingerprints, ["a", "b", "a-2", "a-3"]);
    }
}
