//! The lock of a destination: an empty file in the same folder, which exists only while a process holds it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use chatmill_diag::faults::Call;
use rustix::fs::{self, FlockOperation, OFlags};
use rustix::io::Errno;

use super::call::call;
use super::dir::{Dir, EntryStat, USUAL_FILE};
use crate::error::DatasetError;

/// The flags for opening a lock file: no link is followed, a pipe does not block, and an existing file is not truncated.
const OPEN: OFlags = OFlags::RDWR
    .union(OFlags::CREATE)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// How often a lock file is opened again because its last holder removed it in between.
const MAX_TRIES: usize = 64;

/// A held lock; dropping it removes the file.
#[derive(Debug)]
pub(crate) struct Lock {
    above: Arc<Dir>,
    name: OsString,
    file: OwnedFd,
}

/// The hidden name `.<name>.<suffix>`, for a file or folder in the same folder as `name`.
pub(crate) fn sibling(name: &OsStr, suffix: &str) -> OsString {
    [OsStr::new("."), name, OsStr::new("."), OsStr::new(suffix)]
        .into_iter()
        .collect()
}

impl Lock {
    /// Takes the exclusive lock of the output with this name.
    pub(crate) fn beside(above: &Arc<Dir>, name: impl AsRef<OsStr>) -> Result<Self, DatasetError> {
        Self::take(above, &sibling(name.as_ref(), "lock"))
    }

    /// Takes the exclusive lock; the operating system frees it when the process ends.
    ///
    /// The holder removes the file before it releases the lock, so another process may lock a file that has just lost
    /// its name. A lock therefore counts only if the locked file is still the one under the name; else the file is
    /// opened again.
    pub(crate) fn take(above: &Arc<Dir>, name: &OsStr) -> Result<Self, DatasetError> {
        let path = above.at(name);
        for _ in 0..MAX_TRIES {
            let file = call(Call::Create, || {
                fs::openat(above.handle(), name, OPEN, USUAL_FILE)
            })
            .map_err(|error| match Errno::from_io_error(&error) {
                Some(Errno::LOOP | Errno::MLINK | Errno::ISDIR | Errno::NXIO) => no_lock(above, name),
                _ => DatasetError::io("open", &path, error),
            })?;
            let lock = Self {
                above: Arc::clone(above),
                name: name.to_owned(),
                file,
            };
            if !lock.stat()?.is_file_of(0) {
                return Err(no_lock(above, name));
            }
            if !lock.try_hold()? {
                return Err(DatasetError::Locked { path });
            }
            if lock.has_the_name()? {
                return Ok(lock);
            }
        }
        Err(DatasetError::Locked { path })
    }

    /// Whether a process holds the lock. A file that a killed process left behind does not count.
    pub(crate) fn is_held(above: &Arc<Dir>, name: &OsStr) -> Result<bool, DatasetError> {
        let path = above.at(name);
        let opened = call(Call::Open, || {
            fs::openat(above.handle(), name, OPEN.difference(OFlags::CREATE), USUAL_FILE)
        });
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(DatasetError::io("open", &path, source)),
        };
        // The lock is a shared one, so that several processes may look at once.
        try_lock(&file, FlockOperation::NonBlockingLockShared, &path).map(|is_free| !is_free)
    }

    fn stat(&self) -> Result<EntryStat, DatasetError> {
        EntryStat::at(&self.file, &self.above.at(&self.name))
    }

    /// Tries to take the lock; false where another process holds it.
    fn try_hold(&self) -> Result<bool, DatasetError> {
        let path = self.above.at(&self.name);
        try_lock(&self.file, FlockOperation::NonBlockingLockExclusive, &path)
    }

    fn has_the_name(&self) -> Result<bool, DatasetError> {
        let own = self.stat()?;
        Ok(self
            .above
            .stat(&self.name)?
            .is_some_and(|there| there.is_same(&own)))
    }

    /// Removes the file, provided that it is a lock that no other process holds.
    fn remove(&self) -> Result<(), DatasetError> {
        if self.stat()?.is_file_of(0) && self.try_hold()? && self.has_the_name()? {
            self.above.remove_file(&self.name)?;
        }
        Ok(())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A file that cannot be removed is empty, and the next run takes it as its lock.
        drop(self.remove().or_else(|_| self.remove()));
        // A child process that another thread is starting shares the handle until it executes its program: closing ours
        // would not free the lock.
        drop(call(Call::Lock, || fs::flock(&self.file, FlockOperation::Unlock)));
    }
}

/// Tries to lock a file; false where another process has locked it.
fn try_lock(file: &OwnedFd, how: FlockOperation, path: &Path) -> Result<bool, DatasetError> {
    match call(Call::Lock, || fs::flock(file, how)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(source) => Err(DatasetError::io("lock", path, source)),
    }
}

fn no_lock(above: &Dir, name: &OsStr) -> DatasetError {
    DatasetError::wrong_path(
        &above.at(name),
        "chatmill locks a destination with an empty file of this name, and this is not an empty file; move it away or choose another \
         destination",
    )
}

#[cfg(test)]
mod tests {
    use chatmill_diag::faults::{Fault, inject};

    use super::*;

    #[test]
    fn a_lock_is_free_though_a_process_that_is_being_started_has_its_handle() {
        let folder = tempfile::tempdir().unwrap();
        let above = Arc::new(Dir::open(folder.path()).unwrap());
        let lock = Lock::beside(&above, "out").unwrap();
        let inherited = lock.file.try_clone().unwrap();
        let injected = inject(Fault {
            call: Call::Remove,
            nth: 1,
            errno: 5,
            lasting: true,
        });
        drop(lock);
        drop(injected);
        assert!(above.stat(".out.lock").unwrap().is_some());
        assert!(!Lock::is_held(&above, ".out.lock".as_ref()).unwrap());
        drop(Lock::beside(&above, "out").unwrap());
        drop(inherited);
    }
}
