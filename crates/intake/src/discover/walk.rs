//! Walks a folder without recursion, and without following links unless that is asked for.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmill_diag::codes::{LINK_NOT_FOLLOWED, NOT_A_REGULAR_FILE};

use super::own::real;
use super::{Input, InputKind, Links, Root, refused, regular, stored_bytes, unreadable};
use crate::access;
use crate::archive::dump;
use crate::database;

/// The decision of a pattern about a path below its folder.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub(super) take: Take,
    /// Hidden files and folders are looked at.
    pub(super) hidden: bool,
    /// Entries of a folder with this path can match.
    pub(super) deeper: bool,
}

/// The kind of files with a certain path that are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// None: the path does not match.
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
///
/// Where links are followed, a folder is read once, through any number of links: folders come before links to
/// folders, and these in the order of their paths.
pub(super) fn folder(
    folder: &Path,
    shown: &str,
    links: Links,
    choose: &dyn Fn(&Path) -> Choice,
) -> Vec<Input> {
    let mut found: Vec<(PathBuf, InputKind, u64)> = Vec::new();
    let mut open = vec![PathBuf::new()];
    let mut linked: BTreeSet<PathBuf> = BTreeSet::new();
    let mut read: HashSet<PathBuf> = HashSet::new();
    while let Some(relative) = open.pop().or_else(|| linked.pop_first()) {
        let here = folder.join(&relative);
        if links == Links::Followed {
            match real(&here) {
                Ok(place) => {
                    if place.is_some_and(|place| !read.insert(place)) {
                        continue;
                    }
                }
                Err(error) => {
                    found.push((relative, unreadable("look at", &here, &error), 0));
                    continue;
                }
            }
        }
        let names = match access::list(&here) {
            Ok(names) => names,
            Err(error) => {
                found.push((relative, unreadable("list", &here, &error), 0));
                continue;
            }
        };
        for name in names {
            let path = relative.join(name);
            let choice = choose(&path);
            let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
            if !choice.hidden && path.file_name().is_some_and(is_hidden) {
                continue;
            }
            let whole = folder.join(&path);
            let looked = visit(&whole, links, choice);
            match looked.unwrap_or_else(|error| Visited::Input(unreadable("look at", &whole, &error), 0)) {
                Visited::Passed => {}
                Visited::Folder => open.push(path),
                Visited::Linked => drop(linked.insert(path)),
                Visited::Input(kind, bytes) => found.push((path, kind, bytes)),
            }
        }
    }
    found.sort_by(|(one, ..), (other, ..)| {
        one.as_os_str()
            .as_encoded_bytes()
            .cmp(other.as_os_str().as_encoded_bytes())
    });
    let root = Arc::new(Root {
        path: folder.to_owned(),
        // The folder itself is an input where it cannot be read.
        name: folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        shown: shown.to_owned(),
        is_named: false,
    });
    let inputs = found.into_iter().map(|(below, kind, bytes)| Input {
        root: Arc::clone(&root),
        below: below.into_boxed_path(),
        kind,
        bytes,
        definition: None,
    });
    inputs.collect()
}

/// The kind of a path that was visited in a folder.
enum Visited {
    Passed,
    Folder,
    /// A folder that a link leads to.
    Linked,
    Input(InputKind, u64),
}

fn visit(path: &Path, links: Links, choice: Choice) -> io::Result<Visited> {
    // This does not follow links.
    let metadata = access::symlink_metadata(path)?;
    if metadata.is_symlink() && links == Links::Followed {
        let led_to = match access::follow(path) {
            Ok(led_to) => led_to,
            // A broken link that is not meant is skipped like any other name.
            Err(error) if choice.take == Take::Nothing && !access::is_of_the_system(&error) => {
                return Ok(Visited::Passed);
            }
            Err(error) => return Err(error),
        };
        // A dump keeps its folder for itself, and a link is none.
        if led_to.is_dir() && choice.deeper {
            return Ok(Visited::Linked);
        } else if choice.take == Take::Nothing || led_to.is_dir() {
            return Ok(Visited::Passed);
        }
        return Ok(Visited::Input(regular(path, &led_to), led_to.len()));
    }
    if metadata.is_dir() {
        return Ok(if choice.take != Take::Nothing && dump::is_folder(path)? {
            Visited::Input(InputKind::Folder, stored_bytes(path)?)
        } else if choice.take == Take::Anything {
            Visited::Input(refused(&NOT_A_REGULAR_FILE, "the input is a folder"), 0)
        } else if choice.deeper {
            Visited::Folder
        } else {
            Visited::Passed
        });
    }
    if choice.take == Take::Files && database::is_companion(path)? {
        return Ok(Visited::Passed);
    }
    if choice.take == Take::Nothing && !(metadata.is_symlink() && choice.deeper && leads_on(path)?) {
        return Ok(Visited::Passed);
    }
    if metadata.is_symlink() {
        let kind = refused(&LINK_NOT_FOLLOWED, "the input is a link and was not followed");
        return Ok(Visited::Input(kind, 0));
    }
    Ok(Visited::Input(regular(path, &metadata), metadata.len()))
}

/// Whether a link leads to a folder; one that leads nowhere does not.
fn leads_on(link: &Path) -> io::Result<bool> {
    match access::follow(link) {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(error) if access::is_of_the_system(&error) => Err(error),
        Err(_) => Ok(false),
    }
}
