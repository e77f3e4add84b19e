//! The manifest: what a dataset consists of. Nothing in it depends on time, host or place.

use std::collections::BTreeMap;
use std::path::Path;

use chatmill_diag::{Ledger, RowLedger};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::durable;
use crate::error::DatasetError;
use crate::parts::PartFile;
use crate::tables::TABLES;

/// The program's name in the manifest, by which a folder is recognised as a dataset of ours.
pub const PROGRAM: &str = "chatmill";
/// The manifest's file name.
pub const MANIFEST: &str = "manifest.json";
/// The name of the marker that holds the manifest's hash.
pub const SUCCESS: &str = "_SUCCESS";
/// Files that are derived from the tables and not certified.
pub const DERIVED: [&str; 4] = ["README.md", "report.html", "report.json", "run.json"];

/// The contents of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`PROGRAM`].
    pub program: String,
    /// Version of the program.
    pub version: String,
    /// Hash of all that decides the bytes of the dataset.
    pub fingerprint: String,
    /// The normalised plan.
    pub plan: Value,
    /// The inputs in order.
    pub inputs: Vec<InputEntry>,
    /// The tables in registry order.
    pub tables: Vec<TableEntry>,
    /// Sums over the whole run.
    pub totals: Value,
    /// Whether every input's ledger balances.
    pub ledger_balanced: bool,
    /// How the run ended.
    pub verdict: String,
    /// Names of the files that are derived from the tables and not certified.
    pub derived: Vec<String>,
}

/// One input of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputEntry {
    /// Name of the input.
    pub path: String,
    /// Length of the raw file in bytes.
    pub bytes: u64,
    /// BLAKE3 of the raw bytes, in hexadecimal.
    pub hash: String,
    /// The source that read it; none when no source could.
    pub source: Option<String>,
    /// Records cut from it.
    pub framed: u64,
    /// Records that became conversations.
    pub accepted: u64,
    /// Records in the rejects table.
    pub rejected: u64,
    /// Records left out by the request.
    pub filtered: u64,
    /// Rows outside the request, never framed.
    #[serde(default)]
    pub skipped: u64,
    /// What became of the rows of accepted records.
    #[serde(default)]
    pub rows: RowLedger,
    /// Rows of the conversations table.
    pub conversations: u64,
    /// Rows of the findings table.
    pub findings: u64,
    /// Bytes of its decoded streams.
    pub decoded_bytes: u64,
    /// Bytes of accepted records.
    pub accepted_bytes: u64,
    /// Bytes of rejected records.
    pub rejected_bytes: u64,
    /// Bytes of records left out by the request.
    pub filtered_bytes: u64,
    /// Bytes between records.
    pub separator_bytes: u64,
    /// Bytes of rows outside the request.
    #[serde(default)]
    pub skipped_bytes: u64,
    /// Rows outside the request, by table.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_tables: BTreeMap<String, u64>,
    /// Records left out by the request, by the key of `[select]` that left them out, or by `dedup.exact` or `dedup.near`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub filtered_by: BTreeMap<String, u64>,
}

impl InputEntry {
    /// The counts as a ledger.
    pub fn ledger(&self) -> Ledger {
        Ledger {
            framed: self.framed,
            accepted: self.accepted,
            rejected: self.rejected,
            filtered: self.filtered,
            decoded_bytes: self.decoded_bytes,
            accepted_bytes: self.accepted_bytes,
            rejected_bytes: self.rejected_bytes,
            filtered_bytes: self.filtered_bytes,
            separator_bytes: self.separator_bytes,
            skipped_bytes: self.skipped_bytes,
        }
    }

    /// Takes the counts of a ledger.
    pub fn set_ledger(&mut self, ledger: &Ledger) {
        self.framed = ledger.framed;
        self.accepted = ledger.accepted;
        self.rejected = ledger.rejected;
        self.filtered = ledger.filtered;
        self.decoded_bytes = ledger.decoded_bytes;
        self.accepted_bytes = ledger.accepted_bytes;
        self.rejected_bytes = ledger.rejected_bytes;
        self.filtered_bytes = ledger.filtered_bytes;
        self.separator_bytes = ledger.separator_bytes;
        self.skipped_bytes = ledger.skipped_bytes;
    }
}

/// One table of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    /// Name of the table.
    pub name: String,
    /// Its files, shorter paths first, then by their letters: those of a dialect stand together, by slice.
    pub files: Vec<PartEntry>,
}

/// One file of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// Path below the dataset's root, with forward slashes.
    pub path: String,
    /// Rows, as its footer says.
    pub rows: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
}

impl From<PartFile> for PartEntry {
    fn from(part: PartFile) -> Self {
        Self {
            path: part.path,
            rows: part.rows,
            bytes: part.bytes,
            hash: part.hash,
        }
    }
}

/// Sorts part files into their tables: one entry per known table, in registry order, its files by slice.
pub fn table_entries(parts: impl IntoIterator<Item = PartFile>) -> Vec<TableEntry> {
    let mut tables: Vec<TableEntry> = TABLES
        .iter()
        .map(|&name| TableEntry {
            name: name.to_owned(),
            files: Vec::new(),
        })
        .collect();
    for part in parts {
        if let Some(table) = tables.iter_mut().find(|table| table.name == part.table) {
            table.files.push(part.into());
        }
    }
    for table in &mut tables {
        table
            .files
            .sort_by(|one, other| (one.path.len(), &one.path).cmp(&(other.path.len(), &other.path)));
    }
    tables
}

impl Manifest {
    /// All files of all tables, in order.
    pub fn files(&self) -> impl Iterator<Item = &PartEntry> {
        self.tables.iter().flat_map(|table| &table.files)
    }

    pub(crate) fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// Reads the manifest of a finished dataset and checks it against its marker. The tables are not read: that is
/// [`certify`](crate::certify).
pub fn read_manifest(out: &Path) -> Result<Manifest, DatasetError> {
    let path = out.join(MANIFEST);
    let Some(bytes) = durable::read_if_there(&path)? else {
        return Err(DatasetError::wrong_path(
            out,
            format!("it is no dataset, it has no {MANIFEST}"),
        ));
    };
    let marker = durable::read_if_there(&out.join(SUCCESS))?;
    if marker.as_deref() != Some(marker_of(&bytes).as_bytes()) {
        return Err(DatasetError::corrupt(
            &path,
            format!("{SUCCESS} does not hold its hash"),
        ));
    }
    parse(&path, &bytes)
}

pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Manifest, DatasetError> {
    let manifest: Manifest =
        serde_json::from_slice(bytes).map_err(|error| DatasetError::corrupt(path, error.to_string()))?;
    if manifest.program == PROGRAM {
        Ok(manifest)
    } else {
        Err(DatasetError::corrupt(
            path,
            format!("it was not written by {PROGRAM}"),
        ))
    }
}

/// The contents of the marker for a manifest of these bytes.
pub(crate) fn marker_of(manifest: &[u8]) -> String {
    format!("{}\n", blake3::hash(manifest).to_hex())
}
