//! Archives of `pg_dump`: custom format, tar format, and a folder of files.
//!
//! All three begin with the same table of contents and contain the rows of each table as the text of one `COPY` (or as
//! `INSERT` statements), so that a table is a member like a file in a zip. Schema, large objects and everything else
//! without rows are skipped. Offsets in the table of contents are not used, because a dump that was written to a pipe
//! has none.
//!
//! The layout follows `pg_backup_archiver.c` and its format modules in the sources of PostgreSQL 9.0 to 18 (archive
//! versions 1.12 to 1.16).

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

/// The first bytes of a table of contents, in a separate file or at the start of the custom format.
pub(crate) const MAGIC: &[u8] = b"PGDMP";

/// The file name of the table of contents in a folder or tar archive.
pub(crate) const CONTENTS: &str = "toc.dat";

/// A table with the form of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DumpTable {
    /// The name of the table with its schema.
    pub(crate) name: String,
    pub(crate) text: RowText,
    /// The statements that create the table, its parents and domains, or attach it to them.
    pub(crate) definitions: Vec<Arc<str>>,
    /// The encoding of the dump's text, if the dump names it.
    pub(crate) encoding: Option<String>,
}

/// The form in which the rows of a table are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowText {
    /// The data of a `COPY` statement with these columns.
    Copy { columns: Vec<String> },
    /// `INSERT` statements; the columns are known from the statement that creates the table.
    Inserts,
}

/// The parts that the table of contents lists and that have not arrived yet.
#[derive(Default)]
struct Awaited(BTreeSet<usize>);

impl Awaited {
    /// All parts that have data.
    fn all(parts: &[Part]) -> Self {
        Self((0..parts.len()).collect())
    }

    /// All parts that are tables. In a tar archive, large objects are not in the file that the table of contents names.
    fn tables(parts: &[Part]) -> Self {
        let numbered = (0..).zip(parts);
        let tables = numbered.filter(|(_, part)| matches!(part.holds, Holds::Table(_)));
        Self(tables.map(|(at, _)| at).collect())
    }

    fn came(&mut self, part: usize) {
        self.0.remove(&part);
    }

    /// The error for the missing end of the dump; afterwards nothing is missing.
    fn missing(&mut self, parts: &[Part]) -> Option<StreamError> {
        /// The number of names in the message.
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

/// The error for a table of contents without its files.
fn lone_contents() -> StreamError {
    StreamError::unsupported(
        "the file is the table of contents of a dump that is a folder: name the folder as input",
    )
}

#[cfg(test)]
mod tests;
