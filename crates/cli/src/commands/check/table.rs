//! `--format csv`: the verdicts, one file a line, in the form of RFC 4180.

use std::borrow::Cow;
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, FileVerdict};

use super::report::{Report, Totals};
use crate::output::Sink;

/// The report.
pub struct Table(Sink);

impl Table {
    /// A report into a sink.
    pub fn new(out: Sink) -> Self {
        Self(out)
    }
}

impl Report for Table {
    fn finding(&mut self, _checked: &Checked, _row: &FindingRow) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, files: &[FileVerdict], _totals: &Totals) -> io::Result<()> {
        self.0
            .write_all(b"path,source,verdict,records,conversations,errors,warnings,notes\n")?;
        for file in files {
            writeln!(
                self.0,
                "{},{},{},{},{},{},{},{}",
                cell(&file.path),
                cell(file.source.as_deref().unwrap_or_default()),
                file.verdict,
                file.records,
                file.conversations,
                file.errors,
                file.warnings,
                file.notes
            )?;
        }
        self.0.flush()
    }
}

/// A cell; quoted where it holds a sign of the form.
fn cell(text: &str) -> Cow<'_, str> {
    if text.contains(['"', ',', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_only_where_it_must_be() {
        assert_eq!(cell("exports/a b.json"), "exports/a b.json");
        assert_eq!(cell("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
    }
}
