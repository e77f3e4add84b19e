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
    /// The path of an unfinished part of a folder.
    pub(crate) fn temp_path(&self, folder: &str) -> PathBuf {
        let folder = folder.replace('/', ".");
        self.temp.join(format!("{folder}{}", temp_end(self.slice)))
    }
}

/// What the names of a slice's unfinished parts end in.
pub(crate) fn temp_end(slice: u32) -> String {
    format!(".{slice:05}.parquet")
}

/// What stands before the dialect in the name of a folder that holds the rows of one dialect.
const DIALECT: &str = "dialect=";

/// The folder of a table's parts below the dataset's root.
pub(crate) fn folder(table: &str, dialect: Option<&str>) -> String {
    match dialect {
        None => table.to_owned(),
        Some(dialect) => format!("{table}/{DIALECT}{dialect}"),
    }
}

/// The path of a slice's part of a folder below the dataset's root.
pub(crate) fn part_name(folder: &str, slice: u32) -> String {
    format!("{folder}/part-{slice:05}.parquet")
}

/// Whether a part below the dataset's root holds the rows of one dialect.
pub(crate) fn is_parted(path: &str) -> bool {
    path.matches('/').count() > 1
}

/// Whether a folder below the dataset's root holds parts of this table.
pub(crate) fn is_folder_of(table: &str, folder: &str) -> bool {
    match folder.split_once('/') {
        None => folder == table,
        Some((above, below)) => {
            above == table
                && below
                    .strip_prefix(DIALECT)
                    .is_some_and(|dialect| !dialect.is_empty() && !dialect.contains('/'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_parts_is_the_table_or_one_of_its_dialects() {
        for folder in [
            folder("renderings", None),
            folder("renderings", Some("openai-chat")),
        ] {
            assert!(is_folder_of("renderings", &folder), "{folder}");
            assert!(!is_folder_of("losses", &folder), "{folder}");
            let is_of_dialect = folder.contains(DIALECT);
            assert_eq!(is_parted(&part_name(&folder, 0)), is_of_dialect, "{folder}");
        }
        for folder in [
            "",
            "renderings/",
            "renderings/dialect=",
            "renderings/dialect=a/b",
            "renderings/a",
        ] {
            assert!(!is_folder_of("renderings", folder), "{folder}");
        }
    }
}
