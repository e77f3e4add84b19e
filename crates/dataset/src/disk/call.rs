//! Helpers shared by every call to the operating system: error context, and retries after signals.

use std::io;

use chatmill_diag::faults::{Call, pass};

/// Makes a call, and again for as long as signals interrupt it.
pub(super) fn call<T, E: Into<io::Error>>(
    kind: Call,
    mut ask: impl FnMut() -> Result<T, E>,
) -> io::Result<T> {
    loop {
        match pass(kind).and_then(|()| ask().map_err(Into::into)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// The result of a call; `None` where the file does not exist.
pub(super) fn if_there<T>(asked: io::Result<T>) -> io::Result<Option<T>> {
    match asked {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
