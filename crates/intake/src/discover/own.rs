//! What belongs to a run itself, and so is no input of it, whatever pattern matches it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files of a run: the pipeline file it was asked by, its output, and what stands beside the output while it works.
pub struct Own {
    file: Option<PathBuf>,
    out: PathBuf,
    /// Where folders really are: inputs come by the thousand from the same ones.
    folders: HashMap<PathBuf, PathBuf>,
}

impl Own {
    /// The files of the run that a pipeline file asks for, if there is one, and that writes to `out`.
    pub fn new(file: Option<&Path>, out: &Path) -> Self {
        let mut own = Self {
            file: None,
            out: PathBuf::new(),
            folders: HashMap::new(),
        };
        own.file = file.map(|file| own.place(file));
        // What an existing output leads to is what is written.
        own.out = out.canonicalize().unwrap_or_else(|_| own.place(out));
        own
    }

    /// Whether a path is one of them, or lies below one.
    pub fn holds(&mut self, path: &Path) -> bool {
        let place = self.place(path);
        if self.file.as_ref() == Some(&place) || place.starts_with(&self.out) {
            return true;
        }
        let (Some(home), Some(name)) = (self.out.parent(), self.out.file_name()) else {
            return false;
        };
        // Lock, staging and files that are being written are called `.NAME.something`.
        let below = place.strip_prefix(home).ok();
        let first = below.and_then(|below| below.iter().next());
        let beside = first.and_then(|first| first.as_encoded_bytes().strip_prefix(b"."));
        beside
            .and_then(|beside| beside.strip_prefix(name.as_encoded_bytes()))
            .is_some_and(|rest| rest.starts_with(b"."))
    }

    /// Where a path is, with the links on the way to it followed, as far as there is anything.
    fn place(&mut self, path: &Path) -> PathBuf {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return path.canonicalize().unwrap_or_else(|_| path.to_owned());
        };
        if let Some(known) = self.folders.get(folder) {
            return known.join(name);
        }
        let shown = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let real = match shown.canonicalize() {
            Ok(real) => real,
            Err(_) => self.place(folder),
        };
        self.folders.insert(folder.to_owned(), real.clone());
        real.join(name)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_run_knows_its_own_files_by_whatever_path_they_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("in/deep")).unwrap();
        std::os::unix::fs::symlink(at("in"), at("link")).unwrap();
        for out in ["in/out", "link/out", "in/deep/../out"] {
            let mut own = Own::new(Some(&at("link/plan.toml")), &at(out));
            for name in [
                "in/out",
                "in/out/messages/part-00000.parquet",
                "in/.out.lock",
                "in/.out.staging/abc/data/x",
                "in/plan.toml",
                "link/deep/../plan.toml",
                "link/out/x",
            ] {
                assert!(own.holds(&at(name)), "{out}: {name}");
            }
            for name in [
                "in/a.json",
                "in/output/a.json",
                "in/out.json",
                "in/.outer.lock",
                "in/deep/out/a.json",
                "in/deep/plan.toml",
            ] {
                assert!(!own.holds(&at(name)), "{out}: {name}");
            }
        }
    }
}
