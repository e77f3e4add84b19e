//! Reports that list files instead of findings, one per line. `--format csv` lists the verdicts; `--write manifest=FILE` adds lengths and
//! hashes, and serves as a receipt for a delivery.

use std::io::{self, Write};

use chatmill_engine::check::Files;
use serde_json::json;

use super::report::{Report, Totals};
use crate::csv;
use crate::output::json_line;

/// The report of `--format csv`.
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

/// The report of `--write manifest=FILE`.
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
