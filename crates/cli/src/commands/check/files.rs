//! Reports of files and not of findings, one file a line: `--format csv` has the verdicts, `--write manifest=FILE` lengths and
//! hashes as well, as a receipt for what was delivered.

use std::io::{self, Write};

use chatmill_engine::check::Files;
use serde_json::json;

use super::report::{Report, Totals};
use crate::csv;
use crate::output::json_line;

/// The verdicts.
pub(super) struct Table;

impl Report for Table {
    fn end(&mut self, out: &mut dyn Write, files: &Files, _totals: &Totals) -> io::Result<()> {
        writeln!(
            out,
            "path,source,verdict,records,conversations,errors,warnings,notes"
        )?;
        for file in files.iter() {
            let counts = [
                file.records,
                file.conversations,
                file.errors,
                file.warnings,
                file.notes,
            ];
            let names = [&file.path, file.source.unwrap_or_default(), file.verdict].map(str::to_owned);
            let cells = names.into_iter().chain(counts.map(|count| count.to_string()));
            write!(out, "{}", csv::line(cells))?;
        }
        Ok(())
    }
}

/// The receipt.
pub(super) struct FileManifest;

impl Report for FileManifest {
    fn end(&mut self, out: &mut dyn Write, files: &Files, _totals: &Totals) -> io::Result<()> {
        for file in files.iter() {
            let line = json!({
                "path": file.path,
                "bytes": file.bytes,
                "blake3": file.hash,
                "verdict": file.verdict,
            });
            writeln!(out, "{}", json_line(&line)?)?;
        }
        Ok(())
    }
}
