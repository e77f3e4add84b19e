//! `--format json` and `--format jsonl`: findings with the columns of the findings table, in one object or one per line.
//!
//! Findings are written as they come, so that memory does not grow with them; files and summary are known only at the end and follow.

use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, Files};

use super::report::{Report, Summary, Totals};
use crate::output::json_line;

/// The report of `--format json`, with the number of findings so far.
#[derive(Default)]
pub(super) struct Json(u64);

impl Report for Json {
    fn finding(&mut self, out: &mut dyn Write, _checked: &Checked, row: &FindingRow) -> io::Result<()> {
        let begin = if self.0 == 0 { "{\"findings\":[\n" } else { ",\n" };
        self.0 += 1;
        write!(out, "{begin}{}", json_line(row)?)
    }

    fn end(&mut self, out: &mut dyn Write, files: &Files, totals: &Totals) -> io::Result<()> {
        let end = if self.0 == 0 { "{\"findings\":[]" } else { "\n]" };
        write!(out, "{end},\n\"files\":[")?;
        for (index, file) in files.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}{}", json_line(&file)?)?;
        }
        let summary = json_line(&Summary::new(files, totals))?;
        writeln!(out, "],\n\"summary\":{summary}}}")
    }
}

/// The report of `--format jsonl`.
pub(super) struct JsonLines;

impl Report for JsonLines {
    fn finding(&mut self, out: &mut dyn Write, _checked: &Checked, row: &FindingRow) -> io::Result<()> {
        writeln!(out, "{}", json_line(row)?)
    }
}
