//! The work directory: a private folder for unfinished work, with a mark file, in which every entry was created by chatmill.
//!
//! Why: docs/decisions/2026-11-22-staging-marker-file.md.

use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;

use chatmill_diag::faults::Call;
use rustix::fs;
use rustix::io::Errno;
use rustix::process::geteuid;

use super::call::call;
use super::dir::{Dir, DirEntry, EntryKind, PRIVATE_FOLDER, USUAL_FILE};
use crate::error::DatasetError;

/// The name of the mark file.
pub(crate) const MARK: &str = ".chatmill-staging";

/// The text of the mark file, for people who open it.
const MARK_TEXT: &[u8] =
    b"chatmill keeps unfinished work in this folder and removes it itself.\nKeep nothing of your own here.\n";

/// The permissions of users other than the owner.
const OF_OTHERS: fs::RawMode = 0o077;

/// The location of a work directory, which need not exist.
#[derive(Clone, Debug)]
pub(crate) struct WorkDirLocation {
    /// The parent folder.
    pub(crate) above: Arc<Dir>,
    pub(crate) name: OsString,
    pub(crate) is_ours: IsOurs,
}

/// Whether chatmill creates an entry below a work directory, which is given by its path from there. The mark file need
/// not be known.
pub(crate) type IsOurs = fn(&DirEntry) -> bool;

/// A folder with the mark, in an open parent folder.
#[derive(Debug)]
pub(crate) struct WorkDir {
    place: WorkDirLocation,
    dir: Arc<Dir>,
}

impl WorkDirLocation {
    /// Opens the work directory and creates it where it is missing.
    ///
    /// A link, a folder of another user, a folder without the mark and one with foreign entries are [`DatasetError::WrongPath`]; nothing is touched then.
    pub(crate) fn take(&self) -> Result<WorkDir, DatasetError> {
        let Self { above, name, .. } = self;
        if let Some(work_dir) = self.find()? {
            return Ok(work_dir);
        }
        if !above.make_new(name, PRIVATE_FOLDER)? {
            return Err(DatasetError::wrong_path(
                &above.at(name),
                "another process has just created it; run again",
            ));
        }
        self.furnish().inspect_err(|_| {
            // At this moment the folder holds at most the mark. If it cannot be removed, the next run finds it empty
            // and takes it.
            let unmade = above.enter(name).and_then(|dir| dir.remove_file(MARK));
            drop(unmade.and_then(|()| above.remove_empty(name)));
        })
    }

    fn furnish(&self) -> Result<WorkDir, DatasetError> {
        let dir = self.above.enter(&self.name)?;
        let mut mark = dir.create(MARK, USUAL_FILE)?;
        mark.write_all(MARK_TEXT)
            .and_then(|()| mark.sync())
            .map_err(|source| DatasetError::io("write", &dir.at(MARK), source))?;
        dir.sync()?;
        self.above.sync()?;
        Ok(self.work_dir(dir))
    }

    /// Opens the work directory if it exists; refuses what [`take`](Self::take) refuses.
    pub(crate) fn find(&self) -> Result<Option<WorkDir>, DatasetError> {
        let Some((work_dir, is_open)) = self.open_if_ours()? else {
            return Ok(None);
        };
        work_dir.refuse_strangers(&work_dir.dir, "")?;
        if is_open {
            work_dir.shut()?;
        }
        Ok(Some(work_dir))
    }

    /// Opens the work directory if it exists and chatmill created it, whatever it contains.
    pub(crate) fn open(&self) -> Result<Option<WorkDir>, DatasetError> {
        Ok(self.open_if_ours()?.map(|(work_dir, _)| work_dir))
    }

    /// Opens the work directory if chatmill created it; the flag is true where other users may read it.
    fn open_if_ours(&self) -> Result<Option<(WorkDir, bool)>, DatasetError> {
        let Self { above, name, .. } = self;
        let refused = |reason: &str| {
            let reason = format!("{reason}; move it away or choose another destination");
            DatasetError::wrong_path(&above.at(name), reason)
        };
        match above.stat(name)?.map(|stat| stat.kind()) {
            None => return Ok(None),
            Some(EntryKind::Folder) => {}
            Some(EntryKind::File | EntryKind::Other) => {
                return Err(refused(
                    "chatmill needs a folder of this name, and it is not a folder",
                ));
            }
        }
        let dir = above.enter(name)?;
        let (own, folder) = (dir.stat_self()?, above.stat_self()?);
        // Some file systems report the owner of the parent folder for every file.
        if own.0.st_uid != geteuid().as_raw() && own.0.st_uid != folder.0.st_uid {
            return Err(refused("it belongs to another user"));
        }
        let mark = dir.stat(MARK)?.map(|stat| stat.kind());
        if mark != Some(EntryKind::File) {
            // A process that was killed before it wrote the mark, or after it removed it, leaves an empty folder.
            if mark.is_none() && above.remove_empty(name)? {
                return Ok(None);
            }
            return Err(refused(
                "chatmill needs a folder of this name, and this one was not made by chatmill",
            ));
        }
        Ok(Some((self.work_dir(dir), own.0.st_mode & OF_OTHERS != 0)))
    }

    fn work_dir(&self, dir: Dir) -> WorkDir {
        let place = self.clone();
        WorkDir {
            place,
            dir: Arc::new(dir),
        }
    }
}

impl WorkDir {
    /// Removes the work of a published run, and the folder if no other work is in it.
    pub(crate) fn tidy(&self, fingerprint: &str) -> Result<(), DatasetError> {
        self.remove(fingerprint)?;
        self.leave()
    }

    /// Removes the permissions of other users.
    fn shut(&self) -> Result<(), DatasetError> {
        let shut = call(Call::Folder, || fs::fchmod(self.dir.handle(), PRIVATE_FOLDER));
        match shut {
            // A file system without permissions has none to remove.
            Err(error)
                if !matches!(
                    Errno::from_io_error(&error),
                    Some(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS)
                ) =>
            {
                Err(DatasetError::io("shut", self.dir.path(), error))
            }
            _ => Ok(()),
        }
    }

    /// Refuses foreign entries below a folder of the work directory; `prefix` is the path of that folder.
    fn refuse_strangers(&self, folder: &Dir, prefix: &str) -> Result<(), DatasetError> {
        let mut strangers = folder.find_below(&mut |entry| {
            let entry = DirEntry {
                name: format!("{prefix}{}", entry.name),
                ..entry.clone()
            };
            let is_mark = entry.name == MARK && entry.kind == EntryKind::File;
            !is_mark && (entry.kind == EntryKind::Other || !(self.place.is_ours)(&entry))
        })?;
        strangers.truncate(1);
        strangers.pop().map_or(Ok(()), |stranger| {
            let reason = format!(
                "{prefix}{} in the work folder was not made by chatmill; move it away",
                stranger.name
            );
            Err(DatasetError::wrong_path(self.dir.path(), reason))
        })
    }

    /// The open folder.
    pub(crate) fn dir(&self) -> &Arc<Dir> {
        &self.dir
    }

    /// Removes a file or folder in the work directory with its content; refuses to where it holds foreign entries.
    pub(crate) fn remove(&self, name: &str) -> Result<(), DatasetError> {
        let kind = self.dir.stat(name)?.map(|stat| stat.kind());
        if kind == Some(EntryKind::Folder) {
            self.refuse_strangers(&self.dir.enter(name)?, &format!("{name}/"))?;
        }
        self.dir.remove_all(name)
    }

    /// Removes the work directory if it holds only the mark.
    pub(crate) fn leave(&self) -> Result<(), DatasetError> {
        if self.dir.list()?.iter().all(|entry| entry.name == MARK) {
            self.dir.remove_file(MARK)?;
            self.place.above.remove_empty(&self.place.name)?;
        }
        Ok(())
    }
}
