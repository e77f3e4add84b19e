//! `--format json`: one object. The findings stream out first, so that memory does not grow with them; files and
//! summary, which are known at the end, follow.

use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, FileVerdict};

use super::report::{Report, Summary, Totals};
use crate::output::Sink;

/// The report.
pub struct Json {
    out: Sink,
    findings: u64,
}

impl Json {
    /// A report into a sink.
    pub fn new(out: Sink) -> Self {
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
        Ok(serde_json::to_writer(&mut self.out, row)?)
    }

    fn end(&mut self, files: &[FileVerdict], totals: &Totals) -> io::Result<()> {
        self.out.write_all(if self.findings == 0 {
            b"{\"findings\":[],\n"
        } else {
            b"\n],\n"
        })?;
        self.out.write_all(b"\"files\":")?;
        serde_json::to_writer(&mut self.out, files)?;
        self.out.write_all(b",\n\"summary\":")?;
        serde_json::to_writer(&mut self.out, &Summary::new(files, totals))?;
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }
}
