//! Folders that chatmill itself wrote, among the inputs: they are left out, with a note, and not read as chats.
//!
//! There are four kinds: datasets, the stores of `chatmill night`, the remains of unfinished runs, and exports, which are
//! files for trainers. Only commands that examine files for the user, such as `check` and `show`, read the rows of an export.
//! A folder is recognised by its content. See docs/decisions/2026-11-29-own-outputs-among-inputs.md.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use chatmill_dataset::{DatasetError, EXPORT_SUMMARY, OwnOutput, own_output};
use chatmill_diag::limits::MIB;
use chatmill_intake::Failure;
use chatmill_intake::discover::{Input, read_small};
use serde::Deserialize;

use crate::error::PlanError;

/// The largest summary of an export that is read, in bytes.
const MAX_SUMMARY: u64 = 16 * MIB;

/// The folders with outputs of this program that were found among the inputs.
#[derive(Default)]
pub(in crate::plan) struct OwnOutputs {
    /// Whether the files of rows in exports are read.
    reads_exports: bool,
    folders: HashMap<PathBuf, Option<OutputFolder>>,
    /// Outputs in the order in which they were found.
    found: Vec<PathBuf>,
}

/// An output among the inputs.
struct OutputFolder {
    kind: OwnOutput,
    /// The path of the folder in the spelling of the user.
    shown: String,
    /// The files of rows in the export, with paths below its folder, if they are read.
    rows: Option<BTreeSet<PathBuf>>,
    /// The number of files that were left out.
    passed: u64,
}

#[derive(Deserialize)]
struct Summary {
    files: Vec<SummaryFile>,
}

#[derive(Deserialize)]
struct SummaryFile {
    name: PathBuf,
}

impl OwnOutputs {
    pub(in crate::plan) fn new(reads_exports: bool) -> Self {
        Self {
            reads_exports,
            ..Self::default()
        }
    }

    /// Removes the inputs inside outputs of this program, and counts them.
    ///
    /// # Errors
    ///
    /// If the folder that the user typed is itself such an output and is not read, or if the system fails.
    pub(in crate::plan) fn leave_out(&mut self, inputs: Vec<Input>) -> Result<Vec<Input>, PlanError> {
        let mut others: Vec<Input> = Vec::with_capacity(inputs.len());
        for input in inputs {
            // Inputs are sorted. One in the same folder as the last input that was kept is kept without
            // a test, except if exports are read: only some files of their folders are kept.
            let is_next = |last: &Input| !self.reads_exports && last.is_next_to(&input);
            if others.last().is_some_and(is_next) || !self.holds(&input)? {
                others.push(input);
            }
        }
        Ok(others)
    }

    /// Returns whether an input is in an output and is left out, and counts it there.
    fn holds(&mut self, input: &Input) -> Result<bool, PlanError> {
        for (depth, folder) in input.folders().enumerate() {
            if !self.folders.contains_key(&folder) {
                let found = self.recognise(&folder, input, depth)?;
                if found.is_some() {
                    self.found.push(folder.clone());
                }
                self.folders.insert(folder.clone(), found);
            }
            if let Some(Some(found)) = self.folders.get_mut(&folder) {
                let is_rows = found.rows.as_ref().is_some_and(|rows| {
                    let path = input.path();
                    path.strip_prefix(&folder).is_ok_and(|below| rows.contains(below))
                });
                found.passed += u64::from(!is_rows);
                return Ok(!is_rows);
            }
        }
        Ok(false)
    }

    /// Returns the output that a folder is, if it is one. `depth` counts from the folder that the user typed.
    fn recognise(
        &self,
        folder: &Path,
        input: &Input,
        depth: usize,
    ) -> Result<Option<OutputFolder>, PlanError> {
        let kind = match own_output(folder) {
            Ok(kind) => kind,
            Err(DatasetError::Io { source, .. }) => {
                return Err(Failure::new("look into", folder, &source).into());
            }
            // A folder that cannot be opened could not be listed either, and is itself a refused input.
            Err(_) => None,
        };
        let Some(kind) = kind else { return Ok(None) };
        let rows = (kind == OwnOutput::Export && self.reads_exports).then(|| rows_of(folder));
        let shown = input.shown_folder(depth);
        if depth == 0 && rows.is_none() {
            return Err(PlanError::OwnOutput { path: shown, kind });
        }
        Ok(Some(OutputFolder {
            kind,
            shown,
            rows,
            passed: 0,
        }))
    }

    /// Returns a note for each output with files that were left out.
    pub(in crate::plan) fn notes(&self) -> Vec<String> {
        let found = self
            .found
            .iter()
            .filter_map(|folder| self.folders.get(folder)?.as_ref());
        let notes = found.filter(|found| found.passed > 0).map(|found| {
            let OutputFolder { kind, shown, .. } = found;
            match &found.rows {
                None => format!("`{shown}` is {kind} of chatmill and is left out"),
                Some(_) => format!(
                    "`{shown}` is {kind} of chatmill: its files of rows are read, the others are skipped"
                ),
            }
        });
        notes.collect()
    }
}

/// Returns the paths of an export's files of rows from its summary; none if that cannot be read.
fn rows_of(folder: &Path) -> BTreeSet<PathBuf> {
    let summary = read_small(&folder.join(EXPORT_SUMMARY), MAX_SUMMARY);
    let summary = summary
        .ok()
        .and_then(|text| serde_json::from_str::<Summary>(&text).ok());
    let files = summary.map(|summary| summary.files).unwrap_or_default();
    files.into_iter().map(|file| file.name).collect()
}
