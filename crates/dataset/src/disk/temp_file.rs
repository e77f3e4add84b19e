//! Temporary files: a file that must appear whole is written under a random name, synced and renamed.

use std::io::{self, Write};

use rustix::fs::Mode;

use super::dir::{Dir, EntryKind, USUAL_FILE};
use super::file::DiskFile;
use super::temp_name::{is_temp_file_of, new_temp_name};
use crate::error::DatasetError;

/// The number of random names that are tried before the error is reported.
const MAX_TRIES: usize = 16;

impl Dir {
    /// Creates a file under a random name, which may be renamed to `wanted` later.
    pub(crate) fn create_temp(&self, wanted: &str, mode: Mode) -> Result<(String, DiskFile), DatasetError> {
        let mut tries = 0;
        loop {
            let name = new_temp_name(wanted);
            match self.try_create(&name, mode) {
                Ok(file) => return Ok((name, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < MAX_TRIES => tries += 1,
                Err(source) => return Err(DatasetError::io("create", &self.at(&name), source)),
            }
        }
    }

    /// Writes a file so that `name` holds either all of it or its former content. The unfinished file is in `temp`.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8], temp: &Self) -> Result<(), DatasetError> {
        self.replace_with(name, (temp, name), &mut |file| file.write_all(bytes))
    }

    /// Replaces a file with the bytes that `write` writes. The unfinished file has a temporary name with this stem, in
    /// the given folder.
    pub(crate) fn replace_with(
        &self,
        name: &str,
        (temp, stem): (&Self, &str),
        write: &mut dyn FnMut(&mut DiskFile) -> io::Result<()>,
    ) -> Result<(), DatasetError> {
        let (unfinished, mut file) = temp.create_temp(stem, USUAL_FILE)?;
        let replaced = write(&mut file)
            .and_then(|()| file.sync())
            .map_err(|source| DatasetError::io("write", &self.at(name), source))
            .and_then(|()| temp.rename(&unfinished, self, name));
        if replaced.is_err() {
            temp.clear_away(&unfinished);
        }
        replaced
    }

    /// Removes an unfinished file after an error, which the caller reports.
    pub(crate) fn clear_away(&self, name: &str) {
        let removed = self.remove_file(name).or_else(|_| self.remove_file(name));
        // The first error is the one to report; the next process that takes the lock removes the file that remains.
        drop(removed);
    }

    /// Removes the temporary files that a killed process left for names that are ours. The caller holds the lock under
    /// which they are created.
    pub(crate) fn remove_temp_files(&self, is_ours: impl Fn(&str) -> bool) -> Result<(), DatasetError> {
        let mut left = Vec::new();
        self.each(&mut |entry| {
            if entry.kind != EntryKind::Folder && is_temp_file_of(&entry.name, &is_ours) {
                left.push(entry.own);
            }
            Ok(())
        })?;
        left.iter().try_for_each(|name| self.remove_file(name))
    }
}
