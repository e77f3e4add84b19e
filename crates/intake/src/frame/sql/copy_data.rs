//! The lines that follow a `COPY` statement, up to the end mark.

use memchr::memchr;

use super::Part;
use crate::frame::rows::CellsOf;
use crate::frame::{Framer, is_space};
use crate::stream::StreamError;
use crate::table::copy;

impl Framer {
    /// Reads a line of `COPY` data.
    pub(super) fn next_copy_line(&mut self) {
        let (mut unit, mut raw) = self.row_unit(self.record_limit);
        // The line feed belongs to a skipped row, but separates other rows.
        let is_skipping = self.rows.is_skipping();
        let mut is_ended = false;
        while !is_ended && self.window.ready() {
            let rest = self.window.rest();
            let end = memchr(b'\n', rest);
            let count = end.map_or(rest.len(), |end| end + usize::from(is_skipping));
            self.take(&mut unit, count, &mut raw);
            is_ended = end.is_some();
        }
        let line = raw.strip_suffix(b"\n").unwrap_or(&raw);
        let is_mark = line.strip_suffix(b"\r").unwrap_or(line) == copy::END;
        if is_mark && (is_ended || !self.window.is_broken()) {
            self.skip_unit(&unit, raw);
            self.sql.part = if self.sql.is_one_table {
                Part::CopyEnd
            } else {
                Part::Statements
            };
        } else if is_skipping {
            self.skip_row(unit.length());
            self.rows.raw = raw;
            if !is_ended {
                self.sql.cut = Some("the dump ends inside a row");
            }
        } else if is_ended {
            self.sql.part = Part::CopyLineEnd;
            self.end_row(unit, raw, CellsOf::Copy, None);
        } else {
            self.cut_row(unit, raw);
        }
    }

    /// Skips the bytes after the end mark of a table from an archive: line feeds, unless the data is corrupt.
    pub(super) fn skip_copy_end(&mut self) {
        if self.skip_separators(is_space).is_none() {
            return;
        }
        let (mut unit, mut raw) = self.row_unit(self.record_limit);
        while self.window.ready() {
            let count = self.window.rest().len();
            self.take(&mut unit, count, &mut raw);
        }
        let broken = StreamError::malformed("something follows the end mark of the rows");
        self.reject_row(unit, raw, &broken);
    }
}
