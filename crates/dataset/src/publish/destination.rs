//! The destination of a run: its path, its lock, the files that exist there, and publishing.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use crate::certify;
use crate::certify::audit;
use crate::disk::{self, Dir, EntryKind, IsOurs, Lock, WorkDirLocation};
use crate::error::{DatasetError, or_corruption};
use crate::manifest::{self, MANIFEST, Manifest, SUCCESS};
use crate::publish::{derived, guard};

/// The number of names that an error lists; further ones are counted.
const NAMES_SHOWN: usize = 8;

/// A destination at a path that can hold a dataset.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// The folder that appears by one rename, with its links resolved.
    pub(crate) out: PathBuf,
    parent: Arc<Dir>,
    name: OsString,
    /// Whether the caller chose the path; then it must not be inside another output of chatmill.
    is_chosen: bool,
}

/// The state of a destination before a run publishes there.
pub(crate) enum Occupant {
    /// The path is free, or is an empty folder.
    Nothing,
    /// A chatmill dataset, with its visible problems.
    Dataset {
        manifest: Box<Manifest>,
        problems: Vec<String>,
    },
    /// A folder of other files, with their names.
    Foreign(Vec<String>),
}

impl Destination {
    /// Resolves a destination, creates the folders above it, and refuses a path at which no folder can be created.
    pub(crate) fn locate(shown: &Path) -> Result<Self, DatasetError> {
        let whole = if disk::stat_link(shown).map_err(wrong_when_refused)?.is_none() {
            std::path::absolute(shown).map_err(|error| unusable(shown, error))?
        } else if disk::stat_target(shown).map_err(wrong_when_refused)?.is_none() {
            return Err(DatasetError::wrong_path(shown, "it is a link to nothing"));
        } else {
            disk::resolve(shown).map_err(wrong_when_refused)?
        };
        let (Some(parent), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(DatasetError::wrong_path(
                shown,
                "it does not name a folder; name a new one below it",
            ));
        };
        disk::create_folders(parent, &|above| guard::refuse_inside(shown, above))
            .map_err(wrong_when_refused)?;
        let parent = disk::resolve(parent)
            .and_then(|parent| Dir::open(&parent))
            .map_err(wrong_when_refused)?;
        guard::refuse_inside(shown, &parent).map_err(wrong_when_refused)?;
        let destination = Self::within(Arc::new(parent), name)?;
        Ok(Self {
            is_chosen: true,
            ..destination
        })
    }

    /// A destination with this name in an open folder, even if the path of that folder has changed. No link is followed.
    pub(crate) fn within(parent: Arc<Dir>, name: &OsStr) -> Result<Self, DatasetError> {
        let destination = Self {
            out: parent.at(name),
            parent,
            name: name.to_owned(),
            is_chosen: false,
        };
        destination.refuse_other_places()?;
        Ok(destination)
    }

    /// Refuses a destination that no folder can replace. A mount point is refused here because it cannot be renamed
    /// over, and a run would fail only at its end.
    fn refuse_other_places(&self) -> Result<(), DatasetError> {
        let Some(there) = self.parent.stat(&self.name).map_err(wrong_when_refused)? else {
            return Ok(());
        };
        if there.kind() != EntryKind::Folder {
            let reason = if there.is_link() {
                "it is a link"
            } else {
                "it is a file"
            };
            return Err(DatasetError::wrong_path(&self.out, reason));
        }
        if !there.is_on_same_file_system(&self.parent.stat_self()?) {
            return Err(DatasetError::wrong_path(
                &self.out,
                "it is a mount point; name a new folder below it",
            ));
        }
        Ok(())
    }

    /// The location of a folder for unfinished work: next to the destination, and therefore in the same file system.
    pub(crate) fn work_dir_location(&self, suffix: &str, is_ours: IsOurs) -> WorkDirLocation {
        WorkDirLocation {
            above: Arc::clone(&self.parent),
            name: self.sibling_name(suffix),
            is_ours,
        }
    }

    /// The destination with a hidden name in the same folder.
    pub(crate) fn sibling(&self, suffix: &str) -> Result<Self, DatasetError> {
        Self::within(Arc::clone(&self.parent), &self.sibling_name(suffix))
    }

    fn sibling_name(&self, suffix: &str) -> OsString {
        disk::sibling(&self.name, suffix)
    }

    /// Takes the exclusive lock.
    pub(crate) fn lock(&self) -> Result<Lock, DatasetError> {
        Lock::beside(&self.parent, &self.name).map_err(wrong_when_refused)
    }

    /// Returns an error where a process holds the lock.
    pub(crate) fn refuse_locked(&self) -> Result<(), DatasetError> {
        let name = self.sibling_name("lock");
        if Lock::is_held(&self.parent, &name)? {
            let path = self.parent.at(name);
            return Err(DatasetError::Locked { path });
        }
        Ok(())
    }

    /// Inspects the occupant of the destination. For a dataset, names and lengths are compared and the manifest must
    /// match its marker; no part file is read.
    pub(crate) fn inspect(&self) -> Result<Occupant, DatasetError> {
        let Some(folder) = self.parent.find(&self.name)? else {
            return Ok(Occupant::Nothing);
        };
        let names = folder.list()?;
        if names.is_empty() {
            return Ok(Occupant::Nothing);
        }
        let is_there = names
            .iter()
            .any(|entry| entry.name == MANIFEST && entry.kind == EntryKind::File);
        let read = if is_there {
            manifest::find(&folder, &folder.at(MANIFEST))
        } else {
            Ok(None)
        };
        let read = or_corruption(read)?.ok().flatten();
        let is_marked = read.as_ref().map(|read| read.is_marked(&folder)).transpose()?;
        let Some(manifest) = read.and_then(|read| read.manifest.ok()) else {
            return Ok(Occupant::Foreign(
                names.into_iter().map(|entry| entry.name).collect(),
            ));
        };
        let mut problems = audit::lengths(&folder, &manifest)?;
        problems.extend(certify::manifest_problems(&manifest));
        if is_marked != Some(true) {
            problems.push(format!("{SUCCESS} does not hold the hash of {MANIFEST}"));
        }
        Ok(Occupant::Dataset {
            manifest: Box::new(manifest),
            problems,
        })
    }

    /// The problems in the files of a dataset that looks sound. All its files are read, as for its certificate;
    /// additional files are no problem.
    pub(crate) fn read_back(&self, manifest: &Manifest) -> Result<Vec<String>, DatasetError> {
        let folder = self.parent.enter(&self.name)?;
        let problems = audit::files(&folder, manifest)?.problems;
        if problems.is_empty() {
            certify::content_problems(&folder, manifest)
        } else {
            Ok(problems)
        }
    }

    /// Refuses to replace a dataset that contains files of the user, or reports that were edited.
    pub(crate) fn refuse_strangers(&self, manifest: &Manifest) -> Result<(), DatasetError> {
        let folder = self.parent.enter(&self.name)?;
        let strangers = audit::strangers(&folder, manifest)?;
        if !strangers.is_empty() {
            return Err(self.foreign(&strangers));
        }
        derived::refuse_edited(&folder)
    }

    /// The error for a folder that holds foreign files.
    pub(crate) fn foreign(&self, names: &[String]) -> DatasetError {
        let shown = names
            .iter()
            .take(NAMES_SHOWN)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        let more = match names.len().saturating_sub(NAMES_SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        DatasetError::wrong_path(
            &self.out,
            format!(
                "it holds files that chatmill did not write: {shown}{more}; move them away or choose another folder"
            ),
        )
    }

    /// Gives a finished folder the name of the destination in one step. Afterwards the name `folder` in `work_dir` is
    /// free, or belongs to the former occupant.
    ///
    /// An old dataset is exchanged with the new one and removed later. Removing it first would leave a moment without
    /// any dataset, and renaming it away would need a second rename, between which a kill could fall.
    pub(crate) fn publish(&self, work_dir: &Dir, folder: &str, replace: bool) -> Result<(), DatasetError> {
        self.refuse_own_folders()?;
        match self.inspect()? {
            Occupant::Nothing => work_dir.rename_only(folder, &self.parent, &self.name)?,
            Occupant::Dataset { manifest, .. } if replace => {
                self.refuse_strangers(&manifest)?;
                work_dir
                    .exchange(folder.as_ref(), &self.parent, &self.name)
                    .map_err(|error| self.no_exchange(error))?;
            }
            Occupant::Dataset { .. } => {
                return Err(DatasetError::Occupied {
                    path: self.out.clone(),
                    reason: "it was created during this run".to_owned(),
                });
            }
            Occupant::Foreign(names) => return Err(self.foreign(&names)),
        }
        self.sync_name()
    }

    /// Publishes a folder of files that are no dataset. An existing folder is exchanged with it if it holds only these names.
    pub(crate) fn publish_files(
        &self,
        work_dir: &Dir,
        folder: &str,
        replaced: &BTreeSet<String>,
    ) -> Result<(), DatasetError> {
        self.refuse_own_folders()?;
        match self.inspect()? {
            Occupant::Foreign(names) => {
                self.refuse_unknown(&names, replaced)?;
                work_dir
                    .exchange(folder.as_ref(), &self.parent, &self.name)
                    .map_err(|error| self.no_exchange(error))?;
                self.sync_name()
            }
            Occupant::Nothing | Occupant::Dataset { .. } => self.publish(work_dir, folder, false),
        }
    }

    /// Refuses a folder that holds any name except these.
    pub(crate) fn refuse_unknown(
        &self,
        names: &[String],
        known: &BTreeSet<String>,
    ) -> Result<(), DatasetError> {
        let strangers = names.iter().filter(|name| !known.contains(*name));
        let strangers: Vec<String> = strangers.cloned().collect();
        if strangers.is_empty() {
            return Ok(());
        }
        Err(self.foreign(&strangers))
    }

    /// Refuses a destination that is inside another output of chatmill by now.
    fn refuse_own_folders(&self) -> Result<(), DatasetError> {
        if !self.is_chosen {
            return Ok(());
        }
        guard::refuse_inside(&self.out, &self.parent)
    }

    /// Syncs the parent folder, so that the new name survives a power failure.
    fn sync_name(&self) -> Result<(), DatasetError> {
        self.parent.sync().map_err(|error| match error {
            DatasetError::Io { source, .. } | DatasetError::NoSpace { source, .. } => DatasetError::Io {
                action: "sync the new folder name to disk, but the dataset is complete:",
                path: self.out.clone(),
                source,
            },
            other => other,
        })
    }

    /// Tests whether two folders can be exchanged here, before hours of work depend on it. Not every file system can,
    /// and only a trial finds out, so two empty folders are created and exchanged.
    pub(crate) fn probe_exchange(&self, work_dir: &Dir) -> Result<(), DatasetError> {
        let [one, other] = PROBES;
        work_dir.make(one, disk::PRIVATE_FOLDER)?;
        work_dir.make(other, disk::PRIVATE_FOLDER)?;
        let result = work_dir
            .exchange(one.as_ref(), work_dir, other.as_ref())
            .map_err(|error| self.no_exchange(error));
        work_dir.remove_empty(one)?;
        work_dir.remove_empty(other)?;
        result
    }

    fn no_exchange(&self, error: io::Error) -> DatasetError {
        let path = self.out.clone();
        match Errno::from_io_error(&error) {
            Some(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                DatasetError::NoExchange { path, source: error }
            }
            None if error.kind() == io::ErrorKind::Unsupported => {
                DatasetError::NoExchange { path, source: error }
            }
            _ => DatasetError::io("exchange", &path, error),
        }
    }
}

/// The names of the folders that are exchanged as a test.
pub(crate) const PROBES: [&str; 2] = ["exchange-1", "exchange-2"];

/// Classifies an error at a destination: the request is wrong where the path cannot be used, else the system has failed.
fn unusable(path: &Path, error: io::Error) -> DatasetError {
    wrong_when_refused(DatasetError::io("open", path, error))
}

/// Classifies an error that is already a [`DatasetError`] in the same way.
pub(crate) fn wrong_when_refused(error: DatasetError) -> DatasetError {
    match error {
        DatasetError::Io { path, source, .. } if is_refusal(source.kind()) => DatasetError::WrongPath {
            path,
            reason: source.to_string(),
        },
        DatasetError::Corrupt { path, reason } => DatasetError::WrongPath { path, reason },
        other => other,
    }
}

fn is_refusal(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::Unsupported
    )
}
