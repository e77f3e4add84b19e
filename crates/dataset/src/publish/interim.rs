//! A dataset that is wanted only until something else was made of it: it stands beside that, under a hidden name.

use std::path::{Path, PathBuf};

use crate::error::DatasetError;
use crate::publish::destination::Destination;
use crate::publish::remove;
use crate::publish::work::staging;

/// The place of such a dataset; dropped, it is removed with all unfinished work. What a kill leaves, the next one takes over.
#[derive(Debug)]
pub struct Interim(Destination);

impl Interim {
    /// The place beside a destination. Of a path where nothing can stand, it is [`DatasetError::WrongPath`].
    pub fn beside(out: &Path) -> Result<Self, DatasetError> {
        Destination::locate(out)?.beside("dataset").map(Self)
    }

    /// Where the dataset has to be made.
    pub fn path(&self) -> PathBuf {
        self.0.out.clone()
    }
}

impl Drop for Interim {
    fn drop(&mut self) {
        // What cannot be removed is replaced or removed by whoever comes next.
        drop(staging::give_up(&self.0));
        drop(remove::dataset(self.0.parent(), self.0.name()));
    }
}
