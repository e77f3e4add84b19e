//! A temporary dataset from which another output is made: it is in a marked folder with a hidden name next to that output.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Lock, WorkDir};
use crate::error::DatasetError;
use crate::manifest::SUCCESS;
use crate::publish::destination::Destination;
use crate::publish::remove;
use crate::publish::work::staging::{self, DATASET_NAME, DatasetParent};

/// The place of a temporary dataset, under a lock. When it is dropped, the dataset and all unfinished work are removed.
/// After a kill, the next process takes the place over.
#[derive(Debug)]
pub struct TemporaryDataset {
    work_dir: WorkDir,
    parent: DatasetParent,
    /// Held but never read; freed after everything else.
    _lock: Lock,
}

impl TemporaryDataset {
    /// The place next to a destination. A folder of that name without our mark, such as a dataset of the user, is
    /// [`DatasetError::WrongPath`], and nothing is touched.
    pub fn beside(out: &Path) -> Result<Self, DatasetError> {
        let destination = Destination::locate(out)?;
        let lock = destination.sibling("dataset")?.lock()?;
        // The content of a dataset, and of the staging next to it, is checked where it is removed.
        let place = destination.work_dir_location("dataset", |_| false);
        let work_dir = match place.open()? {
            Some(left) => left,
            None => place.take()?,
        };
        if work_dir
            .dir()
            .stat_below(&format!("{DATASET_NAME}/{SUCCESS}"))?
            .is_none()
        {
            // The remains of a dataset that was not completely removed.
            remove::dataset(work_dir.dir(), DATASET_NAME)?;
        }
        Ok(Self {
            parent: DatasetParent(Arc::clone(work_dir.dir())),
            work_dir,
            _lock: lock,
        })
    }

    /// The folder in which the dataset is made.
    pub fn parent(&self) -> &DatasetParent {
        &self.parent
    }

    /// The path at which the dataset is to be written.
    pub fn path(&self) -> PathBuf {
        self.work_dir.dir().at(DATASET_NAME)
    }

    fn remove(&self) -> Result<(), DatasetError> {
        let dir = self.work_dir.dir();
        staging::give_up(&Destination::within(Arc::clone(dir), DATASET_NAME.as_ref())?)?;
        remove::dataset(dir, DATASET_NAME)?;
        self.work_dir.leave()
    }
}

impl Drop for TemporaryDataset {
    fn drop(&mut self) {
        // What cannot be removed now is replaced or removed by the next process.
        drop(self.remove());
    }
}
