//! `--output-format gitlab`: a Code Quality report of GitLab, which shows findings beside a merge request.

use std::collections::HashMap;
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::Severity;
use chatmill_engine::check::{Checked, Files};
use serde_json::json;

use super::report::{Report, Totals, with_times};
use crate::output::json_line;

/// The report. It holds how often each key was met: GitLab takes what has one fingerprint for one finding.
#[derive(Default)]
pub(super) struct Gitlab(HashMap<Box<str>, u64>);

impl Gitlab {
    /// The key of a finding, and from its second time on the number of the time.
    fn fingerprint(&mut self, key: &str) -> String {
        let times = self.0.entry(key.into()).or_default();
        *times += 1;
        match *times {
            1 => key.to_owned(),
            times => format!("{key}-{times}"),
        }
    }
}

impl Report for Gitlab {
    fn finding(&mut self, out: &mut dyn Write, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        let begin = if self.0.is_empty() { "[\n" } else { ",\n" };
        let place = match row.entry {
            "" => String::new(),
            entry => format!("{entry}: "),
        };
        // A line of a member is none of the archive, and GitLab wants one.
        let line = row.line_number.filter(|_| row.entry.is_empty()).unwrap_or(1);
        let issue = json!({
            "description": format!("{place}{}", with_times(row.message, row.count)),
            "check_name": format!("{} {}", row.code, row.name),
            "fingerprint": self.fingerprint(row.key),
            "severity": severity(checked.located.finding.severity),
            "location": {
                "path": row.input.strip_prefix("./").unwrap_or(row.input),
                "lines": {"begin": line},
            },
        });
        write!(out, "{begin}{}", json_line(&issue)?)
    }

    fn end(&mut self, out: &mut dyn Write, _files: &Files, _totals: &Totals) -> io::Result<()> {
        writeln!(out, "{}", if self.0.is_empty() { "[]" } else { "\n]" })
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
        let mut report = Gitlab::default();
        let fingerprints = ["a", "b", "a", "a"].map(|key| report.fingerprint(key));
        assert_eq!(fingerprints, ["a", "b", "a-2", "a-3"]);
    }
}
