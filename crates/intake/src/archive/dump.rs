//! Archives of `pg_dump`: custom format, tar format, and a folder of files.
//!
//! All three begin with the same table of contents and hold the rows of each table as the text of one `COPY`
//! (or as `INSERT` statements), so that a table is a member like a file in a zip. Schema, large objects and
//! everything else without rows are skipped. Offsets in the table of contents are not used: a dump that was
//! written to a pipe has none.
//!
//! The layout follows `pg_backup_archiver.c` and its format modules in the sources of PostgreSQL 9.0 to 18
//! (archive versions
//! 1.12 to 1.16).

mod archived;
mod contents;
mod custom;
mod fields;
mod folder;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::stream::StreamError;

use contents::{Holds, Part};

pub(crate) use archived::{Archived, split};
pub(crate) use custom::Custom;
pub(crate) use folder::{Folder, is_folder};

/// First bytes of a table of contents, alone or before a custom format archive.
pub(crate) const MAGIC: &[u8] = b"PGDMP";

/// Name of the table of contents in a folder and in a tar archive.
pub(crate) const CONTENTS: &str = "toc.dat";

/// The rows of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DumpTable {
    /// Name with its schema.
    pub(crate) name: String,
    pub(crate) text: RowText,
    /// The statements that create the table and those that it is a part of, or make it a part of them.
    pub(crate) definitions: Vec<Arc<str>>,
    /// The encoding of the dump's text, where the dump names it.
    pub(crate) encoding: Option<String>,
}

/// The form in which the rows are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowText {
    /// The data of a `COPY` statement with these columns.
    Copy { columns: Vec<String> },
    /// `INSERT` statements; the statement that creates the table tells the columns.
    Inserts,
}

/// The parts that the table of contents promises and that have not come yet.
#[derive(Default)]
struct Awaited(BTreeSet<usize>);

impl Awaited {
    /// Every part that has data.
    fn all(parts: &[Part]) -> Self {
        Self((0..parts.len()).collect())
    }

    /// Every table. In a tar archive, large objects do not come in the file that the table of contents names.
    fn tables(parts: &[Part]) -> Self {
        let numbered = (0..).zip(parts);
        let tables = numbered.filter(|(_, part)| matches!(part.holds, Holds::Table(_)));
        Self(tables.map(|(at, _)| at).collect())
    }

    fn came(&mut self, part: usize) {
        self.0.remove(&part);
    }

    /// The finding for the missing end of the dump, reported once.
    fn missing(&mut self, parts: &[Part]) -> Option<StreamError> {
        /// Names in the message.
        const NAMED: usize = 3;
        let missing = std::mem::take(&mut self.0);
        let mut names: Vec<&str> = missing
            .iter()
            .filter_map(|at| parts.get(*at))
            .map(Part::name)
            .take(NAMED)
            .collect();
        if names.is_empty() {
            return None;
        }
        let more = format!("{} more", missing.len() - names.len());
        if missing.len() > names.len() {
            names.push(&more);
        }
        Some(StreamError::incomplete(format!(
            "the dump ends before the data of {}",
            names.join(", ")
        )))
    }
}

/// A table of contents that came without the files it belongs to.
fn lone_contents() -> StreamError {
    StreamError::unsupported(
        "the file is the table of contents of a dump that is a folder: name the folder as input",
    )
}

#[cfg(test)]
mod tests;
