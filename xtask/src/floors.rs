//! `cargo xtask floors`: the layout is the architecture, and this check enforces it.
//!
//! A crate imports only crates on lower floors, so crates on one floor do not know each other. Only `intake` and `dataset` name
//! `std::fs`; only `intake` depends on a decompressor; `drawn`, `golden`, `testkit` and `workshop` are for tests alone. Crates that
//! judge or write conversations do not look at the name of their source: `FormatTraits` has what they need to know about it.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::sources::{SourceFile, source_files};

/// Short crate names and their floors, from the roof down.
const FLOORS: &[(&str, u8)] = &[
    ("cli", 4),
    ("engine", 3),
    ("report", 3),
    ("export", 3),
    ("source", 2),
    ("link", 2),
    ("rule", 2),
    ("redact", 2),
    ("dialect", 2),
    ("token", 2),
    ("dataset", 2),
    ("intake", 1),
    ("model", 1),
    ("diag", 0),
];

/// Crates on no floor: they may import any crate, and no crate imports them outside its tests.
const OUTSIDE: &[&str] = &["drawn", "golden", "testkit", "workshop", "xtask"];

/// The crates whose sources may name `std::fs`.
const TOUCH_FILES: &[&str] = &["intake", "dataset", "golden", "testkit", "workshop", "xtask"];

/// Crates that unpack something.
const DECOMPRESSORS: &[&str] = &[
    "brotli", "bzip2", "flate2", "liblzma", "lz4_flex", "ruzstd", "tar", "xz2", "zip", "zstd",
];
/// The crate that packs and never unpacks, and its compressor: pages of Parquet.
const PACKS: (&str, &str) = ("dataset", "zstd");

/// The paths by which source text names the file system.
const FILE_ACCESS: &[&str] = &["std::fs", "fs::File", "fs::OpenOptions"];

/// The crates that judge or write conversations.
const SOURCE_BLIND: &[&str] = &["link", "rule", "redact", "dialect"];

/// The expressions by which source text reads the source of a conversation, and the structure that it was recognised by.
const SOURCE_NAME: &[&str] = &[
    "conversation.source",
    "conversation().source",
    "conversation.shape",
    "conversation().shape",
];

pub(crate) fn run(root: &Path) -> Result<String> {
    let house = metadata(root)?;
    let files = source_files(root)?;
    let mut violations = import_violations(&house);
    violations.extend(file_access_violations(&files));
    violations.extend(source_name_violations(&files));
    if violations.is_empty() {
        return Ok(format!("floors: {} crates in order", house.packages.len()));
    }
    bail!("{}", violations.join("\n"))
}

/// The output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None` for a normal dependency; else `dev` or `build`.
    kind: Option<String>,
}

fn metadata(root: &Path) -> Result<Metadata> {
    let output = super::cargo(root)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata did not print the expected JSON")
}

fn short(package: &str) -> &str {
    package.strip_prefix("chatmill-").unwrap_or(package)
}

fn floor(krate: &str) -> Option<u8> {
    let mut floors = FLOORS.iter();
    floors.find(|(name, _)| *name == krate).map(|(_, floor)| *floor)
}

fn import_violations(house: &Metadata) -> Vec<String> {
    let mut violations = Vec::new();
    for package in &house.packages {
        let krate = short(&package.name);
        if floor(krate).is_none() && !OUTSIDE.contains(&krate) {
            violations.push(format!(
                "{krate}: is on no floor; give it one in xtask/src/floors.rs"
            ));
        }
        let normal = package.dependencies.iter().filter(|what| what.kind.is_none());
        violations.extend(normal.filter_map(|what| import_violation(krate, &what.name)));
    }
    violations
}

fn import_violation(krate: &str, what: &str) -> Option<String> {
    if DECOMPRESSORS.contains(&what) && krate != "intake" && (krate, what) != PACKS {
        return Some(format!("{krate}: depends on {what}; only intake unpacks"));
    }
    let ours = what.strip_prefix("chatmill-")?;
    if OUTSIDE.contains(&ours) && !OUTSIDE.contains(&krate) {
        return Some(format!("{krate}: depends on {ours} outside its tests"));
    }
    let (own, other) = (floor(krate)?, floor(ours)?);
    (other >= own)
        .then(|| format!("{krate} (floor {own}): imports {ours} (floor {other}); imports go downward"))
}

fn file_access_violations(files: &[SourceFile]) -> Vec<String> {
    let is_bound =
        |file: &&SourceFile| !TOUCH_FILES.contains(&file.krate.as_str()) && !file.path.ends_with("/tests.rs");
    let places = files
        .iter()
        .filter(is_bound)
        .flat_map(|file| places_of(FILE_ACCESS, file));
    let violations =
        places.map(|(place, named)| format!("{place}: names {named}; only intake and dataset touch files"));
    violations.collect()
}

fn source_name_violations(files: &[SourceFile]) -> Vec<String> {
    let is_bound = |file: &&SourceFile| SOURCE_BLIND.contains(&file.krate.as_str());
    let places = files
        .iter()
        .filter(is_bound)
        .flat_map(|file| places_of(SOURCE_NAME, file));
    let violations = places.map(|(place, _)| {
        format!("{place}: looks at the name of a source; conversation.traits has what is to be known of it")
    });
    violations.collect()
}

/// Returns the lines of a file with one of these paths outside of comments, each with the path.
fn places_of(paths: &'static [&str], file: &SourceFile) -> impl Iterator<Item = (String, &'static str)> {
    let is_end = |rest: &str| !rest.starts_with(|next: char| next == '_' || next.is_ascii_alphanumeric());
    file.text.lines().enumerate().filter_map(move |(number, line)| {
        let code = line.split("//").next()?;
        let named = paths.iter().find(|path| code.split(**path).skip(1).any(is_end))?;
        Some((format!("{}:{}", file.path, number + 1), *named))
    })
}

#[cfg(test)]
mod tests {
    use super::{import_violation as violation, *};

    #[test]
    fn imports_go_strictly_downward() {
        assert_eq!(violation("dialect", "chatmill-model"), None);
        assert_eq!(violation("engine", "chatmill-dataset"), None);
        assert!(
            violation("source", "chatmill-dialect")
                .unwrap()
                .contains("imports go downward")
        );
        assert!(violation("intake", "chatmill-model").unwrap().contains("floor 1"));
        assert!(violation("model", "chatmill-token").is_some());
        assert!(
            violation("engine", "chatmill-testkit")
                .unwrap()
                .contains("outside its tests")
        );
        assert_eq!(violation("xtask", "chatmill-testkit"), None);
    }

    #[test]
    fn only_intake_unpacks() {
        assert_eq!(violation("intake", "zstd"), None);
        assert_eq!(violation("dataset", "parquet"), None);
        assert_eq!(violation("dataset", "zstd"), None);
        assert!(
            violation("dataset", "flate2")
                .unwrap()
                .contains("only intake unpacks")
        );
        assert!(
            violation("export", "zstd")
                .unwrap()
                .contains("only intake unpacks")
        );
    }

    #[test]
    fn crates_have_floors_and_dev_dependencies_are_not_held_to_them() {
        let metadata = serde_json::json!({"packages": [
            {"name": "chatmill-link", "dependencies": [
                {"name": "chatmill-model", "kind": null},
                {"name": "chatmill-rule", "kind": null},
                {"name": "chatmill-testkit", "kind": "dev"},
            ]},
            {"name": "chatmill-attic", "dependencies": []},
            {"name": "chatmill-testkit", "dependencies": []},
        ]});
        let found = import_violations(&serde_json::from_value(metadata).unwrap());
        assert_eq!(
            found,
            [
                "link (floor 2): imports rule (floor 2); imports go downward",
                "attic: is on no floor; give it one in xtask/src/floors.rs"
            ]
        );
    }

    fn file(krate: &str, text: &str) -> SourceFile {
        SourceFile {
            path: format!("crates/{krate}/src/lib.rs"),
            krate: krate.to_owned(),
            text: text.to_owned(),
            test_lines: 0,
        }
    }

    #[test]
    fn a_room_that_opens_a_file_is_found_but_not_in_comments_and_tests() {
        let files = [
            file("rule", "// std::fs stays outside\nuse std::fs;\n"),
            file("intake", "use std::fs::File;\n"),
            SourceFile {
                path: "crates/rule/src/depth/tests.rs".to_owned(),
                ..file("rule", "use std::fs;\n")
            },
        ];
        assert_eq!(
            file_access_violations(&files),
            ["crates/rule/src/lib.rs:2: names std::fs; only intake and dataset touch files"]
        );
    }

    #[test]
    fn a_room_that_decides_by_the_name_of_a_source_is_found() {
        let files = [
            file(
                "rule",
                "// linked.conversation.source is a fact\nif linked.conversation.source == \"x\" {}\n",
            ),
            file("dialect", "let id = view.conversation().source_id;\n"),
            file("engine", "let word = linked.conversation.source.to_owned();\n"),
        ];
        let found = source_name_violations(&files);
        assert_eq!(found.len(), 1);
        assert!(
            found
                .iter()
                .all(|violation| violation.starts_with("crates/rule/src/lib.rs:2: "))
        );
    }
}
