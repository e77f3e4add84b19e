//! The Rust files of the workspace, each without its tests.
//!
//! Tests are what stands below a `#[cfg(test)]` before a `mod … {`, and whole files that are declared behind one. Folders named
//! `tests` are left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A file, and its text down to its tests.
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

/// A file that holds nothing but tests and benchmarks.
pub(crate) struct TestFile {
    /// Path below the root, with forward slashes.
    pub path: String,
    /// The text.
    pub text: String,
}

/// Lines that are neither blank nor comments.
pub(crate) fn code_lines(text: &str) -> usize {
    let is_code = |line: &&str| !line.trim_start().starts_with("//") && !line.trim().is_empty();
    text.lines().filter(is_code).count()
}

/// Every source file of every crate, sorted by path.
pub(crate) fn source_files(root: &Path) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let mut folders = vec![
        ("xtask".to_owned(), root.join("xtask/src")),
        ("wheel".to_owned(), root.join("python/src")),
    ];
    for folder in entries(&root.join("crates"))? {
        let krate = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        folders.push((krate, folder.join("src")));
    }
    for (krate, folder) in folders {
        let mut paths = Vec::new();
        rust_files_below(&folder, &mut paths)?;
        let mut texts = Vec::new();
        let mut only_tests = BTreeSet::new();
        for path in paths {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            only_tests.extend(test_files_declared_in(&path, &text));
            texts.push((path, text));
        }
        for (path, text) in texts {
            let is_below_tests = path
                .ancestors()
                .any(|folder| only_tests.contains(&folder.with_extension("rs")));
            if !is_below_tests {
                let code = without_tests(&text);
                files.push(SourceFile {
                    path: below(root, &path),
                    krate: krate.clone(),
                    test_lines: code_lines(&text) - code_lines(&code),
                    text: code,
                });
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// The files that hold nothing but tests and benchmarks, sorted by path.
pub(crate) fn test_files(root: &Path) -> Result<Vec<TestFile>> {
    let sources: BTreeSet<String> = source_files(root)?.into_iter().map(|file| file.path).collect();
    let texts = texts_below(root, &["crates", "xtask"])?.into_iter();
    let files = texts.filter(|(path, _)| !sources.contains(path));
    Ok(files.map(|(path, text)| TestFile { path, text }).collect())
}

/// The path and the text of every Rust file below some folders, tests or not.
pub(crate) fn texts_below(root: &Path, folders: &[&str]) -> Result<Vec<(String, String)>> {
    let mut paths = Vec::new();
    for folder in folders {
        rust_files_below(&root.join(folder), &mut paths)?;
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok((below(root, &path), text))
    };
    paths.into_iter().map(read).collect()
}

fn below(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    below.to_string_lossy().replace('\\', "/")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in read {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

fn rust_files_below(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(folder)? {
        if path.is_dir() {
            rust_files_below(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// The text above the test module at its end.
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

/// What follows `mod` in a line that declares a module.
fn module(line: &str) -> Option<&str> {
    let seen = ["pub(crate) ", "pub(super) "];
    let own = seen.iter().find_map(|seen| line.strip_prefix(seen));
    own.unwrap_or(line).strip_prefix("mod ")
}

/// Files of modules that are declared behind `#[cfg(test)]`.
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
