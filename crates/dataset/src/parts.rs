//! The files of one slice: where they lie and what is known of them when they are closed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use crate::tables::PartSet;

/// A closed part file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartFile {
    /// Name of its table.
    pub table: String,
    /// Path below the dataset's root, with forward slashes: `messages/part-00003.parquet`.
    pub path: String,
    /// Rows, as its footer says.
    pub rows: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
}

/// Where the files of a slice are written and where they come to lie.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The folder that becomes the dataset.
    pub(crate) data: PathBuf,
    /// The folder of unfinished files, in the same file system.
    pub(crate) temp: PathBuf,
    /// The slice.
    pub(crate) slice: u32,
}

impl Place {
    /// The path of a table's part below the dataset's root.
    pub(crate) fn part_name(&self, table: &str) -> String {
        part_name(table, self.slice)
    }

    /// The path of a table's unfinished part.
    pub(crate) fn temp_path(&self, table: &str) -> PathBuf {
        self.temp.join(format!("{table}.{:05}.parquet", self.slice))
    }
}

/// The path of a slice's part of a table below the dataset's root.
pub(crate) fn part_name(table: &str, slice: u32) -> String {
    format!("{table}/part-{slice:05}.parquet")
}
