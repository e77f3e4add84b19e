//! A temporary dataset, from which another output is made: it lies in a marked folder beside that output, under a hidden name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Lock, WorkDir};
use crate::error::DatasetError;
use crate::manifest::SUCCESS;
use crate::publish::destination::Destination;
use crate::publish::remove;
use crate::publish::work::staging::{self, DATASET_NAME, DatasetParent};

/// The place of such a dataset, under a lock. Dropped, the dataset is removed with all unfinished work. After a kill, the next
/// process takes it over.
#[derive(Debug)]
pub struct TemporaryDataset {
    work_dir: WorkDir,
    parent: DatasetParent,
    /// Held, never read; freed after everything else.
    _lock: Lock,
}

impl TemporaryDataset {
    /// The place beside a destination. A folder of that name which is not marked as ours, such as a dataset that somebody keeps
    /// there, is [`DatasetError::WrongPath`], and nothing is touched.
    pub fn beside(out: &Path) -> Result<Self, DatasetError> {
        let destination = Destination::locate(out)?;
        let lock = destination.beside("dataset")?.lock()?;
        // What is in a dataset, and in the staging beside it, is looked at where it is removed.
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
            // What is left of a dataset whose removal was killed.
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
