//! The registry of codes and the folders of `data-samples/rules` must match, one to one.
#![expect(clippy::disallowed_methods, reason = "a test may look into the repository")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::codes::CODES;

fn rules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/rules")
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn every_code_has_a_folder_and_every_folder_a_code() {
    let codes: BTreeSet<String> = CODES.iter().map(|code| code.name.to_owned()).collect();
    let folders = names_in(&rules());
    if let Some(code) = codes.difference(&folders).next() {
        panic!(
            "{code} has no samples: put a `bad.SOURCE.EXTENSION` that raises it and a `good.EXTENSION` that does not into \
             data-samples/rules/{code}/"
        );
    }
    if let Some(folder) = folders.difference(&codes).next() {
        panic!(
            "data-samples/rules/{folder} belongs to no code: add its line to `codes!` in crates/diag/src/codes.rs, or remove \
             the folder"
        );
    }
}

#[test]
fn every_folder_has_a_bad_and_a_good_file_or_a_reason() {
    for code in CODES {
        let files = names_in(&rules().join(code.name));
        let has = |stem: &str| files.iter().any(|file| file.starts_with(stem));
        if files.contains("README.md") {
            assert!(!has("bad."), "{}: a bad file needs no README.md", code.name);
            let text = fs::read_to_string(rules().join(code.name).join("README.md")).unwrap();
            assert!(
                text.contains(code.name),
                "{}: README.md does not name the code",
                code.name
            );
        } else {
            assert!(
                has("bad.") && has("good."),
                "data-samples/rules/{}/ wants a `bad.SOURCE.EXTENSION` and a `good.EXTENSION`, or a README.md with the reason why no \
                 small file shows the code: {files:?}",
                code.name
            );
        }
        let known = |file: &&String| {
            file.as_str() == "README.md" || file.starts_with("bad.") || file.starts_with("good.")
        };
        assert_eq!(
            files.iter().filter(known).count(),
            files.len(),
            "{}: {files:?}",
            code.name
        );
    }
}

#[test]
fn bad_and_good_differ() {
    for code in CODES {
        let folder = rules().join(code.name);
        let mut contents = BTreeSet::new();
        for file in names_in(&folder) {
            assert!(
                contents.insert(fs::read(folder.join(&file)).unwrap()),
                "{}: {file}",
                code.name
            );
        }
    }
}
