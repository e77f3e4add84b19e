//! Walks a folder without recursion, and follows links only on request.

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

/// What a pattern decides about a path below its folder.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub(super) take: Take,
    /// Whether hidden files and folders are included.
    pub(super) hidden: bool,
    /// Whether entries below this path can match.
    pub(super) deeper: bool,
}

/// Which kinds of entries with a path are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// None, because the path does not match.
    Nothing,
    /// Only files: a wildcard also matches the names of folders.
    Files,
    /// Any kind, because the pattern spells a part of the name.
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

/// The inputs in and below `folder` that `choose` takes, sorted by the bytes of their names.
///
/// `choose` receives paths relative to the folder; `shown` is the folder as the user typed it.
///
/// If links are followed, a folder is read only once, whatever the number of links to it: folders come before links to
/// folders, and links in the order of their paths.
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
        // A folder that cannot be read is itself an input.
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

/// The kind of a visited path.
enum Visited {
    Passed,
    Folder,
    /// A folder at the end of a link.
    Linked,
    Input(InputKind, u64),
}

fn visit(path: &Path, links: Links, choice: Choice) -> io::Result<Visited> {
    // The metadata of the link itself.
    let metadata = access::symlink_metadata(path)?;
    if metadata.is_symlink() && links == Links::Followed {
        let led_to = match access::follow(path) {
            Ok(led_to) => led_to,
            // A broken link that the pattern does not mean is skipped like any other name.
            Err(error) if choice.take == Take::Nothing && !access::is_of_the_system(&error) => {
                return Ok(Visited::Passed);
            }
            Err(error) => return Err(error),
        };
        // The folder of a dump belongs to the dump, but a link to it is no dump.
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

/// Whether a link leads to a folder; false for a broken link.
fn leads_on(link: &Path) -> io::Result<bool> {
    match access::follow(link) {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(error) if access::is_of_the_system(&error) => Err(error),
        Err(_) => Ok(false),
    }
}
