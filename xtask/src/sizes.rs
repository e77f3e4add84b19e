//! `cargo xtask sizes`: how long the files are: sources without their tests, and files of tests. More than 600 lines is a fault.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Result, bail};

use crate::sources::{source_files, test_files};

/// Lines that no file exceeds, a source without its tests.
const LIMIT: usize = 600;

pub(crate) fn run(root: &Path) -> Result<String> {
    let files = source_files(root)?;
    let sources = files
        .into_iter()
        .map(|file| (file.text.lines().count(), file.path));
    let tests = test_files(root)?.into_iter().map(|(path, lines)| (lines, path));
    report(sources.chain(tests).collect())
}

fn report(mut sizes: Vec<(usize, String)>) -> Result<String> {
    sizes.sort();
    let at = |share: usize| {
        sizes
            .get(sizes.len() * share / 100)
            .map_or(0, |(lines, _)| *lines)
    };
    let mut said = format!(
        "sizes: {} files, median {} lines, 90 % up to {}; the largest:",
        sizes.len(),
        at(50),
        at(90)
    );
    for (lines, path) in sizes.iter().rev().take(5) {
        write!(said, "\n  {lines:4}  {path}")?;
    }
    let too_long: Vec<_> = sizes.iter().filter(|(lines, _)| *lines > LIMIT).collect();
    if too_long.is_empty() {
        return Ok(said);
    }
    for (lines, path) in too_long {
        write!(
            said,
            "\n{path}: {lines} lines, {LIMIT} are allowed; split it by concept"
        )?;
    }
    bail!("{said}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed_and_one_line_more_is_not() {
        let sizes = |longest| vec![(10, "a.rs".to_owned()), (longest, "b.rs".to_owned())];
        assert!(report(sizes(600)).unwrap().contains("2 files"));
        let complaint = report(sizes(601)).unwrap_err().to_string();
        assert!(complaint.contains("b.rs: 601 lines"), "{complaint}");
    }
}
