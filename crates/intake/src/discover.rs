//! Turns what was typed (a file, a folder, a glob, `-`) into inputs with stable names.
//!
//! An input's name is its path below the fixed prefix of its pattern, so that the spelling of the prefix never changes
//! a name. Links inside folders are not followed. A folder that is a dump of a database is one input. What cannot be read is
//! an input that says so; only a pattern that finds nothing is an error.

mod walk;

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use chatmill_diag::codes::{NOT_A_REGULAR_FILE, UNREADABLE_INPUT};
use chatmill_diag::{Code, Finding};
use globset::{GlobBuilder, GlobMatcher};

use crate::archive::dump;

/// Something to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Label: the path below the fixed prefix of its pattern, with forward slashes.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// The path as it was typed, for messages.
    pub shown: String,
    /// What it is.
    pub kind: InputKind,
    /// Stored bytes; 0 where that is not known.
    pub bytes: u64,
}

/// What an input is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A regular file.
    File,
    /// The standard input.
    Stdin,
    /// A named pipe that was named explicitly.
    Pipe,
    /// A folder that is one dump of a database.
    Folder,
    /// Not read, for this reason.
    Refused(Finding),
}

/// Why a pattern gives no inputs.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// Neither a file nor anything that matches.
    #[error("no input matches `{pattern}` (looked in {})", base.display())]
    NothingMatches {
        /// The pattern as typed.
        pattern: String,
        /// The folder that was looked in.
        base: PathBuf,
    },
    /// The pattern's glob signs make no sense.
    #[error("`{pattern}` is not a valid pattern")]
    Pattern {
        /// The pattern as typed.
        pattern: String,
        /// What the glob library says.
        source: globset::Error,
    },
}

/// Finds the inputs of `pattern`, which is relative to `base`.
///
/// Folders are read recursively; names are sorted by their bytes; hidden files are passed over unless the pattern
/// names them. A path that exists is taken literally, even when it contains glob signs.
///
/// # Errors
///
/// When nothing matches, or the pattern is malformed.
pub fn discover(pattern: &str, base: &Path) -> Result<Vec<Input>, DiscoverError> {
    if pattern == "-" {
        let name = pattern.to_owned();
        let input = Input {
            name: name.clone(),
            path: PathBuf::from("-"),
            shown: name,
            kind: InputKind::Stdin,
            bytes: 0,
        };
        return Ok(vec![input]);
    }
    let path = base.join(pattern);
    let (inputs, looked_in) = if fs::symlink_metadata(&path).is_ok() {
        (named(pattern, &path), path)
    } else {
        let (prefix, glob) = split(pattern);
        let folder = base.join(prefix);
        (matching(prefix, glob, &folder, pattern)?, folder)
    };
    if inputs.is_empty() {
        return Err(DiscoverError::NothingMatches {
            pattern: pattern.to_owned(),
            base: looked_in,
        });
    }
    Ok(inputs)
}

/// The inputs of a path that exists.
fn named(pattern: &str, path: &Path) -> Vec<Input> {
    let name = path
        .file_name()
        .map_or_else(|| pattern.to_owned(), |name| name.to_string_lossy().into_owned());
    let input = |kind, bytes| {
        vec![Input {
            name: name.clone(),
            path: path.to_owned(),
            shown: pattern.to_owned(),
            kind,
            bytes,
        }]
    };
    match fs::metadata(path) {
        Err(error) => input(unreadable(&error), 0),
        Ok(metadata) if metadata.is_dir() && dump::is_folder(path) => {
            input(InputKind::Folder, stored_bytes(path))
        }
        Ok(metadata) if metadata.is_dir() => walk::folder(path, pattern, &|_| walk::Choice::EVERY_FILE),
        Ok(metadata) if is_pipe(&metadata) => input(InputKind::Pipe, 0),
        Ok(metadata) => input(regular(path, &metadata), metadata.len()),
    }
}

/// The inputs below `folder` that match a glob.
fn matching(prefix: &str, glob: &str, folder: &Path, pattern: &str) -> Result<Vec<Input>, DiscoverError> {
    if glob.is_empty() || !folder.is_dir() {
        return Ok(Vec::new());
    }
    let matcher: GlobMatcher = GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|source| DiscoverError::Pattern {
            pattern: pattern.to_owned(),
            source,
        })?
        .compile_matcher();
    let hidden = glob.split('/').any(|step| step.starts_with('.'));
    let depth = if glob.contains("**") {
        usize::MAX
    } else {
        glob.split('/').count()
    };
    // `*` and `**` match folders by the way; a folder is meant only where the pattern spells a part of its name.
    let last = glob.rsplit('/').next().unwrap_or_default();
    let meant = last.chars().any(|character| !matches!(character, '*' | '?'));
    Ok(walk::folder(folder, prefix, &|relative| walk::Choice {
        take: match matcher.is_match(relative) {
            false => walk::Take::Nothing,
            true if meant => walk::Take::Anything,
            true => walk::Take::Files,
        },
        hidden,
        deeper: relative.components().count() < depth,
    }))
}

/// Splits a pattern before the first step that holds a glob sign.
fn split(pattern: &str) -> (&str, &str) {
    let sign = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    let start = pattern
        .get(..sign)
        .and_then(|before| before.rfind('/'))
        .map_or(0, |slash| slash + 1);
    let (prefix, glob) = pattern.split_at_checked(start).unwrap_or(("", pattern));
    (prefix, if sign == pattern.len() { "" } else { glob })
}

/// What a path that is neither folder nor pipe can be read as.
fn regular(path: &Path, metadata: &Metadata) -> InputKind {
    if !metadata.is_file() {
        return refused(&NOT_A_REGULAR_FILE, "the input is a device, a socket or a pipe");
    }
    match File::open(path) {
        Ok(_) => InputKind::File,
        Err(error) => unreadable(&error),
    }
}

fn unreadable(error: &io::Error) -> InputKind {
    refused(
        &UNREADABLE_INPUT,
        &format!("the input cannot be opened: {}", error.kind()),
    )
}

fn refused(code: &'static Code, message: &str) -> InputKind {
    InputKind::Refused(Finding::new(code, message))
}

#[cfg(unix)]
fn is_pipe(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

/// Length and BLAKE3 (in hexadecimal) of a file's stored bytes, read as a stream.
///
/// Of a folder, the lengths of its files are added up, and their names and hashes are hashed. `go_on` is told the bytes of each
/// stretch; when it says no, there is no hash.
pub fn content_hash(path: &Path, go_on: &mut dyn FnMut(u64) -> bool) -> io::Result<Option<(u64, String)>> {
    let mut length = 0;
    if !fs::metadata(path)?.is_dir() {
        let hash = hash_file(path, &mut length, go_on)?;
        return Ok(hash.map(|hash| (length, hash.to_hex().to_string())));
    }
    let mut hasher = blake3::Hasher::new();
    for name in files_of(path)? {
        let Some(hash) = hash_file(&path.join(&name), &mut length, go_on)? else {
            return Ok(None);
        };
        hasher.update(name.as_encoded_bytes());
        hasher.update(b"\0");
        hasher.update(hash.as_bytes());
    }
    Ok(Some((length, hasher.finalize().to_hex().to_string())))
}

/// The hash of one file, whose length is added to `length`.
fn hash_file(
    path: &Path,
    length: &mut u64,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> io::Result<Option<blake3::Hash>> {
    let mut file = File::open(path)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => return Ok(Some(hasher.finalize())),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(buffer.get(..count).unwrap_or_default());
        *length += count as u64;
        if !go_on(count as u64) {
            return Ok(None);
        }
    }
}

/// The regular files directly in a folder, sorted by the bytes of their names.
fn files_of(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            names.push(entry.file_name());
        }
    }
    names.sort_by(|one, other| one.as_encoded_bytes().cmp(other.as_encoded_bytes()));
    Ok(names)
}

/// Bytes of the files of a folder; what cannot be read is told when it is opened.
fn stored_bytes(folder: &Path) -> u64 {
    let names = files_of(folder).unwrap_or_default();
    let lengths = names
        .iter()
        .filter_map(|name| fs::metadata(folder.join(name)).ok());
    lengths.map(|metadata| metadata.len()).sum()
}

/// The text of a small file: a pipeline, a price list.
///
/// # Errors
///
/// Of kind `FileTooLarge` above `limit` bytes, `InvalidData` when it is not UTF-8, else what the system says.
pub fn read_small(path: &Path, limit: u64) -> Result<String, io::Error> {
    let mut text = String::new();
    let file = File::open(path)?;
    let read = file.take(limit.saturating_add(1)).read_to_string(&mut text)?;
    if read as u64 > limit {
        let message = format!("the file is longer than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}
