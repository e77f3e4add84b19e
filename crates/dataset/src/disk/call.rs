//! What every call to the operating system has in common.

use std::io;

use chatmill_diag::faults::{Call, pass};

/// Makes a call, and again for as long as signals interrupt it.
pub(super) fn call<T>(kind: Call, mut ask: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match pass(kind).and_then(|()| ask()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
