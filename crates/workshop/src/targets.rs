//! The targets of fuzzing: one function each, which panics if a guarantee is broken.
//!
//! The same functions run under libFuzzer (`fuzz/`), in `cargo xtask fuzz`, and in ordinary tests that replay the corpus.

mod json;
mod reader;
mod record;
mod tables;
mod templates;

use std::path::{Path, PathBuf};

/// A function that must not panic on any bytes.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    /// The name, and the name of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Panics if a guarantee is broken.
    pub body: fn(&[u8]),
    /// Whether mutations should start from these bytes; other bytes are only used as parts.
    pub is_base: fn(&[u8]) -> bool,
}

/// Every target.
pub static TARGETS: &[FuzzTarget] = &[
    FuzzTarget {
        name: "json_scan",
        body: json_scan,
        is_base: |_| true,
    },
    FuzzTarget {
        name: "reader",
        body: reader,
        is_base: |_| true,
    },
    FuzzTarget {
        name: "record",
        body: record,
        is_base: record::is_read,
    },
    FuzzTarget {
        name: "tables",
        body: tables,
        is_base: tables::is_table,
    },
    FuzzTarget {
        name: "templates",
        body: templates,
        is_base: templates::is_template,
    },
];

/// The scan agrees with another parser on what is JSON, and its tape is sound.
pub fn json_scan(bytes: &[u8]) {
    json::check(bytes);
}

/// Any bytes, in any container and framing, are tiled by frames, separators and damages.
pub fn reader(bytes: &[u8]) {
    reader::check(bytes, &std::sync::Arc::default());
}

/// Any record goes through every source, linking, the rules and every dialect, and all accounts balance.
pub fn record(bytes: &[u8]) {
    record::check(bytes);
}

/// Any dump or table gives rows that are JSON objects, and every byte of it is accounted for.
pub fn tables(bytes: &[u8]) {
    tables::check(bytes);
}

/// Any chat template is refused, or renders within its limits, and gives the same result each time.
pub fn templates(bytes: &[u8]) {
    templates::check(bytes);
}

/// The folder of a target's corpus.
pub fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target)
}

/// The seeds of a target, in a fixed order: its corpus, all samples, and for targets of single records every line of them.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    collect(&corpus(target), &mut paths);
    collect(&chatmill_testkit::samples::samples(), &mut paths);
    let mut seeds = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if bytes.len() > 256 * 1024 {
            continue;
        }
        if target != "reader" && path.extension().is_some_and(|extension| extension == "jsonl") {
            seeds.extend(
                bytes
                    .split(|byte| *byte == b'\n')
                    .filter(|line| !line.is_empty())
                    .map(<[u8]>::to_vec),
            );
        } else {
            seeds.push(bytes);
        }
    }
    seeds
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, paths);
        } else if path.file_name().is_some_and(|name| name != "README.md") {
            paths.push(path);
        }
    }
}
