//! The files of one slice: their paths, and the facts about them once they are closed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::disk::Dir;
use crate::tables::slice_id::SliceId;

/// A closed part file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartFile {
    /// Name of its table.
    pub table: String,
    /// Path below the dataset's root, with forward slashes: `messages/part-00000-00003.parquet`.
    pub path: String,
    /// The number of rows in its footer.
    pub rows: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
}

/// The folder in which the files of a slice are written, and the folder to which they are moved.
#[derive(Clone, Debug)]
pub(crate) struct SlicePlace {
    /// The folder that becomes the dataset.
    pub(crate) data: Arc<Dir>,
    /// The folder of unfinished files, in the same file system.
    pub(crate) temp: Arc<Dir>,
    /// The slice.
    pub(crate) slice: SliceId,
}

impl SlicePlace {
    /// The name of an unfinished part in a folder.
    pub(crate) fn temp_name(&self, folder: &str) -> String {
        let folder = folder.replace('/', ".");
        format!("{folder}{}", temp_end(self.slice))
    }
}

/// The suffix in the names of a slice's unfinished parts.
pub(crate) fn temp_end(slice: SliceId) -> String {
    format!(".{slice}.parquet")
}

/// The prefix in the name of a folder with the rows of one dialect.
const DIALECT: &str = "dialect=";

/// The folder of a table's parts below the dataset's root.
pub(crate) fn folder(table: &str, dialect: Option<&str>) -> String {
    match dialect {
        None => table.to_owned(),
        Some(dialect) => format!("{table}/{DIALECT}{dialect}"),
    }
}

/// The path of a slice's part in a folder, below the dataset's root.
pub(crate) fn part_name(folder: &str, slice: SliceId) -> String {
    format!("{folder}/{}", file_name(slice))
}

/// The name of a slice's part in its folder.
pub(crate) fn file_name(slice: SliceId) -> String {
    format!("part-{slice}.parquet")
}

/// The slice number in the name of a part.
fn number_of(name: &str) -> Option<&str> {
    name.strip_prefix("part-")?.strip_suffix(".parquet")
}

/// Whether a file has the name of a part, in this format or an older one.
pub(crate) fn is_part(name: &str) -> bool {
    number_of(name).is_some_and(|slice| SliceId::parse(slice).is_some() || SliceId::is_of_old(slice))
}

/// Whether a file has the name of an unfinished part, in this format or an older one.
pub(crate) fn is_unfinished(name: &str) -> bool {
    let mut ends = name.rsplitn(3, '.');
    let (end, slice) = (ends.next(), ends.next().unwrap_or_default());
    let is_of_a_slice = SliceId::parse(slice).is_some() || SliceId::is_of_old(slice);
    end == Some("parquet") && is_of_a_slice && ends.next().is_some()
}

/// Whether a path below the dataset's root names a part of this table.
pub(crate) fn is_part_of(table: &str, path: &str) -> bool {
    path.rsplit_once('/')
        .is_some_and(|(folder, name)| is_folder_of(table, folder) && is_part(name))
}

/// The slice that the path of a part names.
pub(crate) fn slice_of_part(path: &str) -> Option<SliceId> {
    let (_, name) = path.rsplit_once('/')?;
    number_of(name).and_then(SliceId::parse)
}

/// The sort key of the files of a table: shorter folders first, then alphabetically, then by slice.
pub(crate) fn order(path: &str) -> impl Ord + use<'_> {
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    (folder.len(), folder, slice_of_part(path))
}

/// The folder in a path below the dataset's root.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').unwrap_or_default().0
}

/// Whether a folder below the dataset's root may hold parts of a table, even of another version.
pub(crate) fn is_folder(folder: &str) -> bool {
    let table = folder.split('/').next().unwrap_or_default();
    let is_word = !table.is_empty()
        && table
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_word && is_folder_of(table, folder)
}

/// Whether a folder below the dataset's root may hold parts of this table.
pub(crate) fn is_folder_of(table: &str, folder: &str) -> bool {
    match folder.split_once('/') {
        None => folder == table,
        Some((above, below)) => {
            above == table
                && below
                    .strip_prefix(DIALECT)
                    .is_some_and(|dialect| !dialect.is_empty() && !dialect.contains(['/', '\\']))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_part_is_known_by_its_slice() {
        for name in [
            "messages.00000-00000.parquet",
            "renderings.dialect=a.b.00003-00012.parquet",
            "messages.00012.parquet",
        ] {
            assert!(is_unfinished(name), "{name}");
        }
        for name in [
            "messages.parquet",
            "messages.0.parquet",
            "00000.parquet",
            "thesis.txt",
            "",
        ] {
            assert!(!is_unfinished(name), "{name}");
        }
    }

    #[test]
    fn a_folder_of_parts_is_the_table_or_one_of_its_dialects() {
        for folder in [
            folder("renderings", None),
            folder("renderings", Some("openai-chat")),
        ] {
            assert!(is_folder_of("renderings", &folder), "{folder}");
            assert!(!is_folder_of("losses", &folder), "{folder}");
            assert_eq!(folder_of(&part_name(&folder, 0.into())), folder);
        }
        for name in [
            "part-00000-00000.parquet",
            "part-00007-123456.parquet",
            "part-00000.parquet",
        ] {
            assert!(is_part_of("renderings", &format!("renderings/{name}")), "{name}");
            assert!(
                is_part_of("renderings", &format!("renderings/dialect=a/{name}")),
                "{name}"
            );
        }
        for path in [
            "part-00000.parquet",
            "losses/part-00000.parquet",
            "renderings/part-0.parquet",
            "renderings/part-+0000.parquet",
            "renderings/../part-00000.parquet",
            "renderings/thesis.txt",
            "/renderings/part-00000.parquet",
            "renderings//part-00000.parquet",
        ] {
            assert!(!is_part_of("renderings", path), "{path}");
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
