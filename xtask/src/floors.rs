//! `cargo xtask floors`: the layout is the architecture, and this holds it.
//!
//! A crate imports only crates on floors below its own, so rooms on one floor never know of each other. Only `intake` and
//! `dataset` name `std::fs`; only `intake` depends on a decompressor; `drawn`, `golden`, `testkit` and `workshop` are for tests alone. Who judges or writes
//! conversations does not look at the name of their source: `FormatTraits` says what is to be known of it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

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

/// Beside the house: they may import any floor, and no floor imports them.
const BESIDE: &[&str] = &["drawn", "golden", "testkit", "workshop", "xtask"];

/// The crates whose sources may name `std::fs`.
const TOUCH_FILES: &[&str] = &["intake", "dataset", "golden", "testkit", "workshop", "xtask"];

/// Crates that unpack something.
const DECOMPRESSORS: &[&str] = &[
    "brotli", "bzip2", "flate2", "liblzma", "lz4_flex", "ruzstd", "tar", "xz2", "zip", "zstd",
];
/// What packs and never unpacks, and with what: pages of Parquet.
const PACKS: (&str, &str) = ("dataset", "zstd");

/// How source text names the file system.
const FILE_ACCESS: &[&str] = &["std::fs", "fs::File", "fs::OpenOptions"];

/// The crates that judge or write conversations.
const NAMELESS: &[&str] = &["link", "rule", "redact", "dialect"];

/// How source text names the source of a conversation, and the structure that it was recognised by.
const SOURCE_NAME: &[&str] = &[
    "conversation.source",
    "conversation().source",
    "conversation.shape",
    "conversation().shape",
];

pub(crate) fn run(root: &Path) -> Result<String> {
    let imports = imports(&metadata(root)?)?;
    let mut violations = import_violations(&imports);
    let files = source_files(root)?;
    violations.extend(file_access_violations(&files));
    violations.extend(source_name_violations(&files));
    if violations.is_empty() {
        let crates = imports.iter().filter(|import| import.what.is_empty()).count();
        return Ok(format!("floors: {crates} crates in order"));
    }
    bail!("{}", violations.join("\n"))
}

/// One normal dependency; a crate without dependencies has one import with an empty name.
#[derive(Debug, PartialEq, Eq)]
struct Import {
    krate: String,
    what: String,
}

fn metadata(root: &Path) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata did not print JSON")
}

fn imports(metadata: &Value) -> Result<Vec<Import>> {
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned();
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut found = Vec::new();
    for package in list(metadata, "packages").context("cargo metadata lists no packages")? {
        let krate = short(&text(&package, "name").context("a package has no name")?).to_owned();
        found.push(Import {
            krate: krate.clone(),
            what: String::new(),
        });
        for dependency in list(&package, "dependencies").unwrap_or_default() {
            // A missing kind is a normal dependency; the others are `dev` and `build`.
            if text(&dependency, "kind").is_none() {
                found.push(Import {
                    krate: krate.clone(),
                    what: text(&dependency, "name").context("a dependency has no name")?,
                });
            }
        }
    }
    Ok(found)
}

fn short(package: &str) -> &str {
    package.strip_prefix("chatmill-").unwrap_or(package)
}

fn floor(krate: &str) -> Option<u8> {
    FLOORS
        .iter()
        .find(|(name, _)| *name == krate)
        .map(|(_, floor)| *floor)
}

fn import_violations(imports: &[Import]) -> Vec<String> {
    imports.iter().filter_map(import_violation).collect()
}

fn import_violation(import: &Import) -> Option<String> {
    let Import { krate, what } = import;
    if what.is_empty() {
        let known = floor(krate).is_some() || BESIDE.contains(&krate.as_str());
        return (!known).then(|| format!("{krate}: stands on no floor; give it one in xtask/src/floors.rs"));
    }
    let packs_only = (krate.as_str(), what.as_str()) == PACKS;
    if DECOMPRESSORS.contains(&what.as_str()) && krate != "intake" && !packs_only {
        return Some(format!("{krate}: depends on {what}; only intake unpacks"));
    }
    let ours = short(what);
    if !what.starts_with("chatmill-") {
        return None;
    }
    if BESIDE.contains(&ours) && !BESIDE.contains(&krate.as_str()) {
        return Some(format!("{krate}: depends on {ours} outside its tests"));
    }
    let own = floor(krate)?;
    let other = floor(ours)?;
    (other >= own)
        .then(|| format!("{krate} (floor {own}): imports {ours} (floor {other}); imports go downward"))
}

fn file_access_violations(files: &[SourceFile]) -> Vec<String> {
    let mut violations = Vec::new();
    let is_bound =
        |file: &&SourceFile| !TOUCH_FILES.contains(&file.krate.as_str()) && !file.path.ends_with("/tests.rs");
    for file in files.iter().filter(is_bound) {
        for (number, line) in file.text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if let Some(named) = FILE_ACCESS.iter().find(|named| code.contains(**named)) {
                violations.push(format!(
                    "{}:{}: names {named}; only intake and dataset touch files",
                    file.path,
                    number + 1
                ));
            }
        }
    }
    violations
}

fn source_name_violations(files: &[SourceFile]) -> Vec<String> {
    let is_name = |rest: &str| !rest.starts_with(|next: char| next == '_' || next.is_ascii_alphanumeric());
    let mut violations = Vec::new();
    for file in files
        .iter()
        .filter(|file| NAMELESS.contains(&file.krate.as_str()))
    {
        for (number, line) in file.text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let mut named = SOURCE_NAME.iter().flat_map(|name| code.split(name).skip(1));
            if named.any(is_name) {
                violations.push(format!(
                    "{}:{}: looks at the name of a source; conversation.traits says what is to be known of it",
                    file.path,
                    number + 1
                ));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violation(krate: &str, what: &str) -> Option<String> {
        import_violation(&Import {
            krate: krate.to_owned(),
            what: what.to_owned(),
        })
    }

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
    fn a_crate_without_a_floor_is_a_violation() {
        assert!(violation("attic", "").unwrap().contains("no floor"));
        assert_eq!(violation("testkit", ""), None);
    }

    #[test]
    fn dev_dependencies_are_not_held_to_the_floors() {
        let metadata = serde_json::json!({"packages": [{"name": "chatmill-link", "dependencies": [
            {"name": "chatmill-model", "kind": null},
            {"name": "chatmill-testkit", "kind": "dev"},
        ]}]});
        let found = imports(&metadata).unwrap();
        let whats: Vec<_> = found.iter().map(|import| import.what.as_str()).collect();
        assert_eq!(whats, ["", "chatmill-model"]);
    }

    #[test]
    fn a_room_that_opens_a_file_is_found_but_not_in_comments_and_tests() {
        let file = |krate: &str, text: &str| SourceFile {
            path: format!("crates/{krate}/src/lib.rs"),
            krate: krate.to_owned(),
            text: text.to_owned(),
            test_lines: 0,
        };
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
        let file = |krate: &str, text: &str| SourceFile {
            path: format!("crates/{krate}/src/lib.rs"),
            krate: krate.to_owned(),
            text: text.to_owned(),
            test_lines: 0,
        };
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
