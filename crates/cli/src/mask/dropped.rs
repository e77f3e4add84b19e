//! `--dropped FILE`: the omitted rows with their reasons, as JSON lines in the order of the ids.

use std::io::Write;
use std::path::Path;

use chatmill_dataset::ReportFile;
use chatmill_engine::Dropped;
use chatmill_engine::check::Mask;
use chatmill_export::LeftOutRow;
use chatmill_intake::Failure;
use chatmill_intake::discover::would_read;
use serde::Serialize;

use super::{mask, masked_reason};
use crate::context::Context;
use crate::exit::{Outcome, refuse};
use crate::output::{self, Output, shown};

/// An omitted row, as a line of the file.
pub(crate) trait DroppedRow: Clone + Ord + Serialize {
    /// Masks its ids.
    fn put_on(&mut self, mask: &Mask);
}

impl DroppedRow for LeftOutRow {
    fn put_on(&mut self, mask: &Mask) {
        self.conversation_id = mask.id(&self.conversation_id);
        if !self.perspective.is_empty() {
            self.perspective = mask.id(&self.perspective);
        }
        self.reason = masked_reason(&self.reason, mask);
    }
}

impl DroppedRow for Dropped {
    fn put_on(&mut self, mask: &Mask) {
        self.conversation_id = mask.id(&self.conversation_id);
    }
}

/// The file that is being written; if it is dropped before the end, it leaves no trace.
pub(crate) struct DroppedFile {
    out: Output,
    file: ReportFile,
    mask: Option<Mask>,
}

impl DroppedFile {
    /// Begins the file, if one is asked for. Its path must not be one of `spared` or inside one, and must not match any of the patterns,
    /// which are relative to `base`.
    ///
    /// # Errors
    ///
    /// When no file can be written at the path, or the key of the mask cannot be read.
    pub(crate) fn begin<'p>(
        path: Option<&Path>,
        spared: &[&Path],
        (base, patterns): (&Path, impl IntoIterator<Item = &'p String>),
        context: &Context<'_>,
    ) -> Outcome<Option<Self>> {
        let Some(path) = path else {
            return Ok(None);
        };
        for pattern in patterns {
            let is_read = would_read(pattern, base, path);
            if is_read.map_err(|error| Failure::new("look at", path, &error))? {
                let message = format!(
                    "the next run would read {}, because `{pattern}` is an input",
                    shown(path)
                );
                return refuse(message, "name a file outside of the inputs");
            }
        }
        let mask = mask(context.global)?;
        let key = context.global.mask_key.as_deref();
        let spared: Vec<&Path> = spared.iter().copied().chain(key).collect();
        let (out, file) = output::file(path, &spared)?;
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
            // Masked ids are sorted again, since the order of the real ids would give a clue to them.
            rows.sort_unstable();
        }
        for row in &rows {
            writeln!(self.out, "{}", output::json_line(row)?)?;
        }
        self.out.flush()?;
        Ok(self.file.finish()?)
    }
}
