//! The destination of a run: its place, its lock, what lies there already, and the step that publishes.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::audit;
use crate::durable::{self, EntryKind};
use crate::error::DatasetError;
use crate::manifest::{self, MANIFEST, Manifest, SUCCESS};

/// Names that an error lists before it only counts.
const NAMES_SHOWN: usize = 8;

/// A destination that can hold a dataset as far as its path tells.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// The folder that appears by one rename. Links are resolved.
    pub(crate) out: PathBuf,
    parent: PathBuf,
    name: OsString,
}

/// What lies at a destination.
pub(crate) enum Found {
    /// Nothing, or an empty folder.
    Nothing,
    /// A dataset of ours, with what is visibly wrong with it.
    Dataset {
        manifest: Box<Manifest>,
        faults: Vec<String>,
    },
    /// A folder that is not ours: the names in it.
    Foreign(Vec<String>),
}

impl Destination {
    /// Resolves a destination and refuses paths where no folder can appear.
    pub(crate) fn locate(shown: &Path) -> Result<Self, DatasetError> {
        let resolved = match fs::symlink_metadata(shown) {
            Ok(found) if found.is_symlink() && !shown.exists() => {
                return Err(DatasetError::wrong_path(shown, "it is a link to nothing"));
            }
            Ok(_) => fs::canonicalize(shown),
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(shown),
            Err(error) => Err(error),
        };
        let out = resolved.map_err(|error| unusable(shown, error))?;
        if out.exists() && !out.is_dir() {
            return Err(DatasetError::wrong_path(shown, "it is a file"));
        }
        match (out.parent(), out.file_name()) {
            (Some(parent), Some(name)) => {
                let destination = Self {
                    parent: parent.to_owned(),
                    name: name.to_owned(),
                    out,
                };
                destination.refuse_mount_points()?;
                Ok(destination)
            }
            _ => Err(DatasetError::wrong_path(
                shown,
                "it does not name a folder; name a new one below it",
            )),
        }
    }

    /// A mount point cannot be renamed over, and the run would learn that only at its end.
    #[cfg(unix)]
    fn refuse_mount_points(&self) -> Result<(), DatasetError> {
        use std::os::unix::fs::MetadataExt;
        match (fs::metadata(&self.out), fs::metadata(&self.parent)) {
            (Ok(out), Ok(parent)) if out.dev() != parent.dev() => Err(DatasetError::wrong_path(
                &self.out,
                "it is a mount point; name a new folder below it",
            )),
            _ => Ok(()),
        }
    }

    #[cfg(not(unix))]
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "the Unix variant needs both"
    )]
    fn refuse_mount_points(&self) -> Result<(), DatasetError> {
        Ok(())
    }

    /// The folder of unfinished work, beside the destination and so in the same file system.
    pub(crate) fn staging(&self) -> PathBuf {
        self.sibling("staging")
    }

    /// The folder where a [`Folder`](crate::Folder) is made, beside the destination.
    pub(crate) fn unfinished(&self) -> PathBuf {
        self.sibling("unfinished")
    }

    fn sibling(&self, suffix: &str) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(&self.name);
        name.push(".");
        name.push(OsStr::new(suffix));
        self.parent.join(name)
    }

    /// Takes the exclusive lock; the operating system frees it when the handle or the process ends.
    ///
    /// The file stays: removing it would let two runs lock two files of one name.
    pub(crate) fn lock(&self) -> Result<File, DatasetError> {
        let path = self.sibling("lock");
        durable::create_folder(&self.parent).map_err(wrong_when_refused)?;
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| unusable(&path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(DatasetError::Locked { path }),
            Err(TryLockError::Error(source)) => Err(DatasetError::io("lock", &path, source)),
        }
    }

    /// Looks at what lies at the destination. Of a dataset, names and lengths are compared, hashes are not.
    pub(crate) fn inspect(&self) -> Result<Found, DatasetError> {
        let names = match fs::symlink_metadata(&self.out) {
            Ok(_) => durable::list(&self.out)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(DatasetError::io("look at", &self.out, source)),
        };
        if names.is_empty() {
            return Ok(Found::Nothing);
        }
        let path = self.out.join(MANIFEST);
        let is_there = names
            .iter()
            .any(|entry| entry.name == MANIFEST && entry.kind == EntryKind::File);
        let bytes = if is_there {
            durable::read(&path)?
        } else {
            Vec::new()
        };
        let Ok(manifest) = manifest::parse(&path, &bytes) else {
            return Ok(Found::Foreign(
                names.into_iter().map(|entry| entry.name).collect(),
            ));
        };
        let mut faults = audit::lengths(&self.out, &manifest);
        if durable::read_if_there(&self.out.join(SUCCESS))? != Some(manifest::marker_of(&bytes).into_bytes())
        {
            faults.push(format!("{SUCCESS} does not hold the hash of {MANIFEST}"));
        }
        Ok(Found::Dataset {
            manifest: Box::new(manifest),
            faults,
        })
    }

    /// Refuses to replace a dataset among which somebody keeps files of their own.
    pub(crate) fn refuse_strangers(&self, manifest: &Manifest) -> Result<(), DatasetError> {
        let strangers = audit::unlisted(&self.out, manifest)?;
        if strangers.is_empty() {
            Ok(())
        } else {
            Err(self.foreign(&strangers))
        }
    }

    /// The error for a folder that holds what is not ours.
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
                "it holds what chatmill did not write: {shown}{more}; move that away or choose another folder"
            ),
        )
    }

    /// Lets a finished folder take the destination's name in one step. Afterwards `folder` is gone, or holds what
    /// was there before.
    pub(crate) fn publish(&self, folder: &Path, replace: bool) -> Result<(), DatasetError> {
        match self.inspect()? {
            Found::Nothing => {
                fs::rename(folder, &self.out).map_err(|source| DatasetError::io("rename", folder, source))?;
            }
            Found::Dataset { manifest, .. } if replace => {
                self.refuse_strangers(&manifest)?;
                self.exchange(folder, &self.out)?;
            }
            Found::Dataset { .. } => {
                return Err(DatasetError::Occupied {
                    path: self.out.clone(),
                    reason: "it appeared while this run worked".to_owned(),
                });
            }
            Found::Foreign(names) => return Err(self.foreign(&names)),
        }
        durable::sync_folder(&self.parent)
    }

    /// Finds out whether two folders can change places here, before hours of work depend on it.
    pub(crate) fn probe_exchange(&self, workplace: &Path) -> Result<(), DatasetError> {
        let pair = [workplace.join("exchange-1"), workplace.join("exchange-2")];
        let [one, other] = &pair;
        durable::create_folder(one)?;
        durable::create_folder(other)?;
        let result = self.exchange(one, other);
        durable::remove_all(one)?;
        durable::remove_all(other)?;
        result
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    fn exchange(&self, one: &Path, other: &Path) -> Result<(), DatasetError> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).map_err(|errno| match errno {
            Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP => DatasetError::NoExchange {
                path: self.out.clone(),
                source: errno.into(),
            },
            other => DatasetError::io("exchange", one, other.into()),
        })
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    fn exchange(&self, _one: &Path, _other: &Path) -> Result<(), DatasetError> {
        Err(DatasetError::NoExchange {
            path: self.out.clone(),
            source: io::Error::from(io::ErrorKind::Unsupported),
        })
    }
}

/// An error at a destination is the request's fault when the path cannot be used, else the system's.
fn unusable(path: &Path, error: io::Error) -> DatasetError {
    wrong_when_refused(DatasetError::io("open", path, error))
}

fn wrong_when_refused(error: DatasetError) -> DatasetError {
    match error {
        DatasetError::Io { path, source, .. } if is_refusal(source.kind()) => DatasetError::WrongPath {
            path,
            reason: source.to_string(),
        },
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
