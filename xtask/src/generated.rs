//! Files that are generated from the code: written, or compared with the files that are checked in.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// What to do with a generated file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Report it where it differs.
    Check,
    /// Write it.
    Write,
}

impl Mode {
    pub(crate) fn parse(argument: &str) -> Result<Self> {
        match argument {
            "--check" => Ok(Self::Check),
            "--write" => Ok(Self::Write),
            other => bail!("expected --check or --write, not {other:?}"),
        }
    }
}

/// The generated files of a chore: those that differ, or the number of those that were written.
pub(crate) struct Generated {
    mode: Mode,
    stale: Vec<String>,
    written: u32,
    same: u32,
}

impl Generated {
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            mode,
            stale: Vec::new(),
            written: 0,
            same: 0,
        }
    }

    /// Writes or compares one file; `path` is below `root`.
    pub(crate) fn file(&mut self, root: &Path, path: &str, text: &str) -> Result<()> {
        let target = root.join(path);
        if fs::read_to_string(&target).is_ok_and(|there| there == text) {
            self.same += 1;
            return Ok(());
        }
        match self.mode {
            Mode::Check => self.stale.push(path.to_owned()),
            Mode::Write => {
                if let Some(folder) = target.parent() {
                    fs::create_dir_all(folder)
                        .with_context(|| format!("cannot make the folder of {path}"))?;
                }
                fs::write(&target, text).with_context(|| format!("cannot write {path}"))?;
                self.written += 1;
            }
        }
        Ok(())
    }

    /// Removes or reports files of a folder that nothing generates any more.
    pub(crate) fn nothing_else_in(&mut self, root: &Path, folder: &str, wanted: &[String]) -> Result<()> {
        let Ok(entries) = fs::read_dir(root.join(folder)) else {
            return Ok(());
        };
        let mut extra = Vec::new();
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !wanted.contains(&name) {
                extra.push(format!("{folder}/{name}"));
            }
        }
        extra.sort();
        for path in extra {
            match self.mode {
                Mode::Check => self.stale.push(path),
                Mode::Write => {
                    fs::remove_file(root.join(&path)).with_context(|| format!("cannot remove {path}"))?;
                    self.written += 1;
                }
            }
        }
        Ok(())
    }

    /// Returns the closing line, or the error that names every stale file and the command that mends them.
    pub(crate) fn finish(self, chore: &str) -> Result<String> {
        if !self.stale.is_empty() {
            bail!(
                "{} not up to date; run `cargo xtask {chore} --write`",
                self.stale.join(", ")
            );
        }
        Ok(match self.mode {
            Mode::Check => format!("{chore}: {} up to date", self.same),
            Mode::Write => format!("{chore}: {} written, {} were up to date", self.written, self.same),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_names_stale_and_superfluous_files_and_writing_mends_both() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("pages")).unwrap();
        fs::write(root.join("pages/old.md"), "old").unwrap();
        let go = |mode| {
            let mut generated = Generated::new(mode);
            generated.file(root, "pages/new.md", "new").unwrap();
            generated
                .nothing_else_in(root, "pages", &["new.md".to_owned()])
                .unwrap();
            generated.finish("pages")
        };
        let complaint = go(Mode::Check).unwrap_err().to_string();
        assert!(
            complaint.starts_with("pages/new.md, pages/old.md not up to date"),
            "{complaint}"
        );
        assert_eq!(go(Mode::Write).unwrap(), "pages: 2 written, 0 were up to date");
        assert_eq!(go(Mode::Check).unwrap(), "pages: 1 up to date");
    }
}
