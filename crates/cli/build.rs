//! Lists the files that `chatmill example` prints, from their names in `data-samples`:
//!
//! - `sources/<source>/example/`: a valid file of a source, alone in its folder
//! - `rules/<code>/bad.<source>.<extension>`: a file of that source that raises the code
//!
//! In builds for release it also asks git for the commit, which `--version` prints.
#![expect(clippy::disallowed_methods, reason = "a build script reads the repository")]
#![expect(
    clippy::unnecessary_debug_formatting,
    reason = "Rust reads the paths as literals"
)]

use std::fmt::Write as _;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<()> {
    let samples = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("../../data-samples");
    let mut valid = String::new();
    for (source, name, path) in files(&samples.join("sources"))? {
        if name == "example" {
            let mut inside = fs::read_dir(&path)?;
            let Some(file) = inside.next() else { continue };
            let path = file?.path();
            writeln!(valid, "({source:?}, include_bytes!({path:?})),").map_err(Error::other)?;
        }
    }
    let mut broken = String::new();
    for (code, name, path) in files(&samples.join("rules"))? {
        if let Some((source, _)) = name.strip_prefix("bad.").and_then(|rest| rest.split_once('.')) {
            writeln!(broken, "({code:?}, {source:?}, include_bytes!({path:?})),").map_err(Error::other)?;
        }
    }
    let text = format!(
        "/// A valid file of every source.\n\
         pub(super) static VALID: &[(&str, &[u8])] = &[\n{valid}];\n\n\
         /// Files that raise a finding: the name of its code, the source that reads them, and their bytes.\n\
         pub(super) static BROKEN: &[(&str, &str, &[u8])] = &[\n{broken}];\n"
    );
    let out = PathBuf::from(variable("OUT_DIR")?);
    fs::write(out.join("samples.rs"), text)?;
    let commit = commit(&samples).map(|commit| format!("\ncommit {commit}"));
    let version = variable("CARGO_PKG_VERSION")? + &commit.unwrap_or_default();
    fs::write(out.join("version.txt"), version)?;
    if variable("PROFILE")? == "release" && variable("CARGO_CFG_TARGET_OS")? == "linux" {
        // A program with an entry in `profile.release.package` keeps its symbols otherwise.
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
    Ok(())
}

/// The commit that is checked out; `None` outside a checkout of this project, and in a build for tests, which would otherwise be rebuilt
/// after each commit.
fn commit(samples: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .current_dir(samples)
            .args(arguments)
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim_end().to_owned())
    };
    if variable("PROFILE").ok()? != "release" || git(&["ls-files", "--error-unmatch", "."]).is_none() {
        return None;
    }
    for file in ["HEAD", "logs/HEAD"] {
        let path = samples.join(git(&["rev-parse", "--git-path", file])?);
        if path.is_file() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    git(&["rev-parse", "HEAD"])
}

/// The files of the folders in a folder, sorted: folder, name and path.
fn files(folder: &Path) -> Result<Vec<(String, String, String)>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for inner in fs::read_dir(folder)? {
        let inner = inner?;
        for file in fs::read_dir(inner.path())? {
            let file = file?;
            let words = [inner.file_name(), file.file_name()].map(|name| name.to_string_lossy().into_owned());
            let [folder, name] = words;
            files.push((folder, name, file.path().to_string_lossy().into_owned()));
        }
    }
    files.sort();
    Ok(files)
}

fn variable(name: &str) -> Result<String> {
    std::env::var(name).map_err(Error::other)
}
