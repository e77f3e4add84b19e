//! A folder of files for other programs, for example an export: it appears whole, by one rename, or not at all.
//!
//! It is not a dataset: it has no manifest and no certificate, and it cannot be resumed. An existing folder at the
//! destination is replaced only if the caller knows every name in it.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::disk::{self, Dir, DirEntry, DiskFile, EntryKind, FileMeasure, Hashed, Lock, WorkDir};
use crate::error::DatasetError;
use crate::publish::destination::{Destination, Occupant};

/// The folder that gets the destination's name.
const FILES: &str = "files";

/// An unfinished folder. If it is dropped before [`publish`](Self::publish), nothing remains.
#[derive(Debug)]
pub struct Folder {
    /// The names in an earlier folder that is replaced; empty where none is.
    replaced: BTreeSet<String>,
    destination: Destination,
    work_dir: WorkDir,
    files: Dir,
    /// Held but never read; freed after everything else.
    _lock: Lock,
}

impl Folder {
    /// Begins a folder at a path that is free or an empty folder.
    pub fn create(out: &Path) -> Result<Self, DatasetError> {
        Self::create_over(out, BTreeSet::new())
    }

    /// Begins a folder that replaces an existing one when it is published, provided that the old one holds only these names.
    pub fn create_over(out: &Path, replaced: BTreeSet<String>) -> Result<Self, DatasetError> {
        let destination = Destination::locate(out)?;
        let lock = destination.lock()?;
        // Remains of a killed process are removed even if the process had already published.
        let work_dir = destination.work_dir_location("unfinished", is_ours).take()?;
        match refuse_occupied(&destination, out, &replaced).and_then(|()| begin(&work_dir)) {
            Ok(files) => Ok(Self {
                replaced,
                destination,
                work_dir,
                files,
                _lock: lock,
            }),
            Err(error) => {
                give_up(&work_dir);
                Err(error)
            }
        }
    }

    /// The path at which the folder will appear.
    pub fn out(&self) -> &Path {
        &self.destination.out
    }

    /// Begins a file in the folder.
    pub fn file(&self, name: &str) -> Result<FolderFile, DatasetError> {
        let path = self.files.at(name);
        if name.starts_with('.') || name.contains(['/', '\\']) {
            return Err(DatasetError::wrong_path(
                &path,
                "this cannot be the name of a file",
            ));
        }
        let file = self.files.create(name, disk::USUAL_FILE)?;
        Ok(FolderFile::of(path, file))
    }

    /// Renames a finished file of the folder; the new name must be free.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), DatasetError> {
        if self.files.stat(to)?.is_some() {
            return Err(DatasetError::wrong_path(
                &self.files.at(to),
                "another file has this name",
            ));
        }
        self.files.rename_only(from, &self.files, to)
    }

    /// Publishes the folder at its destination.
    pub fn publish(self) -> Result<(), DatasetError> {
        self.files.sync()?;
        self.destination
            .publish_files(self.work_dir.dir(), FILES, &self.replaced)
    }
}

/// Refuses a destination that is not free and holds names which may not be replaced.
fn refuse_occupied(
    destination: &Destination,
    out: &Path,
    replaced: &BTreeSet<String>,
) -> Result<(), DatasetError> {
    let reason = match destination.inspect()? {
        Occupant::Nothing => return Ok(()),
        Occupant::Foreign(names) if !replaced.is_empty() => {
            return destination.refuse_unknown(&names, replaced);
        }
        Occupant::Dataset { .. } => "it is a dataset; choose a folder that does not exist",
        Occupant::Foreign(_) => "it is not empty; remove it or choose a folder that does not exist",
    };
    Err(DatasetError::wrong_path(out, reason))
}

/// Removes the files of a killed export and begins a new folder.
fn begin(work_dir: &WorkDir) -> Result<Dir, DatasetError> {
    work_dir.remove(FILES)?;
    work_dir.dir().make(FILES, disk::USUAL_FOLDER)
}

impl Drop for Folder {
    fn drop(&mut self) {
        give_up(&self.work_dir);
    }
}

/// Removes unfinished files. Those that cannot be removed now are removed when the next export begins.
fn give_up(work_dir: &WorkDir) {
    let removed = || work_dir.remove(FILES).and_then(|()| work_dir.leave());
    drop(removed().or_else(|_| removed()));
}

/// Whether an entry of the folder for unfinished work is one that an export creates there.
fn is_ours(entry: &DirEntry) -> bool {
    match (entry.kind, entry.name.split_once('/')) {
        (EntryKind::Folder, None) => entry.name == FILES,
        (EntryKind::File, Some((folder, name))) => folder == FILES && !name.contains('/'),
        _ => false,
    }
}

/// A file of an unfinished folder.
#[derive(Debug)]
pub struct FolderFile {
    path: PathBuf,
    file: Hashed<BufWriter<DiskFile>>,
}

impl FolderFile {
    /// A file that was just created and will have this path.
    pub(crate) fn of(path: PathBuf, file: DiskFile) -> Self {
        Self {
            path,
            file: Hashed::new(BufWriter::new(file)),
        }
    }

    /// Appends bytes.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), DatasetError> {
        self.write_all(bytes)
            .map_err(|source| DatasetError::io("write", &self.path, source))
    }

    /// Closes the file and returns its length and its hash.
    pub fn finish(mut self) -> Result<FileMeasure, DatasetError> {
        self.file
            .flush()
            .and_then(|()| self.file.inner.get_ref().sync())
            .map_err(|source| DatasetError::io("sync", &self.path, source))?;
        Ok(FileMeasure::of(&self.file.hasher))
    }

    /// The number of bytes that were appended so far.
    pub fn bytes(&self) -> u64 {
        self.file.hasher.count()
    }

    /// The path of the file while it is written.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Write for FolderFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use std::fs;

    use super::Folder;
    use crate::error::DatasetError;

    fn names(folder: &std::path::Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_appears_with_all_its_files() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let folder = Folder::create(&out).unwrap();
        let mut file = folder.file("train.jsonl").unwrap();
        file.add(b"{}\n").unwrap();
        let measure = file.finish().unwrap();
        assert!(!out.exists());
        folder.publish().unwrap();
        assert_eq!(fs::read(out.join("train.jsonl")).unwrap(), b"{}\n");
        assert_eq!(
            (measure.bytes, measure.hash),
            (3, blake3::hash(b"{}\n").to_hex().to_string())
        );
        assert_eq!(names(place.path()), ["out"]);
    }

    #[test]
    fn a_folder_that_is_given_up_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::create(&place.path().join("out")).unwrap();
        folder.file("train.jsonl").unwrap().add(b"half").unwrap();
        drop(folder);
        assert!(names(place.path()).is_empty());
    }

    #[test]
    fn an_existing_entry_is_refused_and_stays() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        fs::create_dir(&out).unwrap();
        fs::write(out.join("mine.txt"), "mine").unwrap();
        let refused = Folder::create(&out).unwrap_err();
        assert!(matches!(refused, DatasetError::WrongPath { .. }), "{refused}");
        assert_eq!(names(&out), ["mine.txt"]);
    }

    fn write(folder: &Folder, name: &str, text: &[u8]) {
        let mut file = folder.file(name).unwrap();
        file.add(text).unwrap();
        file.finish().unwrap();
    }

    #[test]
    fn a_folder_takes_the_place_of_one_whose_names_are_known_and_of_no_other() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let known = || ["a".to_owned(), "b".to_owned()].into();
        for text in [b"first", b"later"] {
            let folder = Folder::create_over(&out, known()).unwrap();
            write(&folder, "a", text);
            folder.publish().unwrap();
            assert_eq!(fs::read(out.join("a")).unwrap(), text);
        }
        let folder = Folder::create_over(&out, known()).unwrap();
        write(&folder, "a", b"never");
        fs::write(out.join("mine.txt"), "mine").unwrap();
        let refused = [
            folder.publish().unwrap_err(),
            Folder::create_over(&out, known()).unwrap_err(),
        ];
        for refused in refused {
            assert!(refused.to_string().contains("mine.txt"), "{refused}");
        }
        assert_eq!(fs::read(out.join("a")).unwrap(), b"later");
        assert_eq!(names(place.path()), ["out"]);
    }

    #[test]
    fn a_file_cannot_leave_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::create(&place.path().join("out")).unwrap();
        for name in ["../up", "a/b", ".hidden", "a\\b"] {
            assert!(folder.file(name).is_err(), "{name}");
        }
    }
}
