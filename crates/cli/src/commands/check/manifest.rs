//! `--write manifest=FILE`: every file with its length, hash and verdict, as a receipt for what was delivered.

use std::io::{self, Write};

use chatmill_engine::check::{FileVerdict, Files};
use serde::Serialize;

use super::report::{Report, Totals};
use crate::output::{Output, json_line};

/// The report: a file a line.
pub(super) struct FileManifest(Output);

/// A line.
#[derive(Serialize)]
struct Line<'f> {
    path: &'f str,
    bytes: Option<u64>,
    blake3: Option<&'f str>,
    verdict: &'static str,
}

impl FileManifest {
    /// A report into a sink.
    pub(super) fn new(out: Output) -> Self {
        Self(out)
    }

    fn file(&mut self, file: &FileVerdict) -> io::Result<()> {
        let line = Line {
            path: &file.path,
            bytes: file.bytes,
            blake3: file.hash.as_deref(),
            verdict: file.verdict,
        };
        writeln!(self.0, "{}", json_line(&line)?)
    }
}

impl Report for FileManifest {
    fn end(&mut self, files: &Files, _totals: &Totals) -> io::Result<()> {
        for file in files.iter() {
            self.file(&file)?;
        }
        self.0.flush()
    }
}
