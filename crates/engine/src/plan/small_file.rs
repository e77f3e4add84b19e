//! Small files that a request names.

use std::path::Path;

use chatmill_intake::{Failure, discover, is_of_the_system};

use crate::error::PlanError;

/// The text of a small file that a request names. `wrong` makes the error for faults of the file or of its
/// name.
pub(crate) fn read_text(
    path: &Path,
    limit: u64,
    wrong: impl FnOnce(std::io::Error) -> PlanError,
) -> Result<String, PlanError> {
    discover::read_small(path, limit).map_err(|error| refused(path, error, wrong))
}

/// The bytes of one.
pub(crate) fn read_bytes(
    path: &Path,
    limit: u64,
    wrong: impl FnOnce(std::io::Error) -> PlanError,
) -> Result<Vec<u8>, PlanError> {
    discover::read_small_bytes(path, limit).map_err(|error| refused(path, error, wrong))
}

fn refused(path: &Path, error: std::io::Error, wrong: impl FnOnce(std::io::Error) -> PlanError) -> PlanError {
    if is_of_the_system(&error) {
        Failure::new("read", path, &error).into()
    } else {
        wrong(error)
    }
}
