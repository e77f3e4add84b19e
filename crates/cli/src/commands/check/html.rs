//! `--write html=FILE`: one page over all files.

use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, Files};
use chatmill_report::check::check_page;

use super::gathered::Gathered;
use super::report::{Report, Totals};
use crate::output::Output;

/// The report.
pub(super) struct Html {
    out: Output,
    title: String,
    gathered: Gathered,
}

impl Html {
    /// A report into a sink, under a title.
    pub(super) fn new(out: Output, title: String, most: usize) -> Self {
        Self {
            out,
            title,
            gathered: Gathered::new(most),
        }
    }
}

impl Report for Html {
    fn finding(&mut self, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        self.gathered.add(checked, row);
        Ok(())
    }

    fn end(&mut self, files: &Files, _totals: &Totals) -> io::Result<()> {
        let page = check_page(&self.title, &self.gathered.files(files)).map_err(io::Error::other)?;
        self.out.write_all(page.as_bytes())?;
        self.out.flush()
    }
}
