//! Helpers that every call to the operating system shares.

use std::io;

pub(super) use chatmill_diag::faults::call;

/// The result of a call; `None` where the file does not exist.
pub(super) fn if_there<T>(asked: io::Result<T>) -> io::Result<Option<T>> {
    match asked {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
