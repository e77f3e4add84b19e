//! `--format json`: one object. The findings stream out first, so that memory does not grow with them; files and
//! summary, which are known at the end, follow.

use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, Files};

use super::report::{Report, Summary, Totals};
use crate::output::{self, Output};

/// The report.
pub(super) struct Json {
    out: Output,
    findings: u64,
}

impl Json {
    /// A report into a sink.
    pub(super) fn new(out: Output) -> Self {
        Self { out, findings: 0 }
    }
}

impl Report for Json {
    fn finding(&mut self, _checked: &Checked, row: &FindingRow) -> io::Result<()> {
        self.out.write_all(if self.findings == 0 {
            b"{\"findings\":[\n"
        } else {
            b",\n"
        })?;
        self.findings += 1;
        self.out.write_all(output::json_line(row)?.as_bytes())
    }

    fn end(&mut self, files: &Files, totals: &Totals) -> io::Result<()> {
        self.out.write_all(if self.findings == 0 {
            b"{\"findings\":[],\n"
        } else {
            b"\n],\n"
        })?;
        self.out.write_all(b"\"files\":[")?;
        for (index, file) in files.iter().enumerate() {
            self.out.write_all(if index == 0 { b"" } else { b"," })?;
            self.out.write_all(output::json_line(&file)?.as_bytes())?;
        }
        self.out.write_all(b"],\n\"summary\":")?;
        let summary = output::json_line(&Summary::new(files, totals))?;
        self.out.write_all(summary.as_bytes())?;
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }
}
