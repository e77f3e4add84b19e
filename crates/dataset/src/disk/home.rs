//! A folder of ours for unfinished work. It has a mark, is seen by nobody else, and holds names of our making only.
//!
//! Why: docs/decisions/2026-11-22-unfinished-work-bears-a-mark.md.

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

/// The name of the mark.
pub(crate) const MARK: &str = ".chatmill-staging";

/// What stands in the mark, for whoever finds it.
const MARK_TEXT: &[u8] =
    b"chatmill keeps unfinished work in this folder and removes it itself.\nKeep nothing of your own here.\n";

/// The permissions that nobody but the owner needs.
const OF_OTHERS: fs::RawMode = 0o077;

/// Where such a folder is, or would be.
#[derive(Clone, Debug)]
pub(crate) struct HomePlace {
    /// The folder in which it lies.
    pub(crate) above: Arc<Dir>,
    pub(crate) name: OsString,
    pub(crate) is_ours: IsOurs,
}

/// Whether an entry below a home, by its path from there, is of our making. The mark need not be known.
pub(crate) type IsOurs = fn(&DirEntry) -> bool;

/// A marked folder in another one.
#[derive(Debug)]
pub(crate) struct Home {
    place: HomePlace,
    dir: Dir,
}

impl HomePlace {
    /// Opens the home, after making it where there is none.
    ///
    /// A link, a folder of another user, one without the mark or with anything in it that is not of our making is
    /// [`DatasetError::WrongPath`], and nothing is touched.
    pub(crate) fn take(&self) -> Result<Home, DatasetError> {
        let Self { above, name, .. } = self;
        if let Some(home) = self.find()? {
            return Ok(home);
        }
        if !above.make_new(name, PRIVATE_FOLDER)? {
            return Err(DatasetError::wrong_path(
                &above.at(name),
                "somebody made it just now; run again",
            ));
        }
        self.furnish().inspect_err(|_| {
            // It holds the mark at most; what cannot be removed is taken for an empty folder the next time.
            let unmade = above.enter(name).and_then(|dir| dir.remove_file(MARK));
            drop(unmade.and_then(|()| above.remove_empty(name)));
        })
    }

    fn furnish(&self) -> Result<Home, DatasetError> {
        let dir = self.above.enter(&self.name)?;
        let mut mark = dir.create(MARK, USUAL_FILE)?;
        mark.write_all(MARK_TEXT)
            .and_then(|()| mark.sync())
            .map_err(|source| DatasetError::io("write", &dir.at(MARK), source))?;
        dir.sync()?;
        self.above.sync()?;
        Ok(self.home(dir))
    }

    /// Opens the home if there is one; refuses as [`take`](Self::take) does.
    pub(crate) fn find(&self) -> Result<Option<Home>, DatasetError> {
        let Some((home, is_open)) = self.look_into()? else {
            return Ok(None);
        };
        home.refuse_strangers(&home.dir, "")?;
        if is_open {
            home.shut()?;
        }
        Ok(Some(home))
    }

    /// Opens the home if there is one and it is of our making, whatever is in it.
    pub(crate) fn open(&self) -> Result<Option<Home>, DatasetError> {
        Ok(self.look_into()?.map(|(home, _)| home))
    }

    /// Opens the home if it is of our making; says whether others may look into it.
    fn look_into(&self) -> Result<Option<(Home, bool)>, DatasetError> {
        let Self { above, name, .. } = self;
        let refused = |reason: &str| {
            let reason = format!("{reason}; move it away or choose another destination");
            DatasetError::wrong_path(&above.at(name), reason)
        };
        match above.look(name)?.map(|look| look.kind()) {
            None => return Ok(None),
            Some(EntryKind::Folder) => {}
            Some(EntryKind::File | EntryKind::Other) => {
                return Err(refused("chatmill works in a folder of this name, and it is none"));
            }
        }
        let dir = above.enter(name)?;
        let (own, folder) = (dir.look_at_itself()?, above.look_at_itself()?);
        // Some file systems say that everything is whose the folder above is.
        if own.0.st_uid != geteuid().as_raw() && own.0.st_uid != folder.0.st_uid {
            return Err(refused("it belongs to another user"));
        }
        let mark = dir.look(MARK)?.map(|look| look.kind());
        if mark != Some(EntryKind::File) {
            // A kill before the mark was written, or after it was removed, leaves an empty folder.
            if mark.is_none() && above.remove_empty(name)? {
                return Ok(None);
            }
            return Err(refused(
                "chatmill works in a folder of this name, and did not make this one",
            ));
        }
        Ok(Some((self.home(dir), own.0.st_mode & OF_OTHERS != 0)))
    }

    fn home(&self, dir: Dir) -> Home {
        let place = self.clone();
        Home { place, dir }
    }
}

impl Home {
    /// Removes what a published run leaves here, and the folder itself when nobody else's work is in it.
    pub(crate) fn tidy(&self, fingerprint: &str) -> Result<(), DatasetError> {
        self.remove(fingerprint)?;
        self.leave()
    }

    /// Takes the permissions of others away.
    fn shut(&self) -> Result<(), DatasetError> {
        let shut = call(Call::Folder, || fs::fchmod(self.dir.handle(), PRIVATE_FOLDER));
        match shut {
            // A file system without permissions has none to take away.
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

    /// Refuses what is not of our making below a folder of the home, whose path from there is `prefix`.
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
                "chatmill works in this folder, and did not put {prefix}{} there; move it away",
                stranger.name
            );
            Err(DatasetError::wrong_path(self.dir.path(), reason))
        })
    }

    /// The folder itself.
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Removes a file or folder in the home with all it holds, or nothing where somebody put something into it.
    pub(crate) fn remove(&self, name: &str) -> Result<(), DatasetError> {
        let kind = self.dir.look(name)?.map(|look| look.kind());
        if kind == Some(EntryKind::Folder) {
            self.refuse_strangers(&self.dir.enter(name)?, &format!("{name}/"))?;
        }
        self.dir.remove_all(name)
    }

    /// Removes the home where nothing but the mark is in it.
    pub(crate) fn leave(&self) -> Result<(), DatasetError> {
        if self.dir.list()?.iter().all(|entry| entry.name == MARK) {
            self.dir.remove_file(MARK)?;
            self.place.above.remove_empty(&self.place.name)?;
        }
        Ok(())
    }
}
