//! `--format junit`: a test suite per file, and in it a test case per code that was found.
//!
//! A test case fails if its findings make the exit code 1; otherwise it passes and lists its findings. Only counts and the first findings
//! of a case are kept, so memory grows with files and codes, not with findings.

use std::collections::BTreeMap;
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::Severity;
use chatmill_diag::visible::is_hidden;
use chatmill_engine::check::{Checked, Files};
use chatmill_engine::pipeline::FailOn;

use super::report::{Report, Totals, place};
use crate::figures::counted;

/// The number of findings that a test case lists.
const PER_CASE: usize = 5;

/// The report of `--format junit`.
pub(super) struct Junit {
    /// The least severity that fails a test case.
    pub fail_on: FailOn,
    /// The test cases by file and code.
    pub suites: BTreeMap<String, BTreeMap<&'static str, TestCase>>,
}

/// The findings of one code in one file.
pub(super) struct TestCase {
    name: &'static str,
    worst: Severity,
    count: u64,
    left: u64,
    first: Vec<String>,
}

impl Report for Junit {
    fn finding(&mut self, _out: &mut dyn Write, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        let finding = &checked.located.finding;
        let cases = self.suites.entry(checked.path.clone()).or_default();
        let case = cases.entry(finding.code.code).or_insert_with(|| TestCase {
            name: finding.code.name,
            worst: finding.severity,
            count: 0,
            left: 0,
            first: Vec::new(),
        });
        case.worst = case.worst.max(finding.severity);
        case.count += finding.count;
        if case.first.len() < PER_CASE {
            case.first
                .push(format!("{}: {}", place(checked, row), row.message));
        } else {
            case.left += finding.count;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, files: &Files, _totals: &Totals) -> io::Result<()> {
        let fails = |case: &TestCase| self.fail_on.fails(case.worst);
        let empty = BTreeMap::new();
        let suites = || {
            let suites = files.iter();
            suites.map(|file| (self.suites.get(&file.path).unwrap_or(&empty), file))
        };
        let tests: usize = suites().map(|(cases, _)| cases.len().max(1)).sum();
        let failures = suites()
            .flat_map(|(cases, _)| cases.values())
            .filter(|case| fails(case))
            .count();
        writeln!(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"chatmill check\" tests=\"{tests}\" \
             failures=\"{failures}\" errors=\"0\">"
        )?;
        for (cases, file) in suites() {
            let path = escape(&file.path);
            let failures = cases.values().filter(|case| fails(case)).count();
            writeln!(
                out,
                "  <testsuite name=\"{path}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\">",
                cases.len().max(1)
            )?;
            if cases.is_empty() {
                writeln!(
                    out,
                    "    <testcase classname=\"{path}\" name=\"{}\"/>",
                    file.verdict
                )?;
            }
            for (code, case) in cases {
                let text = case.describe();
                let name = case.name;
                writeln!(out, "    <testcase classname=\"{path}\" name=\"{code} {name}\">")?;
                if fails(case) {
                    let message = counted(case.count, "finding");
                    let severity = case.worst.as_str();
                    writeln!(
                        out,
                        "      <failure type=\"{severity}\" message=\"{message}\">{text}</failure>"
                    )?;
                } else {
                    writeln!(out, "      <system-out>{text}</system-out>")?;
                }
                writeln!(out, "    </testcase>")?;
            }
            writeln!(out, "  </testsuite>")?;
        }
        writeln!(out, "</testsuites>")
    }
}

impl TestCase {
    /// The first findings, and the number of the others, as character data.
    fn describe(&self) -> String {
        let mut lines: Vec<String> = self.first.iter().map(|line| escape(line)).collect();
        if self.left > 0 {
            lines.push(format!("and {}", counted(self.left, "more finding")));
        }
        lines.join("\n")
    }
}

/// Escapes text for attributes and content of XML. Characters that XML cannot contain become U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            hidden if is_hidden(hidden) => out.push_str(&format!("&#{};", u32::from(hidden))),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out_of_its_place() {
        assert_eq!(
            escape("</failure><x a=\"'\">&\n\u{0}\u{1b}\u{ffff}\u{202e}é"),
            "&lt;/failure&gt;&lt;x a=&quot;&apos;&quot;&gt;&amp;&#10;\u{fffd}\u{fffd}\u{fffd}&#8238;é"
        );
    }
}
