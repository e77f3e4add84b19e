//! A report file at a path that the user chose: it appears whole, or the former file remains.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::disk::{self, Dir, DiskFile, EntryKind, Lock};
use crate::error::DatasetError;
use crate::publish::guard;

/// An unfinished report. Clones write to the same file; if it is dropped before [`finish`](Self::finish), nothing remains.
#[derive(Clone, Debug)]
pub struct ReportFile(Arc<Unfinished>);

#[derive(Debug)]
struct Unfinished {
    shown: PathBuf,
    folder: Arc<Dir>,
    name: String,
    temp_name: String,
    file: DiskFile,
    is_finished: AtomicBool,
    /// Held but never read; freed after everything else.
    _lock: Lock,
}

/// Begins a report file at a requested path, under its lock. It replaces an older report, and the remains of a killed
/// process that wrote the same report are removed.
///
/// A link, a folder and anything else that is not a regular file are [`DatasetError::WrongPath`], and so are a path
/// that leads to or into one of `inputs`, by any name and at any depth, and a path inside another output of chatmill.
pub fn create_report(shown: &Path, inputs: &[&Path]) -> Result<ReportFile, DatasetError> {
    let Some(name) = shown.file_name().and_then(|name| name.to_str()) else {
        return Err(DatasetError::wrong_path(shown, "it does not name a file"));
    };
    let opened = disk::resolve(disk::above(shown)).and_then(|above| Dir::open(&above));
    let folder = Arc::new(opened.map_err(|error| match error {
        DatasetError::Io { source, .. } => DatasetError::io("write", shown, source),
        other => other,
    })?);
    let there = folder.stat(name)?;
    let reason = match there.map(|there| there.kind()) {
        None | Some(EntryKind::File) => None,
        Some(EntryKind::Folder) => Some("it is a folder"),
        Some(EntryKind::Other) => Some("it is a link or no regular file; name the file itself"),
    };
    if let Some(reason) = reason {
        return Err(DatasetError::wrong_path(shown, reason));
    }
    let lineage = folder.lineage()?;
    for input in inputs {
        let Some(input) = disk::stat_target(input)? else {
            continue;
        };
        if there.is_some_and(|there| there.is_same(&input)) {
            return Err(DatasetError::wrong_path(shown, "it is one of the inputs"));
        }
        if lineage.iter().any(|above| above.is_same(&input)) {
            return Err(DatasetError::wrong_path(shown, "it lies in one of the inputs"));
        }
    }
    guard::refuse_inside(shown, &folder)?;
    let lock = Lock::beside(&folder, name)?;
    folder.remove_temp_files(|wanted| wanted == name)?;
    let (temp_name, file) = folder.create_temp(name, disk::USUAL_FILE)?;
    Ok(ReportFile(Arc::new(Unfinished {
        shown: shown.to_owned(),
        folder,
        name: name.to_owned(),
        temp_name,
        file,
        is_finished: AtomicBool::new(false),
        _lock: lock,
    })))
}

impl ReportFile {
    /// Whether a path leads to the same file name in the same folder.
    pub fn is_at(&self, shown: &Path) -> bool {
        let Unfinished { folder, name, .. } = &*self.0;
        let is_in = |above: PathBuf| above == folder.path();
        shown.file_name() == Some(name.as_ref()) && disk::resolve(disk::above(shown)).is_ok_and(is_in)
    }

    /// Gives the file its name. Buffered bytes must have been written before.
    pub fn finish(&self) -> Result<(), DatasetError> {
        let Unfinished {
            shown,
            folder,
            name,
            temp_name,
            file,
            is_finished,
            ..
        } = &*self.0;
        file.sync()
            .map_err(|source| DatasetError::io("write", &folder.at(name), source))?;
        // The folder may have been moved into another one while the report was written.
        guard::refuse_inside(shown, folder)?;
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
