//! The files that are derived from the tables. They are written by chatmill but not certified, and an edited one is kept.
//!
//! A record in the folder holds the hash with which each file was written. While a new file is written, the record
//! holds the old and the new hash, so that a kill at any moment leaves no file that would look edited.
//!
//! Why: docs/decisions/2026-11-22-edited-reports-are-kept.md.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use crate::disk::{self, Dir, EntryKind, Lock};
use crate::error::{DatasetError, or_corruption};
use crate::manifest::{DERIVED, RECORD};

/// The maximum length of the record, in bytes: it holds a few names and hashes.
const RECORD_BYTES: u64 = 1 << 20;

/// The hashes of each file, by its name.
type Record = BTreeMap<String, BTreeSet<String>>;

/// Writes files of a published dataset that are derived from its tables and not certified ([`DERIVED`]). Each appears
/// whole or the old one remains. Where one was edited, the error is [`DatasetError::WrongPath`] and nothing is changed.
pub fn write_derived(folder: &Path, files: &[(&str, &[u8])]) -> Result<(), DatasetError> {
    let whole = disk::resolve(folder)?;
    let (Some(above), Some(name)) = (whole.parent(), whole.file_name()) else {
        return Err(DatasetError::wrong_path(
            folder,
            "it is not a folder of a dataset",
        ));
    };
    let (folder, above) = (Dir::open(&whole)?, Arc::new(Dir::open(above)?));
    let _lock = Lock::beside(&above, name)?;
    above.remove_temp_files(|wanted| wanted == stem(&folder))?;
    // The temporary files are next to the dataset: one that remained inside would be a file that the manifest does not list.
    write(&folder, &above, files)
}

/// The stem of the temporary names: the name of the dataset, because the folder above may hold several datasets.
fn stem(folder: &Dir) -> Cow<'_, str> {
    folder.path().file_name().unwrap_or_default().to_string_lossy()
}

/// Writes derived files into an open folder; `temp` is in the same file system.
pub(crate) fn write(folder: &Dir, temp: &Dir, files: &[(&str, &[u8])]) -> Result<(), DatasetError> {
    if let Some((unknown, _)) = files.iter().find(|(name, _)| !DERIVED.contains(name)) {
        return Err(DatasetError::corrupt(
            &folder.at(unknown),
            "no derived file has this name",
        ));
    }
    let mut record = read(folder)?;
    refuse_edited_of(folder, &record, files.iter().map(|(name, _)| *name))?;
    for (name, bytes) in files {
        let hashes = record.entry((*name).to_owned()).or_default();
        hashes.insert(hash(bytes));
    }
    save(folder, temp, &record)?;
    for (name, bytes) in files {
        replace(folder, temp, name, bytes)?;
        record.insert((*name).to_owned(), BTreeSet::from([hash(bytes)]));
    }
    save(folder, temp, &record)
}

/// Refuses a dataset with derived files that were edited.
pub(crate) fn refuse_edited(folder: &Dir) -> Result<(), DatasetError> {
    refuse_edited_of(folder, &read(folder)?, DERIVED.into_iter())
}

fn refuse_edited_of<'n>(
    folder: &Dir,
    record: &Record,
    mut names: impl Iterator<Item = &'n str>,
) -> Result<(), DatasetError> {
    names.try_for_each(|name| {
        let is_edited = match folder.stat(name)?.map(|stat| stat.kind()) {
            None => false,
            Some(EntryKind::File) => {
                let found = folder.measure(name)?.map(|measure| measure.hash);
                let known = record.get(name);
                found.is_some_and(|found| !known.is_some_and(|known| known.contains(&found)))
            }
            Some(_) => true,
        };
        if is_edited {
            let reason = "it is not as chatmill wrote it, and would be lost; move it away or delete it, then run again";
            return Err(DatasetError::wrong_path(&folder.at(name), reason));
        }
        Ok(())
    })
}

/// Reads the record of a folder; it is empty where the file is missing or cannot be parsed.
fn read(folder: &Dir) -> Result<Record, DatasetError> {
    let bytes = or_corruption(folder.read_small(RECORD, RECORD_BYTES))?
        .ok()
        .flatten();
    // A file without a hash counts as edited, so nothing is lost.
    Ok(bytes
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default())
}

fn save(folder: &Dir, temp: &Dir, record: &Record) -> Result<(), DatasetError> {
    let path = folder.at(RECORD);
    let mut text = serde_json::to_vec_pretty(record)
        .map_err(|error| DatasetError::corrupt(&path, format!("it cannot be written as JSON: {error}")))?;
    text.push(b'\n');
    replace(folder, temp, RECORD, &text)
}

fn replace(folder: &Dir, temp: &Dir, name: &str, bytes: &[u8]) -> Result<(), DatasetError> {
    folder.replace_with(name, (temp, &stem(folder)), &mut |file| file.write_all(bytes))
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
