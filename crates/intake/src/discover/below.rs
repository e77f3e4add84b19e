//! Whether a pattern would read a path.

use std::io;
use std::path::Path;

use super::own::real;
use super::{matcher, split};

/// Whether a path is the file that a pattern names, or is below the folder that the pattern names or searches. Links
/// are followed.
///
/// # Errors
///
/// Where the system cannot resolve the paths.
pub fn lies_below(path: &Path, pattern: &str) -> io::Result<bool> {
    if pattern == "-" {
        return Ok(false);
    }
    let Some(path) = real(path)? else {
        return Ok(false);
    };
    let looked_in = match real(Path::new(pattern))? {
        Some(named) => Some(named),
        None => match split(pattern) {
            // The pattern names nothing.
            (_, "") => None,
            ("", _) => real(Path::new("."))?,
            (folder, _) => real(Path::new(folder))?,
        },
    };
    Ok(looked_in.is_some_and(|folder| path.starts_with(folder)))
}

/// Whether a pattern, relative to `base`, would read a file at this path, which need not exist yet: the pattern names
/// the file or a folder above it, or matches it.
///
/// # Errors
///
/// Where the system cannot resolve the paths.
pub fn would_read(pattern: &str, base: &Path, file: &Path) -> io::Result<bool> {
    let shown = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let (Some(folder), Some(name)) = (real(shown.unwrap_or(Path::new(".")))?, file.file_name()) else {
        return Ok(false);
    };
    let file = folder.join(name);
    if let Some(named) = real(&base.join(pattern))? {
        return Ok(file.starts_with(named));
    }
    let (folder, glob) = split(pattern);
    let Some(folder) = real(&base.join(folder))? else {
        return Ok(false);
    };
    // An invalid pattern is reported where its inputs are looked for.
    let is_match = |below: &Path| matcher(glob, pattern).is_ok_and(|matcher| matcher.is_match(below));
    Ok(!glob.is_empty() && file.strip_prefix(folder).is_ok_and(is_match))
}

/// Whether two paths are the same file, through any links; false if one of them does not exist.
///
/// # Errors
///
/// Where the system cannot resolve the paths.
pub fn is_same_place(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(real(one)?.is_some_and(|one| real(other).is_ok_and(|other| other == Some(one))))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn paths_to_the_same_place_are_equal() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("in")).unwrap();
        for name in ["in/a", "in/b"] {
            std::fs::write(at(name), "").unwrap();
        }
        std::os::unix::fs::symlink(at("in"), at("link")).unwrap();
        assert!(is_same_place(&at("in/a"), &at("link/../in/a")).unwrap());
        assert!(!is_same_place(&at("in/a"), &at("in/b")).unwrap());
        assert!(!is_same_place(&at("in/c"), &at("in/c")).unwrap());
    }

    #[test]
    fn a_file_that_a_pattern_would_read_is_known_before_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("in/deep")).unwrap();
        std::fs::write(at("in/a.jsonl"), "").unwrap();
        std::os::unix::fs::symlink(at("in"), at("link")).unwrap();
        let absolute = at("in").to_str().unwrap().to_owned();
        for pattern in [
            "in",
            "in/",
            "in/*",
            "in/*.jsonl",
            "in/**",
            "**/*.jsonl",
            "link",
            "link/*.{json,jsonl}",
            &absolute,
        ] {
            for file in ["in/new.jsonl", "link/new.jsonl", "in/deep/../new.jsonl"] {
                assert!(
                    would_read(pattern, folder.path(), &at(file)).unwrap(),
                    "{pattern}: {file}"
                );
            }
        }
        for pattern in [
            "in/a.jsonl",
            "in/*.json",
            "in/deep",
            "*.jsonl",
            "nowhere",
            "nowhere/**",
            "in/[",
            "-",
        ] {
            assert!(
                !would_read(pattern, folder.path(), &at("in/new.jsonl")).unwrap(),
                "{pattern}"
            );
        }
        assert!(would_read("in", folder.path(), &at("in/deep/new")).unwrap());
        assert!(!would_read("in", folder.path(), &at("in/nowhere/new")).unwrap());
    }

    #[test]
    fn a_path_is_below_its_pattern_in_any_spelling() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::create_dir_all(at("in/deep")).unwrap();
        std::fs::write(at("in/deep/a.toml"), "").unwrap();
        std::os::unix::fs::symlink(at("in"), at("link")).unwrap();
        let file = at("in/deep/a.toml");
        for pattern in [
            "",
            "in",
            "in/deep",
            "in/deep/a.toml",
            "link",
            "in/deep/../deep",
            "in/*.json",
            "in/**",
            "link/deep/a.*",
        ] {
            assert!(lies_below(Path::new(&file), &at(pattern)).unwrap(), "{pattern}");
        }
        std::fs::create_dir(at("in/other")).unwrap();
        for pattern in [
            "in/other",
            "in/other/*",
            "in/dee*/nothing",
            "nowhere",
            "nowhere/*",
        ] {
            let below = lies_below(Path::new(&file), &at(pattern)).unwrap();
            assert_eq!(below, pattern.starts_with("in/dee"), "{pattern}");
        }
        assert!(!lies_below(Path::new(&file), "-").unwrap());
        assert!(!lies_below(Path::new(&at("nothing")), &at("in")).unwrap());
    }
}
