//! Paths as the user typed them. Their links are resolved once; all later calls use the resolved path.

use std::io;
use std::path::{Path, PathBuf};

use chatmill_diag::faults::Call;
use rustix::fs;

use super::call::{call, if_there};
use super::dir::{Dir, EntryStat, USUAL_FOLDER};
use crate::error::DatasetError;

/// The canonical path of an existing file, without links.
pub(crate) fn resolve(shown: &Path) -> Result<PathBuf, DatasetError> {
    call(Call::Stat, || shown.canonicalize()).map_err(|source| DatasetError::io("find", shown, source))
}

/// The metadata of the target of a path, links followed; `None` where it does not exist.
pub(crate) fn stat_target(shown: &Path) -> Result<Option<EntryStat>, DatasetError> {
    found(shown, call(Call::Stat, || fs::stat(shown)))
}

/// The metadata of a path, links not followed; `None` where it does not exist.
pub(crate) fn stat_link(shown: &Path) -> Result<Option<EntryStat>, DatasetError> {
    found(shown, call(Call::Stat, || fs::lstat(shown)))
}

fn found(shown: &Path, looked: io::Result<fs::Stat>) -> Result<Option<EntryStat>, DatasetError> {
    let found = if_there(looked).map_err(|source| DatasetError::io("look at", shown, source))?;
    Ok(found.map(EntryStat))
}

/// Creates a folder and all missing folders above it, so that they survive a crash. Each one is created in an open
/// folder that `may_hold` accepts.
pub(crate) fn create_folders(
    shown: &Path,
    may_hold: &dyn Fn(&Dir) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let mut missing = Vec::new();
    for folder in shown.ancestors() {
        // An empty path is the current folder.
        if folder.as_os_str().is_empty() || stat_target(folder)?.is_some() {
            break;
        }
        missing.push(folder);
    }
    for folder in missing.into_iter().rev() {
        // `..` needs no creation: it exists once the folder before it does.
        if let Some(name) = folder.file_name() {
            let above = Dir::open(&resolve(above(folder))?)?;
            may_hold(&above)?;
            above.make(name, USUAL_FOLDER)?;
        }
    }
    Ok(())
}

/// The parent folder of a path; the current folder where the path is a bare name.
pub(crate) fn above(shown: &Path) -> &Path {
    match shown.parent() {
        Some(above) if !above.as_os_str().is_empty() => above,
        _ => Path::new("."),
    }
}
