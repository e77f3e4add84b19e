//! An open folder. Its entries are opened relative to the handle, and links are not followed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use chatmill_diag::faults::Call;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::call::{call, if_there};
use super::file::{DiskFile, FileMeasure};
use super::temp_name::new_temp_name;
use crate::error::DatasetError;

/// The flags for opening a folder.
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// The flags for opening a file for reading; opening a pipe does not block until it has a writer.
const READ: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
/// The flags for creating a file.
const CREATE: OFlags = OFlags::RDWR
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The mode of a file that all users may read, before the umask.
pub(crate) const USUAL_FILE: Mode = Mode::from_raw_mode(0o666);
/// The mode of a folder that all users may read, before the umask.
pub(crate) const USUAL_FOLDER: Mode = Mode::from_raw_mode(0o777);
/// The mode of a file that only its owner may use.
pub(crate) const PRIVATE_FILE: Mode = Mode::from_raw_mode(0o600);
/// The mode of a folder that only its owner may use.
pub(crate) const PRIVATE_FOLDER: Mode = Mode::from_raw_mode(0o700);

/// An open folder.
#[derive(Debug)]
pub(crate) struct Dir {
    handle: OwnedFd,
    path: PathBuf,
}

/// The metadata of an entry, from `stat`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryStat(pub(super) Stat);

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DirEntry {
    /// The path below the listed folder, with forward slashes; parts that are not Unicode are replaced.
    pub(crate) name: String,
    /// The kind of this entry.
    pub(crate) kind: EntryKind,
    /// The last component of the path, unchanged.
    pub(super) own: OsString,
}

/// The kind of an entry in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKind {
    File,
    Folder,
    /// A link, pipe, socket or device.
    Other,
}

impl EntryKind {
    fn of(found: FileType) -> Self {
        match found {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            _ => Self::Other,
        }
    }
}

impl EntryStat {
    /// The metadata of an open handle.
    pub(super) fn at(handle: impl AsFd, path: &Path) -> Result<Self, DatasetError> {
        let found = call(Call::Stat, || fs::fstat(&handle));
        found
            .map(Self)
            .map_err(|source| DatasetError::io("look at", path, source))
    }

    pub(crate) fn kind(&self) -> EntryKind {
        EntryKind::of(FileType::from_raw_mode(self.0.st_mode))
    }

    /// Whether the entry is a link.
    pub(crate) fn is_link(&self) -> bool {
        FileType::from_raw_mode(self.0.st_mode) == FileType::Symlink
    }

    /// Length in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or_default()
    }

    /// Whether both are the same file or folder, even under different names.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.is_on_same_file_system(other) && self.0.st_ino == other.0.st_ino
    }

    /// Whether both are in the same file system.
    pub(crate) fn is_on_same_file_system(&self, other: &Self) -> bool {
        self.0.st_dev == other.0.st_dev
    }

    /// Whether the entry is a regular file of this length, in bytes.
    pub(crate) fn is_file_of(&self, bytes: u64) -> bool {
        self.kind() == EntryKind::File && self.bytes() == bytes
    }
}

impl Dir {
    /// Opens a folder by path; the last component must not be a link.
    pub(crate) fn open(path: &Path) -> Result<Self, DatasetError> {
        call(Call::Open, || fs::open(path, FOLDER, Mode::empty()))
            .map(|handle| Self {
                handle,
                path: path.to_owned(),
            })
            .map_err(|error| no_folder(path, error))
    }

    /// The path of this folder when it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of an entry in this folder, for messages.
    pub(crate) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Opens a folder in this one.
    pub(crate) fn enter(&self, name: impl AsRef<OsStr>) -> Result<Self, DatasetError> {
        let name = name.as_ref();
        self.step(name).map_err(|error| no_folder(&self.at(name), error))
    }

    /// Opens a folder in this one; `None` where it does not exist.
    pub(crate) fn find(&self, name: impl AsRef<OsStr>) -> Result<Option<Self>, DatasetError> {
        let name = name.as_ref();
        if_there(self.step(name)).map_err(|error| no_folder(&self.at(name), error))
    }

    fn step(&self, name: &OsStr) -> io::Result<Self> {
        let handle = call(Call::Open, || {
            fs::openat(&self.handle, name, FOLDER, Mode::empty())
        })?;
        Ok(Self {
            handle,
            path: self.at(name),
        })
    }

    /// Opens the parent folder of a path below this one and returns it with the last name of the path; `None` where a
    /// step is missing or is no folder.
    fn descend<'p>(&self, below: &'p str) -> Result<Option<(Self, &'p str)>, DatasetError> {
        let (folders, name) = below.rsplit_once('/').unwrap_or((".", below));
        let mut found: Option<Self> = None;
        for step in folders.split('/') {
            let here = found.as_ref().unwrap_or(self);
            match here.step(OsStr::new(step)) {
                Ok(next) => found = Some(next),
                Err(error) if error.kind() == io::ErrorKind::NotFound || leads_nowhere(&error) => {
                    return Ok(None);
                }
                Err(error) => return Err(DatasetError::io("open", &here.at(step), error)),
            }
        }
        Ok(found.map(|found| (found, name)))
    }

    /// The metadata of an entry in this folder; `None` where it does not exist.
    pub(crate) fn stat(&self, name: impl AsRef<OsStr>) -> Result<Option<EntryStat>, DatasetError> {
        let name = name.as_ref();
        let found = call(Call::Stat, || {
            fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
        });
        let found = if_there(found).map_err(|source| DatasetError::io("look at", &self.at(name), source))?;
        Ok(found.map(EntryStat))
    }

    /// Calls `ask` with the parent folder of a path below this one and the last name of the path; the default where a
    /// step is missing or is no folder.
    fn below<T: Default>(
        &self,
        path: &str,
        ask: impl FnOnce(&Self, &str) -> Result<T, DatasetError>,
    ) -> Result<T, DatasetError> {
        match self.descend(path)? {
            Some((folder, name)) => ask(&folder, name),
            None => Ok(T::default()),
        }
    }

    /// The metadata of a path below this folder; `None` where a step is missing or is no folder.
    pub(crate) fn stat_below(&self, path: &str) -> Result<Option<EntryStat>, DatasetError> {
        self.below(path, |folder, name| folder.stat(name))
    }

    /// Whether a path below this folder names a regular file of a known length.
    pub(crate) fn has_file(&self, path: &str, bytes: u64) -> Result<bool, DatasetError> {
        Ok(self
            .stat_below(path)?
            .is_some_and(|found| found.is_file_of(bytes)))
    }

    /// The metadata of this folder.
    pub(crate) fn stat_self(&self) -> Result<EntryStat, DatasetError> {
        EntryStat::at(&self.handle, &self.path)
    }

    /// The metadata of this folder and of all folders above it, from the nearest to the root.
    pub(crate) fn lineage(&self) -> Result<Vec<EntryStat>, DatasetError> {
        let mut found = Vec::new();
        loop {
            match (self.stat(up(found.len()))?, found.last()) {
                // The parent of the root is the root, and a folder that was removed has no parent.
                (Some(above), Some(last)) if above.is_same(last) => return Ok(found),
                (None, _) => return Ok(found),
                (Some(above), _) => found.push(above),
            }
        }
    }

    /// Opens a regular file for reading; `None` where it does not exist.
    pub(crate) fn read_file(&self, name: impl AsRef<OsStr>) -> Result<Option<DiskFile>, DatasetError> {
        let name = name.as_ref();
        let path = self.at(name);
        let opened = call(Call::Open, || fs::openat(&self.handle, name, READ, Mode::empty()));
        let handle = match opened {
            Ok(handle) => handle,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if leads_nowhere(&error) => return Err(no_file(&path)),
            Err(source) => return Err(DatasetError::io("open", &path, source)),
        };
        let found = EntryStat::at(&handle, &path)?;
        match found.kind() {
            EntryKind::File => Ok(Some(DiskFile::of(handle, found.bytes()))),
            _ => Err(no_file(&path)),
        }
    }

    /// Opens a regular file of a known length, by its path below this folder.
    pub(crate) fn read_part(&self, path: &str, bytes: u64) -> Result<DiskFile, DatasetError> {
        match self.below(path, |folder, name| folder.read_file(name))? {
            Some(file) if file.length() == bytes => Ok(file),
            Some(file) => {
                let reason = format!("it has {} bytes instead of {bytes}", file.length());
                Err(DatasetError::corrupt(&self.at(path), reason))
            }
            None => Err(DatasetError::corrupt(&self.at(path), "it is missing")),
        }
    }

    /// Measures a regular file; `None` where it does not exist.
    pub(crate) fn measure(&self, name: &str) -> Result<Option<FileMeasure>, DatasetError> {
        let file = self.read_file(name)?;
        file.map(|file| file.measure(&self.at(name))).transpose()
    }

    /// Reads a whole regular file of at most `limit` bytes; `None` where it does not exist.
    pub(crate) fn read_small(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, DatasetError> {
        let Some(file) = self.read_file(name)? else {
            return Ok(None);
        };
        let path = self.at(name);
        let mut bytes = Vec::new();
        if file.length() <= limit {
            file.take(limit + 1)
                .read_to_end(&mut bytes)
                .map_err(|source| DatasetError::io("read", &path, source))?;
            if bytes.len() as u64 <= limit {
                return Ok(Some(bytes));
            }
        }
        Err(DatasetError::corrupt(
            &path,
            format!("it has more than {limit} bytes"),
        ))
    }

    /// Creates a file of exactly this name; an entry that has it is an error.
    pub(crate) fn create(&self, name: &str, mode: Mode) -> Result<DiskFile, DatasetError> {
        self.try_create(name, mode)
            .map_err(|source| DatasetError::io("create", &self.at(name), source))
    }

    pub(super) fn try_create(&self, name: &str, mode: Mode) -> io::Result<DiskFile> {
        let handle = call(Call::Create, || fs::openat(&self.handle, name, CREATE, mode))?;
        Ok(DiskFile::of(handle, 0))
    }

    /// Creates a link `name` to another name in this folder, replacing a file or link of that name.
    pub(crate) fn link(&self, name: &str, target: &str) -> Result<(), DatasetError> {
        let temp = new_temp_name(name);
        call(Call::Create, || {
            fs::symlinkat(target, &self.handle, temp.as_str())
        })
        .map_err(|source| DatasetError::io("create", &self.at(name), source))?;
        self.rename(&temp, self, name)
            .inspect_err(|_| self.clear_away(&temp))
    }

    /// Renames a synced file or folder, and syncs the folder that receives it.
    pub(crate) fn rename(
        &self,
        from: impl AsRef<OsStr>,
        to: &Self,
        name: impl AsRef<OsStr>,
    ) -> Result<(), DatasetError> {
        self.rename_only(from, to, name)?;
        to.sync()
    }

    /// Renames without syncing.
    pub(crate) fn rename_only(
        &self,
        from: impl AsRef<OsStr>,
        to: &Self,
        name: impl AsRef<OsStr>,
    ) -> Result<(), DatasetError> {
        let (from, name) = (from.as_ref(), name.as_ref());
        call(Call::Rename, || {
            fs::renameat(&self.handle, from, &to.handle, name)
        })
        .map_err(|source| DatasetError::io("rename", &self.at(from), source))
    }

    /// Exchanges two names in one step.
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    pub(crate) fn exchange(&self, one: &OsStr, there: &Self, other: &OsStr) -> io::Result<()> {
        use rustix::fs::RenameFlags;
        call(Call::Rename, || {
            fs::renameat_with(&self.handle, one, &there.handle, other, RenameFlags::EXCHANGE)
        })
    }

    /// Fails: this system cannot exchange two names in one step.
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    pub(crate) fn exchange(&self, _one: &OsStr, _there: &Self, _other: &OsStr) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Syncs the folder, so that the names in it survive a crash.
    pub(crate) fn sync(&self) -> Result<(), DatasetError> {
        call(Call::Sync, || fs::fsync(&self.handle))
            .map_err(|source| DatasetError::io("sync", &self.path, source))
    }

    /// Opens a folder in this one and creates it where it is missing, so that it survives a crash.
    pub(crate) fn make(&self, name: impl AsRef<OsStr>, mode: Mode) -> Result<Self, DatasetError> {
        let name = name.as_ref();
        if self.make_new(name, mode)? {
            self.sync()?;
        }
        self.enter(name)
    }

    /// Creates a folder; true where it did not exist before.
    pub(crate) fn make_new(&self, name: &OsStr, mode: Mode) -> Result<bool, DatasetError> {
        match call(Call::Folder, || fs::mkdirat(&self.handle, name, mode)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(source) => Err(DatasetError::io("create", &self.at(name), source)),
        }
    }

    /// Opens the folder at a path below this one, creating missing folders.
    pub(crate) fn make_below(&self, path: &str) -> Result<Self, DatasetError> {
        let mut steps = path.split('/');
        let first = self.make(steps.next().unwrap_or_default(), USUAL_FOLDER)?;
        steps.try_fold(first, |folder, step| folder.make(step, USUAL_FOLDER))
    }

    /// The names in this folder, sorted.
    pub(crate) fn list(&self) -> Result<Vec<DirEntry>, DatasetError> {
        let mut entries = Vec::new();
        self.each(&mut |entry| {
            entries.push(entry);
            Ok(())
        })?;
        entries.sort();
        Ok(entries)
    }

    /// Visits the names in this folder, unsorted and without collecting them: there may be millions.
    pub(crate) fn each(
        &self,
        visit: &mut dyn FnMut(DirEntry) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        let failed = |source| DatasetError::io("list", &self.path, source);
        let mut entries = call(Call::List, || fs::Dir::read_from(&self.handle)).map_err(failed)?;
        loop {
            let Some(entry) = call(Call::List, || entries.next().transpose()).map_err(failed)? else {
                return Ok(());
            };
            let own = OsStr::from_bytes(entry.file_name().to_bytes());
            if own == "." || own == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not report the kind of an entry in a listing.
                FileType::Unknown => self.stat(own)?.map_or(EntryKind::Other, |stat| stat.kind()),
                known => EntryKind::of(known),
            };
            visit(DirEntry {
                name: own.to_string_lossy().into_owned(),
                kind,
                own: own.to_owned(),
            })?;
        }
    }

    /// Visits everything below this folder: folders before their contents, otherwise in no particular order.
    pub(crate) fn walk(
        &self,
        visit: &mut dyn FnMut(DirEntry) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        let mut open: Vec<(Vec<OsString>, String)> = vec![(Vec::new(), String::new())];
        // A folder is opened only for its listing: a hostile tree may have more levels than a process may hold handles.
        while let Some((steps, prefix)) = open.pop() {
            let mut inner: Option<Self> = None;
            for step in &steps {
                inner = Some(inner.as_ref().unwrap_or(self).enter(step)?);
            }
            inner.as_ref().unwrap_or(self).each(&mut |entry| {
                let name = format!("{prefix}{}", entry.name);
                if entry.kind == EntryKind::Folder {
                    let below = steps.iter().chain([&entry.own]).cloned().collect();
                    open.push((below, format!("{name}/")));
                }
                visit(DirEntry { name, ..entry })
            })?;
        }
        Ok(())
    }

    /// All entries below this folder for which `is_wanted` is true, sorted.
    pub(crate) fn find_below(
        &self,
        is_wanted: &mut dyn FnMut(&DirEntry) -> bool,
    ) -> Result<Vec<DirEntry>, DatasetError> {
        let mut found = Vec::new();
        self.walk(&mut |entry| {
            if is_wanted(&entry) {
                found.push(entry);
            }
            Ok(())
        })?;
        found.sort();
        Ok(found)
    }

    /// Removes a file, or a link but not its target; it need not exist.
    pub(crate) fn remove_file(&self, name: impl AsRef<OsStr>) -> Result<(), DatasetError> {
        let name = name.as_ref();
        match call(Call::Remove, || {
            fs::unlinkat(&self.handle, name, AtFlags::empty())
        }) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(DatasetError::io("remove", &self.at(name), error))
            }
            _ => Ok(()),
        }
    }

    /// Removes a file by its path below this folder; it need not exist.
    pub(crate) fn remove_below(&self, path: &str) -> Result<(), DatasetError> {
        self.below(path, |folder, name| folder.remove_file(name))
    }

    /// Removes an empty folder; true where it no longer exists.
    pub(crate) fn remove_empty(&self, name: impl AsRef<OsStr>) -> Result<bool, DatasetError> {
        let name = name.as_ref();
        let removed = call(Call::Remove, || {
            fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)
        });
        match removed {
            Ok(()) => Ok(true),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => Ok(true),
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => Ok(false),
                _ => Err(DatasetError::io("remove", &self.at(name), error)),
            },
        }
    }

    /// Removes a folder by its path below this one where it is empty; it need not exist.
    pub(crate) fn remove_empty_below(&self, path: &str) -> Result<(), DatasetError> {
        self.below(path, |folder, name| folder.remove_empty(name).map(drop))
    }

    /// Removes a file, or a folder with its content; it need not exist. The caller has checked the content.
    pub(crate) fn remove_all(&self, name: impl AsRef<OsStr>) -> Result<(), DatasetError> {
        let name = name.as_ref();
        match self.stat(name)?.map(|stat| stat.kind()) {
            None => Ok(()),
            Some(EntryKind::Folder) => {
                let folder = self.enter(name)?;
                for entry in folder.list()? {
                    folder.remove_all(&entry.own)?;
                }
                self.remove_empty(name).map(drop)
            }
            Some(EntryKind::File | EntryKind::Other) => self.remove_file(name),
        }
    }
}

/// The relative path to the folder `levels` above; 0 is the folder itself.
pub(crate) fn up(levels: usize) -> String {
    "../".repeat(levels) + "."
}

/// Whether an entry exists but cannot be opened, or followed as a folder.
fn leads_nowhere(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::LOOP | Errno::NOTDIR | Errno::NXIO | Errno::MLINK)
    )
}

fn no_file(path: &Path) -> DatasetError {
    DatasetError::corrupt(path, "it is not a regular file")
}

fn no_folder(path: &Path, error: io::Error) -> DatasetError {
    if leads_nowhere(&error) {
        DatasetError::corrupt(path, "it is not a folder, or a link to one")
    } else {
        DatasetError::io("open", path, error)
    }
}
