//! The lock of a destination: an empty file beside it, which exists only while a process holds it.

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

/// No link is followed, no pipe is waited for, and an existing file is not truncated.
const OPEN: OFlags = OFlags::RDWR
    .union(OFlags::CREATE)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// Times that a lock file is opened which its last holder removes meanwhile.
const MAX_TRIES: usize = 64;

/// A held lock; the file goes with it.
#[derive(Debug)]
pub(crate) struct Lock {
    above: Arc<Dir>,
    name: OsString,
    file: OwnedFd,
}

/// A hidden name beside another one.
pub(crate) fn sibling(name: &OsStr, suffix: &str) -> OsString {
    [OsStr::new("."), name, OsStr::new("."), OsStr::new(suffix)]
        .into_iter()
        .collect()
}

impl Lock {
    /// Takes the exclusive lock of an output of this name.
    pub(crate) fn beside(above: &Arc<Dir>, name: impl AsRef<OsStr>) -> Result<Self, DatasetError> {
        Self::take(above, &sibling(name.as_ref(), "lock"))
    }

    /// Takes the exclusive lock; the operating system frees it when the process ends.
    ///
    /// The holder of a lock removes its file before releasing it, so a lock counts only if its file still has
    /// the name.
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

    /// Whether a process holds the lock. A file that a killed process left is no lock.
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
        // Many may look at once.
        try_lock(&file, FlockOperation::NonBlockingLockShared, &path).map(|is_free| !is_free)
    }

    fn stat(&self) -> Result<EntryStat, DatasetError> {
        EntryStat::at(&self.file, &self.above.at(&self.name))
    }

    /// Tries to take the lock; false if another process holds it.
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

    /// Removes the file, if it is a lock that no other process holds.
    fn remove(&self) -> Result<(), DatasetError> {
        if self.stat()?.is_file_of(0) && self.try_hold()? && self.has_the_name()? {
            self.above.remove_file(&self.name)?;
        }
        Ok(())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A file that stays is an empty one, which the next run takes.
        drop(self.remove().or_else(|_| self.remove()));
        // A process that another thread is starting has the handle as well, until it becomes another program: closing ours frees nothing.
        drop(call(Call::Lock, || fs::flock(&self.file, FlockOperation::Unlock)));
    }
}

/// Locks a file, unless another process has locked it.
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
