//! Removes a dataset, and no foreign file.

use std::ffi::OsStr;

use crate::disk::Dir;
use crate::error::DatasetError;
use crate::manifest::{DERIVED, SUCCESS};
use crate::publish::derived;
use crate::publish::work::names;

/// Removes a dataset in a folder, if it exists.
pub(crate) fn dataset(folder: &Dir, name: impl AsRef<OsStr>) -> Result<(), DatasetError> {
    let Some(dataset) = folder.find(&name)? else {
        return Ok(());
    };
    refuse_strangers(&dataset)?;
    // The files that would show edits are removed first, then the marker, so that the remains after a kill look neither
    // edited nor complete.
    for first in DERIVED.into_iter().chain([SUCCESS]) {
        dataset.remove_file(first)?;
    }
    folder.remove_all(name)
}

fn refuse_strangers(dataset: &Dir) -> Result<(), DatasetError> {
    let strangers = dataset.find_below(&mut |entry| {
        !names::is_of_a_dataset(entry.kind, &entry.name.split('/').collect::<Vec<_>>())
    })?;
    if let Some(stranger) = strangers.first() {
        return Err(foreign_entry(dataset, &stranger.name));
    }
    derived::refuse_edited(dataset)
}

/// The error for a folder that is kept because it holds this entry.
pub(crate) fn foreign_entry(folder: &Dir, name: &str) -> DatasetError {
    let reason = format!("it holds {name}, which chatmill did not write; the folder is kept");
    DatasetError::wrong_path(folder.path(), reason)
}
