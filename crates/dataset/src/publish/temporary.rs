//! A temporary dataset, from which another output is made: it lies beside that output, under a hidden name.

use std::path::{Path, PathBuf};

use crate::error::DatasetError;
use crate::publish::destination::Destination;
use crate::publish::remove;
use crate::publish::work::staging;

/// The path of such a dataset; dropped, the dataset is removed with all unfinished work. After a kill, the next run takes it over.
#[derive(Debug)]
pub struct TemporaryDataset(Destination);

impl TemporaryDataset {
    /// The path beside a destination; [`DatasetError::WrongPath`] where nothing can be created there.
    pub fn beside(out: &Path) -> Result<Self, DatasetError> {
        Destination::locate(out)?.beside("dataset").map(Self)
    }

    /// The path at which the dataset is to be written.
    pub fn path(&self) -> PathBuf {
        self.0.out.clone()
    }
}

impl Drop for TemporaryDataset {
    fn drop(&mut self) {
        // A file that cannot be removed is replaced or removed by the next process.
        drop(staging::give_up(&self.0));
        drop(remove::dataset(self.0.parent(), self.0.name()));
    }
}
