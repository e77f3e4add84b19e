//! `cargo xtask sizes`: the length of the files, and the lines of code and tests in each crate. It fails for a file of more than 600
//! lines (a source without its tests), and for a crate with more code than `xtask/allowances.txt` allows. A change that needs more
//! raises the number there, with its reason.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Result, bail};

use crate::allowances::numbers;
use crate::sources::{code_lines, read, source_files, test_files};

/// The most lines of a file, of a source without its tests.
const LIMIT: usize = 600;

/// The file with the most code lines of each crate.
const ALLOWANCES: &str = "xtask/allowances.txt";

/// Crates that only tests use.
const TEST_CRATES: &[&str] = &["drawn", "golden", "testkit", "workshop"];

/// The code lines of a crate, and of its tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CrateLines {
    code: usize,
    tests: usize,
}

pub(crate) fn run(root: &Path) -> Result<String> {
    let (sources, tests) = (source_files(root)?, test_files(root)?);
    let mut crates: BTreeMap<&str, CrateLines> = BTreeMap::new();
    for file in &sources {
        let lines = crates.entry(&file.krate).or_default();
        lines.code += code_lines(&file.text);
        lines.tests += file.test_lines;
    }
    for (path, text) in &tests {
        let folder = path.strip_prefix("crates/").unwrap_or(path);
        let krate = folder.split('/').next().unwrap_or(folder);
        crates.entry(krate).or_default().tests += code_lines(text);
    }
    for name in TEST_CRATES {
        if let Some(lines) = crates.get_mut(name) {
            lines.tests += std::mem::take(&mut lines.code);
        }
    }
    let length = |text: &str, path: &String| (text.lines().count(), path.clone());
    let sources = sources.iter().map(|file| length(&file.text, &file.path));
    let tests = tests.iter().map(|(path, text)| length(text, path));
    let files = report(sources.chain(tests).collect())?;
    Ok(format!("{files}\n{}", table(&crates, &read(root, ALLOWANCES)?)?))
}

/// Returns a table of code and tests by crate, or fails where a crate has more than its allowance.
fn table(crates: &BTreeMap<&str, CrateLines>, allowances: &str) -> Result<String> {
    let mut allowed = numbers(allowances)?;
    let mut table_text = String::from("crate         code    tests  allowed");
    let mut violations = String::new();
    let mut sum = CrateLines::default();
    for (name, lines) in crates {
        let most = allowed.remove(name).unwrap_or_default();
        let CrateLines { code, tests } = *lines;
        write!(table_text, "\n{name:10} {code:>7}  {tests:>7}  {most:>7}")?;
        if code > most {
            write!(
                violations,
                "\n{name}: {code} lines of code, {most} are allowed by {ALLOWANCES}"
            )?;
        }
        sum.code += code;
        sum.tests += tests;
    }
    for name in allowed.keys() {
        write!(violations, "\n{ALLOWANCES}: there is no crate {name}")?;
    }
    write!(table_text, "\n{:10} {:>7}  {:>7}", "all", sum.code, sum.tests)?;
    if violations.is_empty() {
        return Ok(table_text);
    }
    bail!("{table_text}{violations}")
}

fn report(mut sizes: Vec<(usize, String)>) -> Result<String> {
    sizes.sort();
    let at = |share: usize| {
        sizes
            .get(sizes.len() * share / 100)
            .map_or(0, |(lines, _)| *lines)
    };
    let mut table_text = format!(
        "sizes: {} files, median {} lines, 90 % up to {}; the largest:",
        sizes.len(),
        at(50),
        at(90)
    );
    for (lines, path) in sizes.iter().rev().take(5) {
        write!(table_text, "\n  {lines:4}  {path}")?;
    }
    for (lines, path) in sizes.iter().filter(|(lines, _)| *lines > LIMIT) {
        write!(
            table_text,
            "\n{path}: {lines} lines, {LIMIT} are allowed; split it by concept"
        )?;
    }
    if sizes.last().is_some_and(|(lines, _)| *lines > LIMIT) {
        bail!("{table_text}");
    }
    Ok(table_text)
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

    #[test]
    fn a_crate_has_as_much_code_as_it_may_and_not_a_line_more() {
        let crates = |code| BTreeMap::from([("link", CrateLines { code, tests: 7 })]);
        let table_text = table(&crates(9), "# why\nlink 9").unwrap();
        assert!(
            table_text.ends_with("link             9        7        9\nall              9        7"),
            "{table_text}"
        );
        let complaint = |code, allowances| table(&crates(code), allowances).unwrap_err().to_string();
        assert!(
            complaint(10, "link 9")
                .ends_with("link: 10 lines of code, 9 are allowed by xtask/allowances.txt")
        );
        assert!(complaint(9, "link 9\nlonk 9").ends_with("there is no crate lonk"));
        assert!(complaint(9, "link").contains("`WHOSE NUMBER`"));
    }
}
