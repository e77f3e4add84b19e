//! A report file at a path that the user chose: it appears whole, or the former file stays.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::dir::{Dir, EntryKind, USUAL_FILE};
use super::file::DiskFile;
use super::place::{above, resolve, stat_target};
use crate::error::DatasetError;

/// A report in the making. Clones write to the same file; dropped before [`finish`](Self::finish), it leaves nothing.
#[derive(Clone, Debug)]
pub struct ReportFile(Arc<Unfinished>);

#[derive(Debug)]
struct Unfinished {
    folder: Dir,
    name: String,
    temp_name: String,
    file: DiskFile,
    is_finished: AtomicBool,
}

/// Begins the file of a report at a requested path, in place of an older one.
///
/// A link, a folder and anything else that is not a regular file are [`DatasetError::WrongPath`], and so is a
/// path that leads to one of `inputs`, by whatever names, or into one.
pub fn create_report(shown: &Path, inputs: &[&Path]) -> Result<ReportFile, DatasetError> {
    let Some(name) = shown.file_name().and_then(|name| name.to_str()) else {
        return Err(DatasetError::wrong_path(shown, "it does not name a file"));
    };
    let opened = resolve(above(shown)).and_then(|above| Dir::open(&above));
    let folder = opened.map_err(|error| match error {
        DatasetError::Io { source, .. } => DatasetError::io("write", shown, source),
        other => other,
    })?;
    let there = folder.stat(name)?;
    let reason = match there.map(|there| there.kind()) {
        None | Some(EntryKind::File) => None,
        Some(EntryKind::Folder) => Some("it is a folder"),
        Some(EntryKind::Other) => Some("it is a link or no regular file; name the file itself"),
    };
    if let Some(reason) = reason {
        return Err(DatasetError::wrong_path(shown, reason));
    }
    let itself = folder.stat_self()?;
    for input in inputs {
        let Some(input) = stat_target(input)? else {
            continue;
        };
        if there.is_some_and(|there| there.is_same(&input)) {
            return Err(DatasetError::wrong_path(shown, "it is one of the inputs"));
        }
        if itself.is_same(&input) {
            return Err(DatasetError::wrong_path(shown, "it lies in one of the inputs"));
        }
    }
    let (temp_name, file) = folder.create_temp(name, USUAL_FILE)?;
    Ok(ReportFile(Arc::new(Unfinished {
        folder,
        name: name.to_owned(),
        temp_name,
        file,
        is_finished: AtomicBool::new(false),
    })))
}

impl ReportFile {
    /// Whether both would get the same name.
    pub fn is_of(&self, other: &Self) -> bool {
        self.0.folder.path() == other.0.folder.path() && self.0.name == other.0.name
    }

    /// Gives the file its name. Buffered bytes must have been written before.
    pub fn finish(&self) -> Result<(), DatasetError> {
        let Unfinished {
            folder,
            name,
            temp_name,
            file,
            is_finished,
        } = &*self.0;
        file.sync()
            .map_err(|source| DatasetError::io("write", &folder.at(name), source))?;
        folder.rename_only(temp_name, folder, name)?;
        is_finished.store(true, Ordering::Relaxed);
        folder.sync()
    }
}

impl Write for ReportFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.file.clone().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_finished.load(Ordering::Relaxed) {
            self.folder.clear_away(&self.temp_name);
        }
    }
}
