//! `docs/dialect-rules.md` against the pages of the dialects and the tests that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Rows of the tables: code and the test that it names.
fn rows() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("docs/dialect-rules.md")).unwrap();
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let code = cells.get(1).filter(|code| is_code(code))?;
            Some((
                (*code).to_owned(),
                cells.get(4).unwrap().trim_matches('`').to_owned(),
            ))
        })
        .collect()
}

/// `ANT-03` and the like.
fn is_code(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 6
        && bytes[..3].iter().all(u8::is_ascii_uppercase)
        && bytes[3] == b'-'
        && bytes[4..].iter().all(u8::is_ascii_digit)
}

/// Family and number of a code.
fn parts(code: &str) -> (&str, u32) {
    let (family, number) = code.split_once('-').unwrap();
    (family, number.parse().unwrap())
}

/// Codes that the page at the head of a dialect's file explains.
fn explained() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    let mut folders = vec![root().join("crates/dialect/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            for line in fs::read_to_string(&path).unwrap().lines() {
                let code = line.strip_prefix("//! - ").and_then(|rule| rule.get(..6));
                codes.extend(code.filter(|code| is_code(code)).map(str::to_owned));
            }
        }
    }
    codes
}

#[test]
fn every_rule_of_a_vendor_has_one_row_and_no_number_is_missing() {
    let rows = rows();
    let codes: BTreeSet<String> = rows.iter().map(|(code, _)| code.clone()).collect();
    assert_eq!(codes.len(), rows.len(), "a rule has two rows");
    let mut families: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for code in &codes {
        let (family, number) = parts(code);
        families.entry(family).or_default().push(number);
    }
    for (family, numbers) in &families {
        let expected: Vec<u32> = (1..=numbers.len() as u32).collect();
        assert_eq!(numbers, &expected, "{family}");
    }
    let explained: BTreeSet<String> = explained()
        .into_iter()
        .filter(|code| families.contains_key(parts(code).0))
        .collect();
    assert_eq!(codes, explained, "table and pages name other rules");
    assert!(codes.len() > 60, "{}", codes.len());
}

#[test]
fn every_test_of_the_table_exists() {
    let tests = root().join("crates/dialect/tests/dialects");
    for (code, named) in rows() {
        let (file, function) = named
            .split_once("::")
            .unwrap_or_else(|| panic!("{code}: {named}"));
        let text =
            fs::read_to_string(tests.join(file)).unwrap_or_else(|error| panic!("{code}: {file}: {error}"));
        let head = format!("#[test]\nfn {function}() {{");
        assert!(text.contains(&head), "{code}: {named}");
    }
}
