//! `--format jsonl`: one finding a line, with the columns of the findings table.

use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, FileVerdict};

use super::report::{Report, Totals};
use crate::output::Sink;

/// The report.
pub struct Lines(Sink);

impl Lines {
    /// A report into a sink.
    pub fn new(out: Sink) -> Self {
        Self(out)
    }
}

impl Report for Lines {
    fn finding(&mut self, _checked: &Checked, row: &FindingRow) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, row)?;
        self.0.write_all(b"\n")
    }

    fn end(&mut self, _files: &[FileVerdict], _totals: &Totals) -> io::Result<()> {
        self.0.flush()
    }
}
