//! `--format jsonl`: one finding a line, with the columns of the findings table.

use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, Files};

use super::report::{Report, Totals};
use crate::output::{self, Output};

/// The report.
pub(super) struct Lines(Output);

impl Lines {
    /// A report into a sink.
    pub(super) fn new(out: Output) -> Self {
        Self(out)
    }
}

impl Report for Lines {
    fn finding(&mut self, _checked: &Checked, row: &FindingRow) -> io::Result<()> {
        writeln!(self.0, "{}", output::json_line(row)?)
    }

    fn end(&mut self, _files: &Files, _totals: &Totals) -> io::Result<()> {
        self.0.flush()
    }
}
