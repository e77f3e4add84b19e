//! The files of the run itself, which are never inputs, even if a pattern matches them.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use chatmill_diag::faults::Call;

use crate::access;

/// The files of a run: its pipeline file, its output, and the unfinished work next to the output.
pub struct Own {
    file: Option<PathBuf>,
    out: PathBuf,
    /// The resolved paths of folders, kept because thousands of inputs may be in the same ones.
    folders: HashMap<PathBuf, PathBuf>,
    /// The error because of which the files' paths are unknown.
    unknown: Option<i32>,
}

impl Own {
    /// The files of a run that writes to `out`, with its pipeline file if it has one.
    pub fn new(file: Option<&Path>, out: &Path) -> Self {
        let mut own = Self {
            file: None,
            out: PathBuf::new(),
            folders: HashMap::new(),
            unknown: None,
        };
        if let Err(error) = own.find(file, out) {
            own.unknown = error.raw_os_error();
        }
        own
    }

    fn find(&mut self, file: Option<&Path>, out: &Path) -> io::Result<()> {
        self.file = file.map(|file| self.place(file)).transpose()?;
        // If an existing output is a link, its target is the file that is written.
        self.out = match real(out)? {
            Some(out) => out,
            None => self.place(out)?,
        };
        Ok(())
    }

    /// Whether a path is one of these files, or is below one.
    ///
    /// # Errors
    ///
    /// Where the system cannot resolve these files or the path.
    pub fn holds(&mut self, path: &Path) -> io::Result<bool> {
        if let Some(unknown) = self.unknown {
            return Err(io::Error::from_raw_os_error(unknown));
        }
        let place = self.place(path)?;
        if self.file.as_ref() == Some(&place) || place.starts_with(&self.out) {
            return Ok(true);
        }
        let (Some(parent), Some(name)) = (self.out.parent(), self.out.file_name()) else {
            return Ok(false);
        };
        // Lock, staging and files that are being written have names of the form `.NAME.something`.
        let below = place.strip_prefix(parent).ok();
        let first = below.and_then(|below| below.iter().next());
        let beside = first.and_then(|first| first.as_encoded_bytes().strip_prefix(b"."));
        let rest = beside.and_then(|beside| beside.strip_prefix(name.as_encoded_bytes()));
        Ok(rest.is_some_and(|rest| rest.starts_with(b".")))
    }

    /// The resolved path, with links followed as far as the path exists.
    fn place(&mut self, path: &Path) -> io::Result<PathBuf> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(real(path)?.unwrap_or_else(|| path.to_owned()));
        };
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.join(name));
        }
        let shown = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let real = match real(shown)? {
            Some(real) => real,
            None => self.place(folder)?,
        };
        self.folders.insert(folder.to_owned(), real.clone());
        Ok(real.join(name))
    }
}

/// The resolved path; `None` if the file does not exist or may not be inspected.
pub(super) fn real(path: &Path) -> io::Result<Option<PathBuf>> {
    match access::call(Call::Stat, || path.canonicalize()) {
        Ok(real) => Ok(Some(real)),
        Err(error) if access::is_of_the_system(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_run_recognises_its_own_files_by_any_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("in/deep")).unwrap();
        std::os::unix::fs::symlink(at("in"), at("link")).unwrap();
        for out in ["in/out", "link/out", "in/deep/../out"] {
            let mut own = Own::new(Some(&at("link/plan.toml")), &at(out));
            for name in [
                "in/out",
                "in/out/messages/part-00000-00000.parquet",
                "in/.out.lock",
                "in/.out.staging/abc/data/x",
                "in/plan.toml",
                "link/deep/../plan.toml",
                "link/out/x",
            ] {
                assert!(own.holds(&at(name)).unwrap(), "{out}: {name}");
            }
            for name in [
                "in/a.json",
                "in/output/a.json",
                "in/out.json",
                "in/.outer.lock",
                "in/deep/out/a.json",
                "in/deep/plan.toml",
            ] {
                assert!(!own.holds(&at(name)).unwrap(), "{out}: {name}");
            }
        }
    }
}
