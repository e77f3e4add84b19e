//! Compares `docs/dialect-rules.md` with the rules of the dialects and with the tests that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use chatmill_dialect::{DIALECTS, Rules, TemplateDialect};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the rows of the tables: the code and the test that the row names.
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

/// Whether a text is a code such as `ANT-03`.
fn is_code(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 6
        && bytes[..3].iter().all(u8::is_ascii_uppercase)
        && bytes[3] == b'-'
        && bytes[4..].iter().all(u8::is_ascii_digit)
}

/// Returns family and number of a code.
fn parts(code: &str) -> (&str, u32) {
    let (family, number) = code.split_once('-').unwrap();
    (family, number.parse().unwrap())
}

/// Returns the codes of all dialects and templates.
fn declared() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    let listed = DIALECTS.iter().map(|dialect| match dialect.about().rules {
        Rules::Validated(rules) => rules,
        Rules::None(_) => &[],
    });
    for rule in listed.chain([TemplateDialect::rules()]).flatten() {
        codes.insert(rule.id().to_owned());
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
    assert_eq!(codes, declared(), "the table is out of date: `just bless`");
    assert!(codes.len() > 60, "{}", codes.len());
}

#[test]
fn every_test_of_the_table_exists() {
    let tests = root().join("crates/dialect/tests");
    for (code, named) in rows() {
        let Some((file, function)) = named.split_once("::") else {
            assert!(
                tests.join("cases").join(&named).is_file(),
                "{code}: say in its row of docs/dialect-rules.md how it is held, and which test or case of crates/dialect shows it"
            );
            continue;
        };
        let text = fs::read_to_string(tests.join("dialects").join(file));
        let text = text.unwrap_or_else(|error| panic!("{code}: {file}: {error}"));
        let head = format!("#[test]\nfn {function}() {{");
        assert!(text.contains(&head), "{code}: {named}");
    }
}
