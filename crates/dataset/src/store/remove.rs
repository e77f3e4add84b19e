//! Removing what is kept of a night, and nothing that somebody else put there.

use std::ffi::OsStr;
use std::sync::Arc;

use super::{NIGHT_DATASET, NIGHT_JSON, NIGHT_NOTE, NightName, is_aside_of};
use crate::derived;
use crate::destination::{Destination, wrong_when_refused};
use crate::disk::{Dir, EntryKind};
use crate::error::DatasetError;
use crate::manifest::DERIVED;
use crate::{staging, workplace};

/// Removes a night's folder with all that a night makes there.
pub(super) fn night(store: &Arc<Dir>, name: &NightName) -> Result<(), DatasetError> {
    let Some(folder) = store.find(name.as_str()).map_err(wrong_when_refused)? else {
        return Ok(());
    };
    let folder = Arc::new(folder);
    let siblings = [".lock", ".staging"].map(|suffix| format!(".{NIGHT_DATASET}{suffix}"));
    for entry in folder.list()? {
        let is_ours = match entry.kind {
            EntryKind::Folder => entry.name == NIGHT_DATASET || siblings.contains(&entry.name),
            EntryKind::File => {
                [NIGHT_NOTE, NIGHT_JSON].contains(&entry.name.as_str())
                    || siblings.contains(&entry.name)
                    || is_aside_of(&entry.name, |_| true)
            }
            EntryKind::Other => false,
        };
        if !is_ours {
            return Err(kept(&folder, &entry.name));
        }
    }
    dataset(&folder, NIGHT_DATASET)?;
    staging::give_up(&Destination::within(Arc::clone(&folder), NIGHT_DATASET.as_ref())?)?;
    for entry in folder.list()? {
        if entry.kind == EntryKind::File {
            folder.remove_file(&entry.name)?;
        }
    }
    if store.remove_empty(name.as_str())? {
        store.sync()
    } else {
        Err(kept(&folder, "something new"))
    }
}

/// Removes a dataset in a folder, where there is one.
pub(super) fn dataset(folder: &Dir, name: impl AsRef<OsStr>) -> Result<(), DatasetError> {
    let Some(dataset) = folder.find(&name)? else {
        return Ok(());
    };
    refuse_strangers(&dataset)?;
    // First what an edit would be noticed in: what a kill leaves over must not look edited.
    for derived in DERIVED {
        dataset.remove_file(derived)?;
    }
    folder.remove_all(name)
}

fn refuse_strangers(dataset: &Dir) -> Result<(), DatasetError> {
    let strangers = dataset.find_below(&mut |entry| {
        !workplace::is_of_a_dataset(entry.kind, &entry.name.split('/').collect::<Vec<_>>())
    })?;
    if let Some(stranger) = strangers.first() {
        return Err(kept(dataset, &stranger.name));
    }
    derived::refuse_edited(dataset)
}

fn kept(folder: &Dir, name: &str) -> DatasetError {
    let reason = format!("it holds {name}, which chatmill did not write, and so it is kept");
    DatasetError::wrong_path(folder.path(), reason)
}
