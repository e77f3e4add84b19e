//! The tables of a manifest: sums over their files, and the files themselves if there are few.

use serde::{Deserialize, Serialize};

use crate::tables::TABLES;
use crate::tables::part_file::{self, PartFile};

/// The maximum number of files of a dataset that its manifest lists. A manifest with more has only the sums; the
/// manifests of the shards list the files.
const FILES_LISTED: usize = 10_000;

/// One table of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    /// Name of the table.
    pub name: String,
    /// The number of files.
    #[serde(default)]
    pub parts: u64,
    /// Rows of all its files.
    #[serde(default)]
    pub rows: u64,
    /// Bytes of all its files.
    #[serde(default)]
    pub bytes: u64,
    /// The folders of the files below the root of the dataset, in the order in which they are read.
    #[serde(default)]
    pub folders: Vec<String>,
    /// The files, by folder and slice, for other programs; present only if all tables together have at most 10,000
    /// files. The authoritative lists are in the manifests of the shards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PartEntry>,
}

/// One file of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// Path below the dataset's root, with forward slashes.
    pub path: String,
    /// The number of rows in its footer.
    pub rows: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
}

impl From<PartFile> for PartEntry {
    fn from(part: PartFile) -> Self {
        Self {
            path: part.path,
            rows: part.rows,
            bytes: part.bytes,
            hash: part.hash,
        }
    }
}

/// Sums over the files of each table.
pub(crate) struct TableSums {
    /// All tables in registry order.
    tables: Vec<TableEntry>,
    files: usize,
    limit: usize,
}

impl Default for TableSums {
    fn default() -> Self {
        Self::listing(FILES_LISTED)
    }
}

impl TableSums {
    fn listing(limit: usize) -> Self {
        let tables = TABLES.iter().map(|&name| TableEntry {
            name: name.to_owned(),
            ..TableEntry::default()
        });
        Self {
            tables: tables.collect(),
            files: 0,
            limit,
        }
    }

    /// Adds a file of a known table.
    #[expect(clippy::expect_used, reason = "else a file would be missing in the sums")]
    pub(crate) fn add(&mut self, file: &PartFile) {
        let tables = &mut self.tables;
        let table = tables.iter_mut().find(|table| table.name == file.table);
        let table = table.expect("files of unknown tables are refused where they are listed");
        table.parts += 1;
        table.rows += file.rows;
        table.bytes += file.bytes;
        if let Some((folder, _)) = file.path.rsplit_once('/')
            && !table.folders.iter().any(|known| known == folder)
        {
            table.folders.push(folder.to_owned());
        }
        self.files += 1;
        if self.files <= self.limit {
            table.files.push(file.clone().into());
        } else {
            for table in &mut self.tables {
                table.files = Vec::new();
            }
        }
    }

    /// Whether a table has any file.
    pub(crate) fn has(&self, table: &str) -> bool {
        self.tables
            .iter()
            .any(|entry| entry.name == table && entry.parts > 0)
    }

    /// The tables that have files, in registry order.
    pub(crate) fn entries(self) -> Vec<TableEntry> {
        let mut tables = self.tables;
        tables.retain(|table| table.parts > 0);
        for table in &mut tables {
            table
                .folders
                .sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
            table
                .files
                .sort_by(|one, other| part_file::order(&one.path).cmp(&part_file::order(&other.path)));
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::slice_id::SliceId;

    fn sums(files: u32, limit: usize) -> Vec<TableEntry> {
        let mut sums = TableSums::listing(limit);
        for slice in 0..files {
            let table = ["messages", "losses"][slice as usize % 2];
            sums.add(&PartFile {
                table: table.to_owned(),
                path: part_file::part_name(table, SliceId::from(slice)),
                rows: 2,
                bytes: 100,
                hash: String::new(),
            });
        }
        sums.entries()
    }

    #[test]
    fn files_are_listed_up_to_the_limit_and_only_summed_up_beyond_it() {
        for (files, listed) in [(9, 9), (10, 10), (11, 0), (12, 0)] {
            let tables = sums(files, 10);
            let lists: usize = tables.iter().map(|table| table.files.len()).sum();
            assert_eq!(lists, listed, "{files} files");
            let parts: u64 = tables.iter().map(|table| table.parts).sum();
            let rows: u64 = tables.iter().map(|table| table.rows).sum();
            assert_eq!((parts, rows), (u64::from(files), 2 * u64::from(files)));
        }
    }

    #[test]
    fn folders_and_files_have_the_order_in_which_they_are_read() {
        let mut sums = TableSums::default();
        for (folder, slice) in [
            ("renderings/dialect=b", 0),
            ("renderings/dialect=a", 0),
            ("renderings/dialect=b", 1),
        ] {
            sums.add(&PartFile {
                table: "renderings".to_owned(),
                path: part_file::part_name(folder, SliceId::from(slice)),
                rows: 1,
                bytes: 1,
                hash: String::new(),
            });
        }
        let tables = sums.entries();
        assert_eq!(
            tables[0].folders,
            ["renderings/dialect=a", "renderings/dialect=b"]
        );
        let paths: Vec<&str> = tables[0].files.iter().map(|file| file.path.as_str()).collect();
        assert!(paths.is_sorted() && paths.len() == 3, "{paths:?}");
    }
}
