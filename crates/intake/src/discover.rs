//! Turns the paths that the user typed (a file, a folder, a glob, `-`) into inputs with stable names. The engine hashes
//! these inputs and opens a reader for each.
//!
//! The name of an input is its path below the fixed prefix of its pattern, so that the spelling of the prefix never
//! changes a name. Links inside folders are followed only on request. A folder that is a dump of a database is one
//! input. A path that cannot be read is a refused input, with the input or the system as the cause; only a pattern that
//! finds nothing is an error.

mod below;
mod own;
mod patterns;
mod walk;

pub use below::{is_same_place, lies_below, would_read};
pub use own::Own;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use chatmill_diag::codes::{NOT_A_REGULAR_FILE, UNREADABLE_INPUT};
use chatmill_diag::faults::Call;
use chatmill_diag::suggest::mistyped;
use chatmill_diag::{Code, Finding};
use globset::GlobSet;

use crate::access::{self, Failure, FirstFailure, InputFile};
use crate::archive::dump;
use crate::memory::MemoryInput;

/// The maximum nesting of braces in a pattern, which the library's parser does not limit.
const MAX_BRACE_DEPTH: usize = 16;

pub use patterns::Patterns;

/// One input: a path or a memory buffer to read.
///
/// There may be millions of inputs: those of one pattern share its folder, and each stores only its path below that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    root: Arc<Root>,
    /// The path below the root's folder; empty for the root itself.
    below: Box<Path>,
    /// The kind of input.
    pub kind: InputKind,
    /// The number of stored bytes; 0 if unknown.
    pub bytes: u64,
    /// The statement that creates the table of the rows in this file, if another file has it.
    pub definition: Option<Box<Arc<str>>>,
}

/// The folder that the inputs of a pattern share.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Root {
    /// The folder, or the only input.
    path: PathBuf,
    /// The name of the only input.
    name: String,
    /// The path as the user typed it.
    shown: String,
    is_named: bool,
}

impl Input {
    /// An input that a pattern names; messages call it `shown`.
    pub fn named(path: &Path, name: &str, shown: &str, kind: InputKind, bytes: u64) -> Self {
        let root = Root {
            path: path.to_owned(),
            name: name.to_owned(),
            shown: shown.to_owned(),
            is_named: true,
        };
        Self {
            root: Arc::new(root),
            below: Path::new("").into(),
            kind,
            bytes,
            definition: None,
        }
    }

    /// An input in memory with a name.
    pub fn in_memory(name: &str, memory: MemoryInput) -> Self {
        let bytes = memory.length();
        Self::named(Path::new(name), name, name, InputKind::Memory(memory), bytes)
    }

    /// The path of the input.
    pub fn path(&self) -> PathBuf {
        if self.is_root() {
            self.root.path.clone()
        } else {
            self.root.path.join(&self.below)
        }
    }

    /// The name of the input: its path below the fixed prefix of its pattern, with forward slashes.
    pub fn name(&self) -> Cow<'_, str> {
        if self.is_root() {
            return Cow::Borrowed(&self.root.name);
        }
        let name = self.below.to_string_lossy();
        if MAIN_SEPARATOR == '/' {
            name
        } else {
            name.replace(MAIN_SEPARATOR, "/").into()
        }
    }

    /// The path as the user typed it, for messages.
    pub fn shown(&self) -> String {
        let shown = &self.root.shown;
        if self.is_root() && self.root.is_named {
            return shown.clone();
        }
        let slash = if shown.is_empty() || shown.ends_with('/') {
            ""
        } else {
            "/"
        };
        format!("{shown}{slash}{}", self.name())
    }

    /// The folders of the input, from that of its pattern on; none for an input that was named directly.
    pub fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let above = self.below.ancestors().skip(1);
        let mut folders: Vec<PathBuf> = above.map(|above| self.root.path.join(above)).collect();
        folders.reverse();
        folders.into_iter()
    }

    /// Whether another input of the same pattern is in the same folder.
    pub fn is_next_to(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.root, &other.root) && self.below.parent() == other.below.parent()
    }

    /// The folder at a depth in [`Self::folders`], as the user typed it, for messages.
    pub fn shown_folder(&self, depth: usize) -> String {
        let below: PathBuf = self.below.iter().take(depth).collect();
        let shown = Path::new(&self.root.shown).join(below);
        let shown = shown.to_string_lossy();
        match shown.trim_end_matches(MAIN_SEPARATOR) {
            "" if shown.is_empty() => ".".to_owned(),
            "" => shown.into_owned(),
            shown => shown.to_owned(),
        }
    }

    /// Whether the pattern is this very path: an input that was named directly must be read.
    pub fn is_named(&self) -> bool {
        self.root.is_named
    }

    fn is_root(&self) -> bool {
        self.below.as_os_str().is_empty()
    }
}

/// The kind of an input.
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
    /// A buffer in memory.
    Memory(MemoryInput),
    /// Not read for this reason, which is a property of the input.
    Refused(Box<Finding>),
    /// Not read because the system failed; nothing is known about the input.
    Failed(Box<Failure>),
}

/// How links inside folders are handled. A link that is named directly is always followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Links are refused inputs.
    #[default]
    Refused,
    /// Links are followed, wherever they lead; each folder is read only once.
    Followed,
}

/// The error for a pattern that gives no inputs.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// There is neither a file with this name nor one that matches.
    #[error("no input matches `{pattern}` (looked in {}){}", base.display(), meant.as_deref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    NothingMatches {
        /// The pattern as typed.
        pattern: String,
        /// The folder that was searched.
        base: PathBuf,
        /// A file in the folder with a similar name.
        meant: Option<String>,
    },
    /// A folder in which every file is hidden, or that has none.
    #[error("`{pattern}` has no file to read: it is empty, or all its files are hidden")]
    Empty {
        /// The folder as typed.
        pattern: String,
    },
    /// The address of another machine or of an object store.
    #[error("`{pattern}` is an address, and chatmill reads local files; download it first")]
    Address {
        /// The pattern as typed.
        pattern: String,
    },
    /// The glob characters of the pattern are not valid.
    #[error("`{pattern}` is not a valid pattern")]
    Pattern {
        /// The pattern as typed.
        pattern: String,
        /// The error of the glob library.
        source: globset::Error,
    },
    /// The braces of the pattern are nested too deep.
    #[error("`{pattern}` nests its braces more than {MAX_BRACE_DEPTH} deep")]
    TooNested {
        /// The pattern as typed.
        pattern: String,
    },
}

/// Finds the inputs of `pattern`, which is relative to `base`.
///
/// Folders are read recursively; names are sorted by their bytes; hidden files are skipped unless the pattern names
/// them. A path that exists is taken literally, even if it contains glob characters.
///
/// # Errors
///
/// When nothing matches, or the pattern is malformed.
pub fn discover(pattern: &str, base: &Path) -> Result<Vec<Input>, DiscoverError> {
    discover_through(pattern, base, Links::Refused)
}

/// Finds the inputs of `pattern` like [`discover`], with a choice for links inside folders.
///
/// # Errors
///
/// When nothing matches, or the pattern is malformed.
pub fn discover_through(pattern: &str, base: &Path, links: Links) -> Result<Vec<Input>, DiscoverError> {
    if pattern == "-" {
        let path = Path::new(pattern);
        return Ok(vec![Input::named(path, pattern, pattern, InputKind::Stdin, 0)]);
    }
    let path = base.join(pattern);
    let (inputs, looked_in) = match access::symlink_metadata(&path) {
        Err(error) if access::is_absent(&error) && is_address(pattern) => {
            let pattern = pattern.to_owned();
            return Err(DiscoverError::Address { pattern });
        }
        Err(error) if access::is_absent(&error) => {
            let (prefix, glob) = split(pattern);
            let folder = base.join(prefix);
            (matching(prefix, glob, &folder, pattern, links)?, folder)
        }
        // It is not known whether this is a path or a glob, and a second attempt might decide otherwise.
        Err(error) if access::is_of_the_system(&error) => {
            let kind = unreadable("look at", &path, &error);
            (vec![Input::named(&path, pattern, pattern, kind, 0)], path)
        }
        // Other errors of the path are reported again when it is read.
        _ => {
            let inputs = named(pattern, &path, links);
            if inputs.is_empty() {
                let pattern = pattern.to_owned();
                return Err(DiscoverError::Empty { pattern });
            }
            (inputs, path)
        }
    };
    if inputs.is_empty() {
        return Err(DiscoverError::NothingMatches {
            meant: meant(pattern, &looked_in),
            pattern: pattern.to_owned(),
            base: looked_in,
        });
    }
    Ok(inputs)
}

/// The maximum number of names in a folder that are compared with a missing one.
const MOST_COMPARED: usize = 10_000;

/// The name in a folder that the user may have meant by a pattern that matches nothing.
fn meant(pattern: &str, folder: &Path) -> Option<String> {
    let typed = Path::new(pattern).file_name()?.to_str()?;
    let names = access::list(folder).ok()?;
    let compared = names.iter().take(MOST_COMPARED);
    mistyped(typed, compared.filter_map(|name| name.to_str())).map(str::to_owned)
}

/// Whether a text begins like a URL: `s3://`, `https://`. A path with a colon does not.
pub fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|sign| sign.is_ascii_alphanumeric() || "+-.".contains(sign))
    })
}

/// The inputs of a path that exists.
fn named(pattern: &str, path: &Path, links: Links) -> Vec<Input> {
    let name = path
        .file_name()
        .map_or_else(|| pattern.to_owned(), |name| name.to_string_lossy().into_owned());
    let input = |kind, bytes| vec![Input::named(path, &name, pattern, kind, bytes)];
    let metadata = match access::follow(path) {
        Ok(metadata) => metadata,
        Err(error) => return input(unreadable("look at", path, &error), 0),
    };
    if metadata.is_dir() {
        match dump::is_folder(path).and_then(|is_dump| is_dump.then(|| stored_bytes(path)).transpose()) {
            Ok(None) => walk::folder(path, pattern, links, &|_| walk::Choice::EVERY_FILE),
            Ok(Some(bytes)) => input(InputKind::Folder, bytes),
            Err(error) => input(unreadable("look into", path, &error), 0),
        }
    } else if is_pipe(&metadata) {
        input(InputKind::Pipe, 0)
    } else {
        input(regular(path, &metadata), metadata.len())
    }
}

/// The inputs below `folder` that match a glob.
fn matching(
    prefix: &str,
    glob: &str,
    folder: &Path,
    pattern: &str,
    links: Links,
) -> Result<Vec<Input>, DiscoverError> {
    if glob.is_empty() {
        return Ok(Vec::new());
    }
    let matcher = matcher(glob, pattern)?;
    match access::follow(folder) {
        Ok(metadata) if metadata.is_dir() => {}
        Err(error) if access::is_of_the_system(&error) => {
            let kind = unreadable("look at", folder, &error);
            return Ok(vec![Input::named(folder, pattern, pattern, kind, 0)]);
        }
        _ => return Ok(Vec::new()),
    }
    let hidden = glob.split('/').any(|step| step.starts_with('.'));
    let depth = if glob.contains("**") {
        usize::MAX
    } else {
        glob.split('/').count()
    };
    // `*` and `**` also match folders; a folder is meant only if the pattern spells a part of its name.
    let last = glob.rsplit('/').next().unwrap_or_default();
    let meant = last.chars().any(|character| !matches!(character, '*' | '?'));
    Ok(walk::folder(folder, prefix, links, &|relative| walk::Choice {
        take: match matcher.is_match(relative) {
            false => walk::Take::Nothing,
            true if meant => walk::Take::Anything,
            true => walk::Take::Files,
        },
        hidden,
        deeper: relative.components().count() < depth,
    }))
}

/// Parses a glob. A set is built because the library panics on some globs when it builds a single matcher.
fn matcher(glob: &str, pattern: &str) -> Result<GlobSet, DiscoverError> {
    let (mut depth, mut deepest) = (0_usize, 0);
    for character in glob.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > MAX_BRACE_DEPTH {
        return Err(DiscoverError::TooNested {
            pattern: pattern.to_owned(),
        });
    }
    patterns::glob(glob)
        .and_then(|glob| GlobSet::builder().add(glob).build())
        .map_err(|source| DiscoverError::Pattern {
            pattern: pattern.to_owned(),
            source,
        })
}

/// Splits a pattern before the first component with a glob character.
fn split(pattern: &str) -> (&str, &str) {
    let sign = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    let start = pattern
        .get(..sign)
        .and_then(|before| before.rfind('/'))
        .map_or(0, |slash| slash + 1);
    let (prefix, glob) = pattern.split_at_checked(start).unwrap_or(("", pattern));
    (prefix, if sign == pattern.len() { "" } else { glob })
}

/// The kind of input for a path that is neither folder nor pipe.
fn regular(path: &Path, metadata: &Metadata) -> InputKind {
    if !metadata.is_file() {
        return refused(&NOT_A_REGULAR_FILE, "the input is a device, a socket or a pipe");
    }
    match InputFile::open(path, &FirstFailure::default()) {
        Ok(_) => InputKind::File,
        Err(error) if access::is_irregular(&error) => refused(&NOT_A_REGULAR_FILE, &error.to_string()),
        Err(error) => unreadable("open", path, &error),
    }
}

/// The kind of input for a path that cannot be read: refused if the path itself is the cause.
fn unreadable(action: &'static str, path: &Path, error: &io::Error) -> InputKind {
    let failure = Failure::new(action, path, error);
    if failure.is_of_the_system {
        return InputKind::Failed(Box::new(failure));
    }
    refused(
        &UNREADABLE_INPUT,
        &format!("the input cannot be opened: {}", error.kind()),
    )
}

fn refused(code: &'static Code, message: &str) -> InputKind {
    InputKind::Refused(Box::new(Finding::new(code, message)))
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

/// The length and the BLAKE3 of a file's stored bytes, read as a stream.
///
/// For a folder, the lengths of its files are added up, and their names and hashes are hashed. `go_on` receives the
/// number of bytes of each piece; if it returns false, there is no hash.
///
/// # Errors
///
/// When a file cannot be read; the failure states whether the input or the system is the cause.
pub fn content_hash(
    path: &Path,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<(u64, blake3::Hash)>, Failure> {
    let mut length = 0;
    let metadata = access::follow(path).map_err(|error| Failure::new("look at", path, &error))?;
    if !metadata.is_dir() {
        let hash = hash_file(path, &mut length, go_on)?;
        return Ok(hash.map(|hash| (length, hash)));
    }
    let mut hasher = blake3::Hasher::new();
    for name in files_of(path).map_err(|error| Failure::new("list", path, &error))? {
        let Some(hash) = hash_file(&path.join(&name), &mut length, go_on)? else {
            return Ok(None);
        };
        hasher.update(name.as_encoded_bytes());
        hasher.update(b"\0");
        hasher.update(hash.as_bytes());
    }
    Ok(Some((length, hasher.finalize())))
}

/// The hash of one file; its length is added to `length`.
fn hash_file(
    path: &Path,
    length: &mut u64,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<blake3::Hash>, Failure> {
    let mut hasher = blake3::Hasher::new();
    let is_whole = access::pieces(path, |piece| {
        hasher.update(piece);
        *length += piece.len() as u64;
        go_on(piece.len() as u64)
    })?;
    Ok(is_whole.then(|| hasher.finalize()))
}

/// Whether a path is a regular file, and not a link to one.
///
/// # Errors
///
/// When the system cannot inspect the path, or nothing is there.
pub fn is_regular(path: &Path) -> Result<bool, Failure> {
    let metadata = access::symlink_metadata(path).map_err(|error| Failure::new("look at", path, &error))?;
    Ok(metadata.is_file())
}

/// Whether a path is or links to a regular file.
pub fn leads_to_file(path: &Path) -> bool {
    access::follow(path).is_ok_and(|found| found.is_file())
}

/// The regular files directly in a folder, sorted by the bytes of their names.
fn files_of(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for name in access::list(folder)? {
        if access::symlink_metadata(&folder.join(&name))?.is_file() {
            names.push(name);
        }
    }
    names.sort_by(|one, other| one.as_encoded_bytes().cmp(other.as_encoded_bytes()));
    Ok(names)
}

/// The number of bytes in the files of a folder.
fn stored_bytes(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for name in files_of(folder)? {
        bytes += access::symlink_metadata(&folder.join(name))?.len();
    }
    Ok(bytes)
}

/// The text of a small file, such as a pipeline or a price list.
///
/// # Errors
///
/// Of kind `FileTooLarge` above `limit` bytes, `InvalidData` if the file is not UTF-8, `InvalidInput` if it is not a
/// regular file, else the error of the system.
pub fn read_small(path: &Path, limit: u64) -> Result<String, io::Error> {
    let bytes = read_small_bytes(path, limit)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

/// The bytes of a small file.
///
/// # Errors
///
/// Those of [`read_small`], except that the bytes need not be UTF-8.
pub fn read_small_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, io::Error> {
    let mut file = InputFile::open(path, &FirstFailure::default())?;
    // The file is read up to the length that it has now.
    if file.length() > limit {
        let message = format!("the file is longer than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The device and the inode of a path, links followed: two paths to one file or folder have the same.
///
/// # Errors
///
/// The error of the system.
#[cfg(unix)]
pub fn device_and_inode(path: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    access::call(Call::Stat, || std::fs::metadata(path)).map(|found| (found.dev(), found.ino()))
}
