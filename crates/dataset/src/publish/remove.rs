//! Removing a dataset, without any foreign file.

use std::ffi::OsStr;

use crate::disk::Dir;
use crate::error::DatasetError;
use crate::manifest::{DERIVED, SUCCESS};
use crate::publish::derived;
use crate::publish::work::names;

/// Removes a dataset in a folder, where there is one.
pub(crate) fn dataset(folder: &Dir, name: impl AsRef<OsStr>) -> Result<(), DatasetError> {
    let Some(dataset) = folder.find(&name)? else {
        return Ok(());
    };
    refuse_strangers(&dataset)?;
    // The files that show edits are removed first, then the mark: the remains after a kill must look neither edited nor whole.
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

/// Why a folder is kept that holds this.
pub(crate) fn foreign_entry(folder: &Dir, name: &str) -> DatasetError {
    let reason = format!("it holds {name}, which chatmill did not write; the folder is kept");
    DatasetError::wrong_path(folder.path(), reason)
}
