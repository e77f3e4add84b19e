//! Removes the files of a night, and no foreign file.

use std::sync::Arc;

use super::{NIGHT_JSON, NIGHT_NOTE, NightName};
use crate::disk::{self, Dir, EntryKind};
use crate::error::DatasetError;
use crate::publish::destination::{Destination, wrong_when_refused};
use crate::publish::remove::{dataset, foreign_entry};
use crate::publish::work::staging::{self, DATASET_NAME};

/// Removes the folder of a night with every file that a night creates there.
pub(super) fn night(store: &Arc<Dir>, name: &NightName) -> Result<(), DatasetError> {
    let Some(folder) = store.find(name.as_str()).map_err(wrong_when_refused)? else {
        return Ok(());
    };
    let folder = Arc::new(folder);
    let siblings = [".lock", ".staging"].map(|suffix| format!(".{DATASET_NAME}{suffix}"));
    for entry in folder.list()? {
        let is_ours = match entry.kind {
            EntryKind::Folder => entry.name == DATASET_NAME || siblings.contains(&entry.name),
            EntryKind::File => {
                [NIGHT_NOTE, NIGHT_JSON].contains(&entry.name.as_str())
                    || siblings.contains(&entry.name)
                    || disk::is_temp_file(&entry.name)
            }
            EntryKind::Other => false,
        };
        if !is_ours {
            return Err(foreign_entry(&folder, &entry.name));
        }
    }
    dataset(&folder, DATASET_NAME)?;
    staging::give_up(&Destination::within(Arc::clone(&folder), DATASET_NAME.as_ref())?)?;
    for entry in folder.list()? {
        if entry.kind == EntryKind::File {
            folder.remove_file(&entry.name)?;
        }
    }
    if store.remove_empty(name.as_str())? {
        store.sync()
    } else {
        Err(foreign_entry(&folder, "something new"))
    }
}
