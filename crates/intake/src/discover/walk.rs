//! Walks a folder without following links and without recursion.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use chatmill_diag::codes::{LINK_NOT_FOLLOWED, NOT_A_REGULAR_FILE};

use super::{Input, InputKind, refused, regular, stored_bytes, unreadable};
use crate::archive::dump;
use crate::database;

/// What a pattern wants with a path below its folder.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub(super) take: Take,
    /// Hidden files and folders are looked at.
    pub(super) hidden: bool,
    /// What lies in a folder of this path can match.
    pub(super) deeper: bool,
}

/// What is taken when it has a certain path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// Nothing: the path does not match.
    Nothing,
    /// Files; a folder matches by the way.
    Files,
    /// Whatever it is: the pattern spells a part of the name.
    Anything,
}

impl Choice {
    /// Every file that is not hidden.
    pub(super) const EVERY_FILE: Self = Self {
        take: Take::Files,
        hidden: false,
        deeper: true,
    };
}

/// The inputs in `folder` and below that `choose` takes, sorted by the bytes of their names.
///
/// `choose` sees paths relative to the folder; `shown` is how the folder was typed.
pub(super) fn folder(folder: &Path, shown: &str, choose: &dyn Fn(&Path) -> Choice) -> Vec<Input> {
    let mut found: Vec<(PathBuf, InputKind, u64)> = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        let entries = match fs::read_dir(folder.join(&relative)) {
            Ok(entries) => entries,
            Err(error) => {
                found.push((relative, unreadable(&error), 0));
                continue;
            }
        };
        for entry in entries {
            let looked = match entry {
                Ok(entry) => look(&entry, &relative, choose),
                Err(error) => Err((relative.clone(), error)),
            };
            match looked {
                Ok(Look::Passed) => {}
                Ok(Look::Folder(path)) => open.push(path),
                Ok(Look::Input(path, kind, bytes)) => found.push((path, kind, bytes)),
                Err((path, error)) => found.push((path, unreadable(&error), 0)),
            }
        }
    }
    found.sort_by(|(one, ..), (other, ..)| {
        one.as_os_str()
            .as_encoded_bytes()
            .cmp(other.as_os_str().as_encoded_bytes())
    });
    found
        .into_iter()
        .map(|(relative, kind, bytes)| input(folder, shown, &relative, kind, bytes))
        .collect()
}

fn input(folder: &Path, shown: &str, relative: &Path, kind: InputKind, bytes: u64) -> Input {
    let steps: Vec<_> = relative.iter().map(OsStr::to_string_lossy).collect();
    let mut name = steps.join("/");
    if name.is_empty() {
        // The folder itself, which cannot be read.
        name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
    }
    let slash = if shown.is_empty() || shown.ends_with('/') {
        ""
    } else {
        "/"
    };
    Input {
        shown: format!("{shown}{slash}{name}"),
        name,
        path: folder.join(relative),
        kind,
        bytes,
    }
}

/// What one directory entry is.
enum Look {
    Passed,
    Folder(PathBuf),
    Input(PathBuf, InputKind, u64),
}

fn look(
    entry: &DirEntry,
    parent: &Path,
    choose: &dyn Fn(&Path) -> Choice,
) -> Result<Look, (PathBuf, io::Error)> {
    let path = parent.join(entry.file_name());
    let choice = choose(&path);
    if !choice.hidden && entry.file_name().as_encoded_bytes().starts_with(b".") {
        return Ok(Look::Passed);
    }
    // This does not follow links.
    let metadata = entry.metadata().map_err(|error| (path.clone(), error))?;
    if metadata.is_dir() {
        return Ok(
            if choice.take != Take::Nothing && dump::is_folder(&entry.path()) {
                Look::Input(path, InputKind::Folder, stored_bytes(&entry.path()))
            } else if choice.take == Take::Anything {
                Look::Input(path, refused(&NOT_A_REGULAR_FILE, "the input is a folder"), 0)
            } else if choice.deeper {
                Look::Folder(path)
            } else {
                Look::Passed
            },
        );
    }
    if choice.take == Take::Files && database::is_companion(&entry.path()) {
        return Ok(Look::Passed);
    }
    let leads_on = metadata.is_symlink() && choice.deeper && entry.path().is_dir();
    if choice.take == Take::Nothing && !leads_on {
        return Ok(Look::Passed);
    }
    if metadata.is_symlink() {
        return Ok(Look::Input(
            path,
            refused(&LINK_NOT_FOLLOWED, "the input is a link and was not followed"),
            0,
        ));
    }
    let kind = regular(&entry.path(), &metadata);
    Ok(Look::Input(path, kind, metadata.len()))
}
