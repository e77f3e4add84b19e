//! The manifest: the list of a dataset's contents. Nothing in it depends on the time, the host or the place of the run.
//! Sealing writes it, last and with a marker that contains its hash; every reader of a dataset begins with it.

mod format;
mod inputs;
pub mod overview;
mod shards;
mod spread;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use chatmill_diag::{Ledger, RowLedger};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::format::FORMAT;
pub use self::inputs::Inputs;
pub use self::shards::ShardEntry;
pub(crate) use self::shards::{SHARD_MANIFESTS, all_files, order, shard_file_name, shard_of, shard_path};
pub use self::spread::{Spread, SpreadTotals};
pub(crate) use self::tables::TableSums;
pub use self::tables::{PartEntry, TableEntry};
use crate::disk::Hashed;
use crate::disk::{self, Dir};
use crate::error::{DatasetError, or_corruption};
use crate::tables::part_file::{self, PartFile};

/// The name of the program in the manifest, which identifies a folder as a dataset of chatmill.
pub const PROGRAM: &str = "chatmill";
/// The file name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// The name of the marker, which contains the hash of the manifest.
pub(crate) const SUCCESS: &str = "_SUCCESS";
/// The name of the record about derived files.
pub const RECORD: &str = ".derived.json";
/// The files that are derived from the tables and not certified.
pub const DERIVED: [&str; 4] = ["README.md", "report.html", "report.json", "run.json"];

/// The maximum length of a manifest, in bytes: that of two million inputs.
const MANIFEST_BYTES: u64 = 2 << 30;
/// The length of a marker, in bytes: a hash in hexadecimal and a line break.
const MARKER_BYTES: u64 = 65;

/// The manifest of a dataset.
///
/// A writer may pass its inputs as any type `I` that serialises as a sequence of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest<I = Inputs> {
    /// Always [`PROGRAM`].
    pub program: String,
    /// Version of the program.
    pub version: String,
    /// The [`FORMAT`] of the program that wrote it.
    #[serde(default = "first_format")]
    pub format: u32,
    /// The hash of everything that decides the bytes of the dataset.
    pub fingerprint: String,
    /// The normalised plan.
    pub plan: Value,
    /// The shards of the inputs in order, each with the file that lists its part files; the last one is for files that
    /// belong to no slice.
    #[serde(rename = "lots", default, deserialize_with = "shards::read_shards")]
    pub shards: Vec<ShardEntry>,
    /// The inputs in order.
    pub inputs: I,
    /// The tables in registry order.
    pub tables: Vec<TableEntry>,
    /// The tables that the request leaves out, in registry order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_tables: Vec<String>,
    /// Sums over the whole run.
    pub totals: Value,
    /// Whether every input's ledger balances.
    pub ledger_balanced: bool,
    /// The verdict of the run.
    pub verdict: String,
    /// Names of the files that are derived from the tables and not certified.
    pub derived: Vec<String>,
}

/// The first format in which shard manifests list the files.
const FIRST_WITH_SHARD_MANIFESTS: u32 = 7;

const fn first_format() -> u32 {
    1
}

/// One input of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputEntry {
    /// Name of the input.
    pub path: String,
    /// Length of the raw file in bytes.
    pub bytes: u64,
    /// BLAKE3 of the raw bytes, in hexadecimal; `None` for a refused input.
    pub hash: Option<String>,
    /// The number of its section of inputs, from 0, where sections matter for the conversations.
    #[serde(default, skip_serializing_if = "chatmill_diag::is_zero")]
    pub section: u64,
    /// The code of the finding for which the input was refused unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether the stored bytes are the decoded ones: the input is not packed, not in another encoding, and not read
    /// out of order.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plain: bool,
    /// Entries that were read to their end: the input file itself, or members of an archive.
    pub entries: u64,
    /// The source that read it; `None` where no source could.
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
    /// The outcome of the rows of accepted records.
    #[serde(default)]
    pub rows: RowLedger,
    /// Rows of the conversations table.
    pub conversations: u64,
    /// Rows of the findings table.
    pub findings: u64,
    /// Errors among its findings.
    #[serde(default, skip_serializing_if = "chatmill_diag::is_zero")]
    pub errors: u64,
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
    /// Files, and members of archives, that are not chats or that the request leaves out, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_files: BTreeMap<String, u64>,
    /// Records left out by the request, by the key of `[select]` that left them out, or by `dedup.exact` or `dedup.near`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub filtered_by: BTreeMap<String, u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(is_so: &bool) -> bool {
    !is_so
}

impl InputEntry {
    /// The numbers of rejected records and of errors, by which reports sort the inputs.
    pub fn problems(&self) -> (u64, u64) {
        (self.rejected, self.errors)
    }

    /// Whether the input was refused as a whole: no source reads it, or it cannot be opened.
    pub fn is_refused(&self) -> bool {
        self.source.is_none() && self.rejected > 0
    }

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

impl<I> Manifest<I> {
    /// All part files, read from the manifests of the shards one by one; in older formats, from this manifest.
    pub(crate) fn files<'m>(
        &'m self,
        folder: &'m Dir,
    ) -> Box<dyn Iterator<Item = Result<PartFile, DatasetError>> + 'm> {
        if self.format >= FIRST_WITH_SHARD_MANIFESTS {
            return Box::new(all_files(folder, &self.shards));
        }
        Box::new(self.tables.iter().flat_map(|table| {
            table.files.iter().map(|file| {
                Ok(PartFile {
                    table: table.name.clone(),
                    path: file.path.clone(),
                    rows: file.rows,
                    bytes: file.bytes,
                    hash: file.hash.clone(),
                })
            })
        }))
    }

    /// Whether the manifest lists a table.
    pub fn has(&self, table: &str) -> bool {
        self.tables.iter().any(|entry| entry.name == table)
    }
}

impl<I: Serialize> Manifest<I> {
    /// Writes the manifest into a folder, and the marker with its hash.
    pub(crate) fn write(&self, folder: &Dir, temp: &Dir) -> Result<(), DatasetError> {
        self.write_within(MANIFEST_BYTES, folder, temp)
    }

    fn write_within(&self, limit: u64, folder: &Dir, temp: &Dir) -> Result<(), DatasetError> {
        let mut marker = String::new();
        folder.replace_with(MANIFEST, (temp, MANIFEST), &mut |file| {
            let mut out = BufWriter::new(Hashed::new(file));
            serde_json::to_writer_pretty(&mut out, self)?;
            out.write_all(b"\n")?;
            out.flush()?;
            let hasher = &out.get_ref().hasher;
            if hasher.count() > limit {
                // It could not be read back.
                return Err(io::Error::from(io::ErrorKind::FileTooLarge));
            }
            marker = marker_of(hasher);
            Ok(())
        })?;
        folder.replace(SUCCESS, marker.as_bytes(), temp)
    }
}

impl Manifest {
    /// Whether the plan allows texts and names from chats to be quoted.
    pub fn quotes(&self) -> bool {
        self.plan.pointer("/output/quote").and_then(Value::as_bool) != Some(false)
    }

    /// Refuses a dataset with a format version that this program does not read.
    pub(crate) fn check_format(&self, out: &Path) -> Result<(), DatasetError> {
        if self.format == FORMAT {
            return Ok(());
        }
        Err(DatasetError::Format {
            path: out.to_owned(),
            format: self.format,
            read: FORMAT,
            version: self.version.clone(),
        })
    }
}

/// Reads the manifest of a finished dataset and checks it against the marker. The tables are not read;
/// [`certify`](crate::certify) does that.
pub fn read_manifest(out: &Path) -> Result<Manifest, DatasetError> {
    read_from(&open_folder(out)?, out)
}

/// Opens the folder of a dataset by the path that the user typed.
pub(crate) fn open_folder(out: &Path) -> Result<Dir, DatasetError> {
    let opened = disk::resolve(out).and_then(|whole| Dir::open(&whole));
    opened.map_err(|error| match error {
        DatasetError::Io { source, .. }
            if matches!(
                source.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
            ) =>
        {
            DatasetError::wrong_path(out, "there is no such folder")
        }
        DatasetError::Corrupt { .. } => DatasetError::wrong_path(out, "it is not a folder"),
        other => other,
    })
}

/// Reads the manifest from an open folder; `out` is its name in errors.
pub(crate) fn read_from(folder: &Dir, out: &Path) -> Result<Manifest, DatasetError> {
    let path = out.join(MANIFEST);
    let Some(found) = find(folder, &path)? else {
        return Err(DatasetError::wrong_path(
            out,
            format!("it is not a dataset, it has no {MANIFEST}"),
        ));
    };
    if !found.is_marked(folder)? {
        return Err(DatasetError::corrupt(
            &path,
            format!("{SUCCESS} does not hold its hash"),
        ));
    }
    let manifest = found.manifest?;
    manifest.check_format(out)?;
    Ok(manifest)
}

/// A manifest that was found in a folder.
pub(crate) struct FoundManifest {
    /// The parsed manifest, in which every path is below the dataset's folder; an error where the manifest is corrupt.
    pub(crate) manifest: Result<Manifest, DatasetError>,
    /// The text that the marker must contain.
    marker: String,
}

impl FoundManifest {
    /// Whether the marker of the folder contains the hash of these bytes.
    pub(crate) fn is_marked(&self, folder: &Dir) -> Result<bool, DatasetError> {
        let marker = or_corruption(folder.read_small(SUCCESS, MARKER_BYTES))?;
        Ok(marker.is_ok_and(|marker| marker.as_deref() == Some(self.marker.as_bytes())))
    }
}

/// Reads the manifest of a folder once, to its end, as a stream; `None` where the folder has none. `path` is its name in errors.
///
/// # Errors
///
/// Where the file cannot be read, is not a regular file, or is larger than a manifest can be. Corruption of its text is
/// reported in [`FoundManifest::manifest`].
pub(crate) fn find(folder: &Dir, path: &Path) -> Result<Option<FoundManifest>, DatasetError> {
    find_within(MANIFEST_BYTES, folder, path)
}

fn find_within(limit: u64, folder: &Dir, path: &Path) -> Result<Option<FoundManifest>, DatasetError> {
    let Some(file) = folder.read_file(MANIFEST)? else {
        return Ok(None);
    };
    let too_long = || DatasetError::corrupt(path, format!("it has more than {limit} bytes"));
    if file.length() > limit {
        return Err(too_long());
    }
    let mut bytes = BufReader::new(Hashed::new(file.take(limit.saturating_add(1))));
    let unreadable = |source| DatasetError::io("read", path, source);
    let parsed = serde_json::from_reader(&mut bytes);
    // The hash covers all bytes, even where the JSON ends early.
    io::copy(&mut bytes, &mut io::sink()).map_err(unreadable)?;
    let hasher = &bytes.get_ref().hasher;
    if hasher.count() > limit {
        return Err(too_long());
    }
    let manifest = match parsed {
        Err(error) if error.is_io() => return Err(unreadable(error.into())),
        Err(error) => Err(DatasetError::corrupt(path, error.to_string())),
        Ok(manifest) => checked(path, manifest),
    };
    let marker = marker_of(hasher);
    Ok(Some(FoundManifest { manifest, marker }))
}

/// Refuses a manifest that another program wrote, or that lists files that no run writes.
fn checked(path: &Path, manifest: Manifest) -> Result<Manifest, DatasetError> {
    if manifest.program != PROGRAM {
        let reason = format!("it was not written by {PROGRAM}");
        return Err(DatasetError::corrupt(path, reason));
    }
    match misplaced(&manifest) {
        None => Ok(manifest),
        Some(problem) => Err(DatasetError::corrupt(path, problem)),
    }
}

/// The first problem with the names of tables and files: each must be a name that a run gives, and be listed only once.
fn misplaced(manifest: &Manifest) -> Option<String> {
    let mut seen = BTreeSet::new();
    let listed = manifest.tables.iter().map(|table| &table.name);
    for table in listed.chain(&manifest.absent_tables) {
        if crate::tables::find(table).is_none() {
            return Some(format!("it lists an unknown table {table}"));
        }
        if !seen.insert(table.as_str()) {
            return Some(format!("it lists the table {table} twice"));
        }
    }
    manifest.tables.iter().find_map(|table| {
        table.files.iter().find_map(|file| {
            if !part_file::is_part_of(&table.name, &file.path) {
                Some(format!("it lists {} as a file of {}", file.path, table.name))
            } else if !seen.insert(file.path.as_str()) {
                Some(format!("it lists {} twice", file.path))
            } else {
                None
            }
        })
    })
}

/// The contents of the marker for a manifest that was hashed.
fn marker_of(manifest: &blake3::Hasher) -> String {
    format!("{}\n", manifest.finalize().to_hex())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests create folders")]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_of_the_limit_is_written_and_read_and_one_byte_more_is_not() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Dir::open(scratch.path()).unwrap();
        let path = scratch.path().join(MANIFEST);
        let manifest: Manifest = Manifest {
            program: PROGRAM.to_owned(),
            ..Manifest::default()
        };
        let length = serde_json::to_string_pretty(&manifest).unwrap().len() as u64 + 1;
        assert!(manifest.write_within(length - 1, &folder, &folder).is_err());
        assert!(find_within(length, &folder, &path).unwrap().is_none());
        manifest.write_within(length, &folder, &folder).unwrap();
        let found = find_within(length, &folder, &path).unwrap().unwrap();
        assert_eq!(found.manifest.unwrap(), manifest);
        let refused = find_within(length - 1, &folder, &path).err().unwrap().to_string();
        assert!(refused.contains("more than"), "{refused}");
    }
}
