//! The part files that a dataset lists: millions of paths, stored in eight bytes each.

use std::collections::{BTreeMap, BTreeSet};

use crate::tables::part_file;
use crate::tables::slice_id::SliceId;

/// A set of part files, by folder and slice.
#[derive(Debug, Default)]
pub(crate) struct ListedParts {
    folders: BTreeMap<String, Vec<SliceId>>,
    /// Paths without a slice in today's form, which older formats have.
    others: BTreeSet<String>,
}

impl ListedParts {
    /// Adds a file.
    pub(crate) fn add(&mut self, path: &str) {
        match (path.rsplit_once('/'), part_file::slice_of_part(path)) {
            (Some((folder, _)), Some(slice)) => match self.folders.get_mut(folder) {
                Some(slices) => slices.push(slice),
                None => {
                    self.folders.insert(folder.to_owned(), vec![slice]);
                }
            },
            _ => {
                self.others.insert(path.to_owned());
            }
        }
    }

    /// Ends the adding and returns the files that were added more than once.
    pub(crate) fn close(&mut self) -> Vec<String> {
        let mut repeated = Vec::new();
        for (folder, slices) in &mut self.folders {
            slices.sort_unstable();
            let equal = slices.chunk_by(|one, other| one == other);
            let twice = equal
                .filter(|equal| equal.len() > 1)
                .filter_map(|equal| equal.first());
            repeated.extend(twice.map(|slice| part_file::part_name(folder, *slice)));
            slices.dedup();
        }
        repeated
    }

    /// Whether a file was added before [`close`](Self::close).
    pub(crate) fn has(&self, path: &str) -> bool {
        match (path.rsplit_once('/'), part_file::slice_of_part(path)) {
            (Some((folder, _)), Some(slice)) => self
                .folders
                .get(folder)
                .is_some_and(|slices| slices.binary_search(&slice).is_ok()),
            _ => self.others.contains(path),
        }
    }

    /// Whether the set has a file in a folder, directly or deeper.
    pub(crate) fn has_below(&self, folder: &str) -> bool {
        let paths = self.others.iter().filter_map(|path| path.rsplit_once('/'));
        let mut folders = self
            .folders
            .keys()
            .map(String::as_str)
            .chain(paths.map(|(above, _)| above));
        folders.any(|known| {
            known
                .strip_prefix(folder)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_files_contains_added_files_and_returns_duplicates() {
        let mut listed = ListedParts::default();
        let all = [
            "messages/part-00001-00000.parquet",
            "messages/part-00000-00003.parquet",
            "renderings/dialect=a/part-00000-00000.parquet",
            "losses/part-00007.parquet",
        ];
        for path in all.iter().chain(&all[..1]) {
            listed.add(path);
        }
        assert_eq!(listed.close(), ["messages/part-00001-00000.parquet"]);
        assert!(all.iter().all(|path| listed.has(path)));
        for path in [
            "messages/part-00000-00000.parquet",
            "losses/part-00000-00003.parquet",
            "losses/part-00008.parquet",
            "messages/part-0-3.parquet",
            "messages",
        ] {
            assert!(!listed.has(path), "{path}");
        }
        for (folder, is_above) in [
            ("renderings", true),
            ("renderings/dialect=a", true),
            ("render", false),
        ] {
            assert_eq!(listed.has_below(folder), is_above, "{folder}");
        }
    }
}
