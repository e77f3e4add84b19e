//! `--output-format gitlab`: a Code Quality report of GitLab, which shows the findings in a merge request.

use std::collections::HashMap;
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::Severity;
use chatmill_engine::check::{Checked, Files};
use serde_json::json;

use super::report::{Report, Totals, with_times};
use crate::output::json_line;

/// The report. It counts each key, because GitLab merges findings with the same fingerprint.
#[derive(Default)]
pub(super) struct Gitlab(HashMap<Box<str>, u64>);

impl Gitlab {
    /// The key of a finding; from its second occurrence on with the number of the occurrence.
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
        // The line is that of the member, not of the archive; GitLab requires one.
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

/// The severity in the words of Code Quality.
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
