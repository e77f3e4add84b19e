//! Files and folders that survive a crash: every step is synced and every error surfaces with its path.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parquet::file::metadata::ParquetMetaDataReader;

use crate::error::DatasetError;

/// What a file holds, as read back from the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    /// Length in bytes.
    pub(crate) bytes: u64,
    /// BLAKE3 of the bytes, in hexadecimal.
    pub(crate) hash: String,
}

/// Creates the file of a report that somebody asked to have at this very path, in place of an older one.
pub fn create_report(path: &Path) -> Result<impl Write + Send + use<>, DatasetError> {
    File::create(path).map_err(|source| DatasetError::io("write", path, source))
}

/// Reads a file once and measures it.
pub(crate) fn measure(path: &Path) -> Result<Measure, DatasetError> {
    let mut hasher = blake3::Hasher::new();
    File::open(path)
        .and_then(|file| hasher.update_reader(file).map(|_| ()))
        .map_err(|source| DatasetError::io("read", path, source))?;
    Ok(Measure {
        bytes: hasher.count(),
        hash: hasher.finalize().to_hex().to_string(),
    })
}

/// Reads the number of rows from a Parquet file's footer.
pub(crate) fn footer_rows(path: &Path) -> Result<u64, DatasetError> {
    let file = File::open(path).map_err(|source| DatasetError::io("read", path, source))?;
    let footer = ParquetMetaDataReader::new()
        .parse_and_finish(&file)
        .map_err(|error| DatasetError::parquet("read", path, error))?;
    u64::try_from(footer.file_metadata().num_rows())
        .map_err(|_| DatasetError::corrupt(path, "its footer names a negative number of rows"))
}

/// Reads a whole small file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, DatasetError> {
    fs::read(path).map_err(|source| DatasetError::io("read", path, source))
}

/// Reads a whole small file; none when it does not exist.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, DatasetError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(DatasetError::io("read", path, source)),
    }
}

/// Writes a file so that `target` holds all of it or does not change: write `temp`, sync, rename, sync the folder.
pub(crate) fn write(temp: &Path, target: &Path, bytes: &[u8]) -> Result<(), DatasetError> {
    File::create(temp)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .map_err(|source| DatasetError::io("write", temp, source))?;
    rename(temp, target)
}

/// Renames a synced file and syncs the folder it comes to.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), DatasetError> {
    fs::rename(from, to).map_err(|source| DatasetError::io("rename", from, source))?;
    match to.parent() {
        Some(folder) => sync_folder(folder),
        None => Ok(()),
    }
}

/// Makes the names in a folder survive a crash.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), DatasetError> {
    // Folders cannot be opened as files elsewhere; there the file system orders renames itself.
    if cfg!(unix) {
        File::open(folder)
            .and_then(|handle| handle.sync_all())
            .map_err(|source| DatasetError::io("sync", folder, source))?;
    }
    Ok(())
}

/// Creates a folder and those above it that are missing, so that they survive a crash.
pub(crate) fn create_folder(folder: &Path) -> Result<(), DatasetError> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|above| !above.exists()).collect();
    fs::create_dir_all(folder).map_err(|source| DatasetError::io("create", folder, source))?;
    missing
        .iter()
        .filter_map(|made| made.parent())
        .try_for_each(sync_folder)
}

/// Removes a file; it need not exist.
pub(crate) fn remove_file(path: &Path) -> Result<(), DatasetError> {
    absent_is_fine(fs::remove_file(path)).map_err(|source| DatasetError::io("remove", path, source))
}

/// Removes a file or a folder with all it holds; it need not exist. Links are removed, not followed.
pub(crate) fn remove_all(path: &Path) -> Result<(), DatasetError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    absent_is_fine(removed).map_err(|source| DatasetError::io("remove", path, source))
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// The path below the listed folder, with forward slashes.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What it is.
    pub(crate) kind: EntryKind,
}

/// What a name in a folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKind {
    File,
    Folder,
    /// A link, pipe, socket or device.
    Other,
}

/// Lists the names in a folder, sorted.
pub(crate) fn list(folder: &Path) -> Result<Vec<Entry>, DatasetError> {
    let mut entries = fs::read_dir(folder)
        .and_then(|names| {
            names
                .map(|name| name.and_then(|name| entry(&name)))
                .collect::<io::Result<Vec<_>>>()
        })
        .map_err(|source| DatasetError::io("list", folder, source))?;
    entries.sort();
    Ok(entries)
}

fn entry(found: &fs::DirEntry) -> io::Result<Entry> {
    let kind = found.file_type()?;
    Ok(Entry {
        name: found.file_name().to_string_lossy().into_owned(),
        path: found.path(),
        kind: if kind.is_file() {
            EntryKind::File
        } else if kind.is_dir() {
            EntryKind::Folder
        } else {
            EntryKind::Other
        },
    })
}

/// Lists everything below a folder, folders before what they hold; links are not followed.
pub(crate) fn walk(folder: &Path) -> Result<Vec<Entry>, DatasetError> {
    let mut found = Vec::new();
    let mut open = list(folder)?;
    while let Some(entry) = open.pop() {
        if entry.kind == EntryKind::Folder {
            let below = list(&entry.path)?;
            open.extend(below.into_iter().map(|inner| Entry {
                name: format!("{}/{}", entry.name, inner.name),
                ..inner
            }));
        }
        found.push(entry);
    }
    found.sort();
    Ok(found)
}
