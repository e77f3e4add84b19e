//! The Rust files of the workspace, each without its tests.
//!
//! Tests are the lines from a `#[cfg(test)]` above a `mod … {` to the end of the file, and whole files that are declared with that
//! attribute. Folders named `tests` are left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};
use proc_macro2::TokenStream;

/// A Rust file without its tests.
pub(crate) struct SourceFile {
    /// Path below the root, with forward slashes.
    pub path: String,
    /// The crate's folder name; `xtask` for the chores, `wheel` for the Python package.
    pub krate: String,
    /// The text without tests.
    pub text: String,
    /// Code lines of the tests below it.
    pub test_lines: usize,
}

impl SourceFile {
    pub(crate) fn tokens(&self) -> Result<TokenStream> {
        TokenStream::from_str(&self.text).map_err(|error| anyhow!("{}: {error}", self.path))
    }
}

/// Counts the lines that are neither blank nor comments.
pub(crate) fn code_lines(text: &str) -> usize {
    let is_code = |line: &&str| !line.trim_start().starts_with("//") && !line.trim().is_empty();
    text.lines().filter(is_code).count()
}

/// Reads every source file of every crate, sorted by path.
pub(crate) fn source_files(root: &Path) -> Result<Vec<SourceFile>> {
    let mut texts = texts_below(root, &["crates", "python/src", "xtask/src"])?;
    texts.retain(|(path, _)| crate_of(path).is_some());
    let only_tests: BTreeSet<PathBuf> = texts
        .iter()
        .flat_map(|(path, text)| test_files_declared_in(Path::new(path), text))
        .collect();
    let mut files = Vec::new();
    for (path, text) in texts {
        let mut folders = Path::new(&path).ancestors();
        let is_below_tests = folders.any(|folder| only_tests.contains(&folder.with_extension("rs")));
        if let (false, Some(krate)) = (is_below_tests, crate_of(&path)) {
            let code = without_tests(&text);
            files.push(SourceFile {
                krate: krate.to_owned(),
                test_lines: code_lines(&text) - code_lines(&code),
                text: code,
                path,
            });
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Returns the crate of a source file; `None` for tests and benchmarks.
fn crate_of(path: &str) -> Option<&str> {
    match path.split_once("/src/")?.0 {
        "python" => Some("wheel"),
        "xtask" => Some("xtask"),
        folder => folder
            .strip_prefix("crates/")
            .filter(|krate| !krate.contains('/')),
    }
}

/// Returns the paths and the texts of the files with only tests and benchmarks.
pub(crate) fn test_files(root: &Path) -> Result<Vec<(String, String)>> {
    let sources: BTreeSet<String> = source_files(root)?.into_iter().map(|file| file.path).collect();
    let mut texts = texts_below(root, &["crates", "xtask"])?;
    texts.retain(|(path, _)| !sources.contains(path));
    Ok(texts)
}

/// Returns the path and the text of every Rust file below some folders, tests included.
pub(crate) fn texts_below(root: &Path, folders: &[&str]) -> Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for folder in folders {
        for path in files_below(root, folder)?
            .into_iter()
            .filter(|path| has_ending(path, "rs"))
        {
            let text = read(root, &path)?;
            texts.push((path, text));
        }
    }
    Ok(texts)
}

/// Reads a file; its path is below the root.
pub(crate) fn read(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

/// Lists the paths of all files below a folder in order, without build output and without the examples that `just toys` adds to a copy.
pub(crate) fn files_below(root: &Path, folder: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(root.join(folder)).with_context(|| format!("cannot list {folder}"))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        if !entry.path().is_dir() {
            found.push(path);
        } else if !["target", "toys", "__pycache__"].contains(&name.as_str()) {
            found.extend(files_below(root, &path)?);
        }
    }
    found.sort();
    Ok(found)
}

pub(crate) fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|own| own == ending)
}

/// Returns the text above the test module at its end.
fn without_tests(text: &str) -> String {
    let mut product_code = String::new();
    let mut pending = String::new();
    for line in text.lines() {
        if line == "#[cfg(test)]" || (!pending.is_empty() && line.starts_with(['#', ' ', ')'])) {
            pending.push_str(line);
            pending.push('\n');
            continue;
        }
        if !pending.is_empty() && module(line).is_some_and(|rest| rest.ends_with('{')) {
            return product_code;
        }
        product_code.push_str(&pending);
        pending.clear();
        product_code.push_str(line);
        product_code.push('\n');
    }
    product_code
}

/// Returns what follows `mod` in a line that declares a module.
fn module(line: &str) -> Option<&str> {
    let seen = ["pub(crate) ", "pub(super) "];
    let own = seen.iter().find_map(|seen| line.strip_prefix(seen));
    own.unwrap_or(line).strip_prefix("mod ")
}

/// Returns the files of modules that are declared with `#[cfg(test)]`.
fn test_files_declared_in(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(path);
    let stem = path.file_stem().unwrap_or_default();
    let folder = match stem.to_string_lossy().as_ref() {
        "lib" | "main" | "mod" => folder.to_path_buf(),
        _ => folder.join(stem),
    };
    let mut files = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            continue;
        }
        // Attributes may be written over several lines.
        while lines.next_if(|line| line.starts_with(['#', ' ', ')'])).is_some() {}
        let declared = lines.peek().and_then(|line| module(line)?.strip_suffix(';'));
        if let Some(name) = declared {
            files.push(folder.join(format!("{name}.rs")));
            files.push(folder.join(name).join("mod.rs"));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_module_ends_the_text_and_a_test_only_function_does_not() {
        let text = "fn a() {}\n#[cfg(test)]\nfn b() {}\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n}\n";
        assert_eq!(without_tests(text), "fn a() {}\n#[cfg(test)]\nfn b() {}\n");
        let text = "fn a() {}\n#[cfg(test)]\n#[expect(\n    x\n)]\npub(super) mod tests {\n}\n";
        assert_eq!(without_tests(text), "fn a() {}\n");
    }

    #[test]
    fn blanks_and_comments_are_no_code() {
        assert_eq!(
            code_lines("//! Doc.\n\nfn a() {\n    // why\n    b(); // how\n}\n"),
            3
        );
    }

    #[test]
    fn a_module_behind_cfg_test_is_a_test_file() {
        let text = "mod a;\n#[cfg(test)]\nmod judged;\nmod b;\n";
        let declared = test_files_declared_in(Path::new("src/lib.rs"), text);
        assert_eq!(
            declared,
            [Path::new("src/judged.rs"), Path::new("src/judged/mod.rs")]
        );
        let declared = test_files_declared_in(Path::new("src/room.rs"), text);
        assert_eq!(
            declared.first().map(PathBuf::as_path),
            Some(Path::new("src/room/judged.rs"))
        );
    }
}
