//! The guard of every output path that the caller chooses: nothing is written into a dataset, an export, a store of
//! nights or a folder of unfinished work, at any depth.
//!
//! Such a folder is recognised by its content, never by its name. The folders above an output are reached from its open
//! handle, so that neither links nor other spellings bypass the guard. What an output may replace is decided by
//! [`destination`](super::destination).

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use crate::disk::{self, Dir, EntryKind, up};
use crate::error::{DatasetError, or_corruption};
use crate::manifest::{MANIFEST, SUCCESS};

/// The name of the mark file of a store of nights.
pub(crate) const STORE_MARK: &str = ".chatmill-nights";
/// The name of the summary of an export, which identifies its folder.
pub const EXPORT_SUMMARY: &str = "export.json";

/// The beginning of `manifest.json` and `export.json`, which names their program, without white space.
const BEGINNING: &[u8] = br#"{"program":"chatmill""#;
/// The number of bytes in which the beginning is looked for.
const HEAD_BYTES: u64 = 256;

/// Refuses an output in an open folder that is an output of chatmill, or is inside one.
pub(crate) fn refuse_inside(shown: &Path, folder: &Dir) -> Result<(), DatasetError> {
    refuse_from(0, shown, folder)
}

/// Refuses an open folder as an output where it is inside an output of chatmill.
pub(crate) fn refuse_below(shown: &Path, folder: &Dir) -> Result<(), DatasetError> {
    refuse_from(1, shown, folder)
}

/// Refuses an output that does not exist yet, by the nearest folder above it that does.
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
                "it is inside the {} {owner}; choose a place outside it",
                kind.noun()
            );
            return Err(DatasetError::wrong_path(shown, reason));
        }
    }
    Ok(())
}

/// The kind of output for which chatmill created a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnOutput {
    /// A dataset, finished or damaged.
    Dataset,
    /// Files for a trainer.
    Export,
    /// The records and datasets of scheduled runs.
    Store,
    /// The remains of an unfinished or interrupted run.
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

/// The kind with its article.
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

/// The kind of output in a folder; `None` where chatmill did not create it.
pub fn own_output(folder: &Path) -> Result<Option<OwnOutput>, DatasetError> {
    own_kind(&Dir::open(folder)?, &up(0))
}

/// The kind of output in the folder at a path, which is relative to an open one; `None` where chatmill did not create it.
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

/// Whether a file begins as chatmill's files do; false where it is not a regular file or may not be read.
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

/// Whether a `_SUCCESS` file holds a hash: those of other programs are empty.
fn is_marker(head: &[u8]) -> bool {
    let line = head.strip_suffix(b"\n");
    line.is_some_and(|hash| hash.len() == 64 && hash.iter().all(u8::is_ascii_hexdigit))
}
