//! File access for inputs: only this module inspects, lists, opens and reads files and folders.
//!
//! Each call asks [`chatmill_diag::faults`] first, so that tests can let any of them fail, and is repeated when a
//! signal interrupts it. Errors are classified here as well: either an error is a property of the *input*, or the
//! *system* could not do its work, and then nothing is known about the input
//! (docs/decisions/2026-11-22-system-errors-versus-input-errors.md).

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use chatmill_diag::faults::Call;
pub(crate) use chatmill_diag::faults::call;
use chatmill_diag::{Class, Classed};

/// A call that failed while an input was read. It is no finding about the input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {action} {}: {reason}", path.display())]
pub struct Failure {
    /// The operation, as a verb.
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The error of the operating system.
    pub reason: String,
    /// Whether the system is the cause, and not the file at the path.
    pub is_of_the_system: bool,
    /// Whether there is nothing at the path. For a file that was there before, that is no property of the file.
    pub is_absence: bool,
}

impl Failure {
    /// A failure with its path and the error of the system.
    pub fn new(action: &'static str, path: &Path, error: &io::Error) -> Self {
        Self {
            is_absence: error.kind() == io::ErrorKind::NotFound,
            action,
            path: path.to_owned(),
            reason: error.to_string(),
            is_of_the_system: is_of_the_system(error),
        }
    }
}

impl Classed for Failure {
    fn class(&self) -> Class {
        Class::System
    }
}

/// The text of `/proc/self/status`, which the kernel generates; empty where that does not exist.
pub fn process_status() -> String {
    fs::read_to_string("/proc/self/status").unwrap_or_default()
}

/// Whether an error is one of the system and not a property of the file at a path.
///
/// The known properties of a file are: it does not exist, may not be read, is of another kind, is reached only through
/// a loop of links, or has an impossible name. Every other error is the system's: as a finding, a transient error would
/// publish a shorter dataset under the fingerprint of the complete one, and repeating the run would change nothing.
pub fn is_of_the_system(error: &io::Error) -> bool {
    use io::ErrorKind;
    // A loop of links has no stable error kind.
    #[cfg(unix)]
    let is_loop = rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP);
    #[cfg(not(unix))]
    let is_loop = false;
    // An error that does not come from the operating system is about the path or its content.
    let is_ours = error.raw_os_error().is_none();
    !is_loop
        && !match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidFilename => true,
            ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::FileTooLarge => is_ours,
            _ => false,
        }
}

/// Whether an error means that no file of that name exists.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::InvalidInput
    )
}

/// The metadata of a path; links are not followed.
pub(crate) fn symlink_metadata(path: &Path) -> io::Result<Metadata> {
    call(Call::Stat, || fs::symlink_metadata(path))
}

/// The metadata of the file at the end of all links.
pub(crate) fn follow(path: &Path) -> io::Result<Metadata> {
    call(Call::Stat, || fs::metadata(path))
}

/// The names in a folder, unsorted.
pub(crate) fn list(folder: &Path) -> io::Result<Vec<OsString>> {
    call(Call::List, || {
        fs::read_dir(folder)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect()
    })
}

/// Records the first call that failed while an input was read.
///
/// Decoders swallow errors, turn them into others or report them late; the first one stays available here.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstFailure {
    /// The path of the input.
    path: PathBuf,
    first: Arc<OnceLock<Failure>>,
}

impl FirstFailure {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            first: Arc::default(),
        }
    }

    /// Records the error of a file.
    pub(crate) fn at(&self, action: &'static str, path: &Path, error: &io::Error) {
        self.note(Failure::new(action, path, error));
    }

    /// Records the error of the input itself.
    pub(crate) fn here(&self, action: &'static str, reason: &str) {
        self.note(Failure {
            action,
            path: self.path.clone(),
            reason: reason.to_owned(),
            is_of_the_system: true,
            is_absence: false,
        });
    }

    pub(crate) fn note(&self, failure: Failure) {
        // The first failure is the cause of the following ones.
        let _ = self.first.set(failure);
    }

    pub(crate) fn get(&self) -> Option<&Failure> {
        self.first.get()
    }
}

/// The error for a path that is not a regular file of bounded size.
fn irregular(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Whether a path was not opened because of its kind; otherwise the operating system refused it.
pub(crate) fn is_irregular(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput && error.raw_os_error().is_none()
}

/// An input that is open for reading.
///
/// A regular file is read up to the length that it had when it was opened, so that one that grows faster than it is
/// read still ends.
pub(crate) struct InputFile<R = File> {
    stream: R,
    path: PathBuf,
    first_failure: FirstFailure,
    length: u64,
    at: u64,
}

impl InputFile {
    /// Opens a regular file. Anything else at the path is refused without waiting for it.
    pub(crate) fn open(path: &Path, first_failure: &FirstFailure) -> io::Result<Self> {
        Self::opened(path, first_failure).inspect_err(|error| first_failure.at("open", path, error))
    }

    fn opened(path: &Path, first_failure: &FirstFailure) -> io::Result<Self> {
        let stream = call(Call::Open, || without_waiting().open(path))?;
        let metadata = call(Call::Stat, || stream.metadata())?;
        if !metadata.is_file() {
            return Err(irregular("it is not a regular file"));
        }
        if call(Call::Stat, || is_kernel_generated(&stream))? {
            return Err(irregular(
                "it is not a file on a disk: the kernel generates its content when it is read",
            ));
        }
        Ok(Self {
            stream,
            path: path.to_owned(),
            first_failure: first_failure.clone(),
            length: metadata.len(),
            at: 0,
        })
    }

    /// The length when the file was opened.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }
}

impl InputFile<Box<dyn Read + Send>> {
    /// Opens a pipe that was named explicitly; this waits for a writer.
    pub(crate) fn pipe(path: &Path, first_failure: &FirstFailure) -> io::Result<Self> {
        let opened = call(Call::Open, || File::open(path));
        let file = opened.inspect_err(|error| first_failure.at("open", path, error))?;
        Ok(Self::stream(Box::new(file), first_failure))
    }

    /// A stream of unknown length.
    pub(crate) fn stream(stream: Box<dyn Read + Send>, first_failure: &FirstFailure) -> Self {
        Self {
            stream,
            path: first_failure.path.clone(),
            first_failure: first_failure.clone(),
            length: u64::MAX,
            at: 0,
        }
    }
}

impl<R: Read> Read for InputFile<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let length = left.min(buffer.len());
        let buffer = buffer.split_at_mut(length).0;
        if length == 0 {
            return Ok(0);
        }
        let read = call(Call::Read, || self.stream.read(buffer));
        match &read {
            Ok(count) => self.at += *count as u64,
            Err(error) => self.first_failure.at("read", &self.path, error),
        }
        read
    }
}

impl<R: Seek> Seek for InputFile<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(from) => self.length.checked_add_signed(from),
            SeekFrom::Current(from) => self.at.checked_add_signed(from),
        };
        // The target position comes from the content of the file, so it is no failure of the system.
        let to = to.filter(|to| i64::try_from(*to).is_ok());
        let to = to.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let sought = call(Call::Seek, || self.stream.seek(SeekFrom::Start(to)));
        match &sought {
            Ok(at) => self.at = *at,
            Err(error) => self.first_failure.at("read", &self.path, error),
        }
        sought
    }
}

/// At most `count` bytes from the beginning of a regular file; empty for anything else.
pub(crate) fn head(path: &Path, count: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    match InputFile::open(path, &FirstFailure::default()) {
        Ok(file) => file.take(count).read_to_end(&mut head).map(|_| head),
        Err(error) if is_irregular(&error) => Ok(head),
        Err(error) => Err(error),
    }
}

/// The number of bytes in a piece of a file.
pub(crate) const PIECE_BYTES: usize = 256 * 1024;

/// Reads a regular file to its end. `take` receives piece after piece and returns whether to continue. Returns whether
/// the end was reached.
pub(crate) fn pieces(path: &Path, mut take: impl FnMut(&[u8]) -> bool) -> Result<bool, Failure> {
    let opened = InputFile::open(path, &FirstFailure::default());
    let mut file = opened.map_err(|error| Failure::new("open", path, &error))?;
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    loop {
        piece.clear();
        let read = file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece);
        if read.map_err(|error| Failure::new("read", path, &error))? == 0 {
            return Ok(true);
        }
        if !take(&piece) {
            return Ok(false);
        }
    }
}

/// Opening a pipe instead of a file would otherwise wait for a writer.
fn without_waiting() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options
}

/// Whether a file is in a file system that the kernel generates, where lengths are wrong.
#[cfg(target_os = "linux")]
#[expect(clippy::cast_sign_loss, reason = "the bits of a name, not a number")]
fn is_kernel_generated(file: &File) -> io::Result<bool> {
    /// The magic numbers of proc, sysfs, debugfs, tracefs, cgroup, cgroup2, securityfs, selinuxfs, configfs, bpf,
    /// pstore, efivarfs, `binfmt_misc`, mqueue, nsfs and fusectl, from the kernel's `magic.h`.
    const KINDS: [u64; 16] = [
        0x0000_9fa0,
        0x6265_6572,
        0x6462_6720,
        0x7472_6163,
        0x0027_e0eb,
        0x6367_7270,
        0x7363_6673,
        0xf97c_ff8c,
        0x6265_6570,
        0xcafe_4a11,
        0x6165_676c,
        0xde5e_81e4,
        0x4249_4e4d,
        0x1980_0202,
        0x6e73_6673,
        0x6573_5543,
    ];
    // The width and the sign of the field differ between machines.
    let found = rustix::fs::fstatfs(file)?.f_type as u64 & 0xffff_ffff;
    Ok(KINDS.contains(&found))
}

#[cfg(not(target_os = "linux"))]
fn is_kernel_generated(_: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_errors_are_attributed_to_the_input() {
        use io::ErrorKind::{NotFound, PermissionDenied};
        for kind in [NotFound, PermissionDenied] {
            assert!(!is_of_the_system(&kind.into()), "{kind}");
        }
        assert!(is_of_the_system(&io::Error::other("whatever")));
        #[cfg(target_os = "linux")]
        for (errno, is_the_systems) in [
            (1, false),
            (2, false),
            (5, true),
            (12, true),
            (13, false),
            (20, false),
            (21, false),
            (22, true),
            (23, true),
            (24, true),
            (28, true),
            (36, false),
            (40, false),
            (116, true),
        ] {
            let error = io::Error::from_raw_os_error(errno);
            assert_eq!(is_of_the_system(&error), is_the_systems, "{error}");
        }
    }

    #[test]
    fn a_growing_file_is_read_to_its_length_at_opening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "one").unwrap();
        let mut file = InputFile::open(&path, &FirstFailure::default()).ok().unwrap();
        fs::write(&path, "one and more").unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), file.length()), ("one", 3));
        assert_eq!(file.seek(SeekFrom::End(-2)).unwrap(), 1);
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "onene");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn kernel_files_are_refused_and_a_pipe_does_not_block() {
        let irregular = |path: &Path| {
            let first_failure = FirstFailure::new(path);
            let opened = InputFile::open(path, &first_failure);
            assert!(first_failure.get().is_some());
            opened.is_err_and(|error| is_irregular(&error))
        };
        assert!(irregular(Path::new("/proc/self/status")));
        assert!(irregular(Path::new("/sys/kernel/notes")) || !Path::new("/sys/kernel/notes").exists());
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let status = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(status.success());
        assert!(irregular(&pipe));
        assert_eq!(head(&pipe, 4).unwrap(), b"");
    }
}
