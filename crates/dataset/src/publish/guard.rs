//! The guard of every path that the caller chooses for an output: nothing is written into a dataset, an export, a store of nights or
//! a folder of unfinished work, at any depth.
//!
//! Such a folder is known by its content, never by its name. The folders above an output are reached from the open one, so that
//! neither links nor other spellings lead past the guard. What an output may replace is decided by [`destination`](super::destination).

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use crate::disk::{self, Dir, EntryKind, up};
use crate::error::{DatasetError, or_corruption};
use crate::manifest::{MANIFEST, SUCCESS};

/// The name of the mark file of a store of nights.
pub(crate) const STORE_MARK: &str = ".chatmill-nights";
/// The name of the summary of an export, by which its folder is recognised.
pub const EXPORT_SUMMARY: &str = "export.json";

/// Where `manifest.json` and `export.json` name their program, without white space.
const BEGINNING: &[u8] = br#"{"program":"chatmill""#;
/// Bytes in which the beginning is looked for.
const HEAD_BYTES: u64 = 256;

/// Refuses an output in an open folder which is one of chatmill's own, or lies in one.
pub(crate) fn refuse_inside(shown: &Path, folder: &Dir) -> Result<(), DatasetError> {
    refuse_from(0, shown, folder)
}

/// Refuses an output which is an open folder that lies in one of chatmill's own.
pub(crate) fn refuse_below(shown: &Path, folder: &Dir) -> Result<(), DatasetError> {
    refuse_from(1, shown, folder)
}

/// Refuses an output that does not exist yet, in the nearest folder above it that does.
pub(crate) fn refuse_absent(shown: &Path) -> Result<(), DatasetError> {
    let mut above = disk::above(shown);
    while disk::stat_target(above)?.is_none() {
        above = disk::above(above);
    }
    refuse_inside(shown, &Dir::open(&disk::resolve(above)?)?)
}

fn refuse_from(first: usize, shown: &Path, folder: &Dir) -> Result<(), DatasetError> {
    for level in first..folder.lineage()?.len() {
        if let Some(kind) = own_kind(folder, &up(level))? {
            let owner = folder.path().ancestors().nth(level);
            let owner = owner.unwrap_or(folder.path()).display();
            let reason = format!(
                "it lies in the {} {owner}; choose a place outside of it",
                kind.noun()
            );
            return Err(DatasetError::wrong_path(shown, reason));
        }
    }
    Ok(())
}

/// What this program made a folder for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnOutput {
    /// A dataset, finished or damaged.
    Dataset,
    /// Files for a trainer.
    Export,
    /// The records and datasets of scheduled runs.
    Store,
    /// What an unfinished run or a stopped one left.
    Unfinished,
}

impl OwnOutput {
    const fn noun(self) -> &'static str {
        match self {
            Self::Dataset => "dataset",
            Self::Export => "export",
            Self::Store => "store of scheduled runs",
            Self::Unfinished => "unfinished work",
        }
    }
}

/// With its article.
impl fmt::Display for OwnOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Dataset | Self::Store => "a ",
            Self::Export => "an ",
            Self::Unfinished => "",
        })?;
        formatter.write_str(self.noun())
    }
}

/// What this program made a folder for; none where it did not make it.
pub fn own_output(folder: &Path) -> Result<Option<OwnOutput>, DatasetError> {
    own_kind(&Dir::open(folder)?, &up(0))
}

/// What chatmill made the folder at a path from another one for; none where it did not make it.
fn own_kind(folder: &Dir, path: &str) -> Result<Option<OwnOutput>, DatasetError> {
    let is_marked = |name: &str| -> Result<bool, DatasetError> {
        let mark = folder.stat(format!("{path}/{name}"))?;
        Ok(mark.is_some_and(|mark| mark.kind() == EntryKind::File))
    };
    Ok(if is_marked(disk::MARK)? {
        Some(OwnOutput::Unfinished)
    } else if is_marked(STORE_MARK)? {
        Some(OwnOutput::Store)
    } else if begins(folder, path, MANIFEST, is_beginning)? || begins(folder, path, SUCCESS, is_marker)? {
        Some(OwnOutput::Dataset)
    } else if begins(folder, path, EXPORT_SUMMARY, is_beginning)? {
        Some(OwnOutput::Export)
    } else {
        None
    })
}

/// Whether a file begins as chatmill's do; false where it is not a regular file or may not be read.
fn begins(folder: &Dir, path: &str, name: &str, is_ours: fn(&[u8]) -> bool) -> Result<bool, DatasetError> {
    let name = format!("{path}/{name}");
    let file = match or_corruption(folder.read_file(&name)) {
        Err(DatasetError::Io { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(false);
        }
        read => read?.ok().flatten(),
    };
    let mut head = Vec::new();
    if let Some(file) = file {
        file.take(HEAD_BYTES)
            .read_to_end(&mut head)
            .map_err(|source| DatasetError::io("read", &folder.at(&name), source))?;
    }
    Ok(is_ours(&head))
}

fn is_beginning(head: &[u8]) -> bool {
    let signs = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    signs.take(BEGINNING.len()).eq(BEGINNING)
}

/// Whether a `_SUCCESS` holds a hash: those of other programs are empty.
fn is_marker(head: &[u8]) -> bool {
    let line = head.strip_suffix(b"\n");
    line.is_some_and(|hash| hash.len() == 64 && hash.iter().all(u8::is_ascii_hexdigit))
}
