//! Small files that a request names.

use std::path::Path;

use chatmill_intake::{Failure, discover, is_of_the_system};

use crate::error::PlanError;

/// The text of a small file that a request names. What lies in the file or its name is what `wrong` makes of it.
pub(crate) fn read_text(
    path: &Path,
    limit: u64,
    wrong: impl FnOnce(std::io::Error) -> PlanError,
) -> Result<String, PlanError> {
    discover::read_small(path, limit).map_err(|error| {
        if is_of_the_system(&error) {
            Failure::new("read", path, &error).into()
        } else {
            wrong(error)
        }
    })
}
