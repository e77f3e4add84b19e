//! `--dropped FILE`: what was left out and why, as JSON lines in the order of the ids, beside what the command makes of the rest.

use std::io::Write;
use std::path::Path;

use chatmill_dataset::ReportFile;
use chatmill_engine::Dropped;
use chatmill_engine::check::Mask;
use chatmill_export::LeftOutRow;
use serde::Serialize;

use super::mask;
use crate::context::Context;
use crate::exit::Outcome;
use crate::output::{self, Output};

/// What was left out, as a line says it.
pub(crate) trait DroppedRow: Clone + Ord + Serialize {
    /// Puts a mask over its ids.
    fn put_on(&mut self, mask: &Mask);
}

impl DroppedRow for LeftOutRow {
    fn put_on(&mut self, mask: &Mask) {
        self.conversation_id = mask.id(&self.conversation_id);
        if !self.perspective.is_empty() {
            self.perspective = mask.id(&self.perspective);
        }
    }
}

impl DroppedRow for Dropped {
    fn put_on(&mut self, mask: &Mask) {
        self.conversation_id = mask.id(&self.conversation_id);
    }
}

/// The file in the making; dropped before it is written, it leaves nothing.
pub(crate) struct DroppedFile {
    out: Output,
    file: ReportFile,
    mask: Option<Mask>,
}

impl DroppedFile {
    /// Begins the file, where one is asked for. It must lie in none of `folders`.
    ///
    /// # Errors
    ///
    /// When no file can be written there, or the key of the mask cannot be read.
    pub(crate) fn begin(
        path: Option<&Path>,
        folders: &[&Path],
        context: &Context<'_>,
    ) -> Outcome<Option<Self>> {
        let Some(path) = path else {
            return Ok(None);
        };
        let mask = mask(context.global)?;
        let (out, file) = output::file(path, folders)?;
        Ok(Some(Self { out, file, mask }))
    }

    /// Writes the rows, and gives the file its name.
    ///
    /// # Errors
    ///
    /// When the system fails.
    pub(crate) fn finish<R: DroppedRow>(mut self, rows: &[R]) -> Outcome<()> {
        let mut rows = rows.to_vec();
        if let Some(mask) = &self.mask {
            for row in &mut rows {
                row.put_on(mask);
            }
            // The order of the ids would tell of them.
            rows.sort_unstable();
        }
        for row in &rows {
            writeln!(self.out, "{}", output::json_line(row)?)?;
        }
        self.out.flush()?;
        Ok(self.file.finish()?)
    }
}
