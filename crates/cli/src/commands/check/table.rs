//! `--format csv`: the verdicts, one file a line.

use std::io::{self, Write};

use chatmill_engine::check::Files;

use super::report::{Report, Totals};
use crate::csv;
use crate::output::Output;

/// The report.
pub(super) struct Table(Output);

impl Table {
    /// A report into a sink.
    pub(super) fn new(out: Output) -> Self {
        Self(out)
    }
}

impl Report for Table {
    fn end(&mut self, files: &Files, _totals: &Totals) -> io::Result<()> {
        let header = [
            "path",
            "source",
            "verdict",
            "records",
            "conversations",
            "errors",
            "warnings",
            "notes",
        ];
        self.0.write_all(csv::line(header).as_bytes())?;
        for file in files.iter() {
            let counts = [
                file.records,
                file.conversations,
                file.errors,
                file.warnings,
                file.notes,
            ];
            let source = file.source.unwrap_or_default();
            let names = [file.path.as_str(), source, file.verdict].map(str::to_owned);
            let cells = names.into_iter().chain(counts.map(|count| count.to_string()));
            self.0.write_all(csv::line(cells).as_bytes())?;
        }
        self.0.flush()
    }
}
