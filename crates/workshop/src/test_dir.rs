//! A temporary folder for inputs, runs of pipelines, and their datasets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use chatmill_engine::check::{CheckOptions, Checked, FileVerdict};
use chatmill_engine::{Plan, RunError, RunOptions, RunSummary, Silent};
use tempfile::TempDir;

use crate::rows;

/// A temporary folder with inputs and outputs; removed when dropped.
pub struct TestDir {
    folder: TempDir,
}

impl Default for TestDir {
    fn default() -> Self {
        Self::new()
    }
}

impl TestDir {
    /// An empty folder.
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// A path below the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and returns its path.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("the folder can be made");
        std::fs::write(&path, bytes).expect("the file can be written");
        path
    }

    /// A plan over everything in `in/`, written to `out`, with more TOML at the end.
    pub fn plan(&self, out: &str, more: &str) -> Plan {
        let pipeline = format!(
            "name = \"test\"\n[[input]]\npath = \"in/**\"\n[output]\npath = {:?}\n{more}",
            self.path(out)
        );
        let path = self.write("pipeline.toml", pipeline);
        Plan::load(&path, &[], None, &[]).expect("the plan is right")
    }

    /// Runs a plan to its end.
    pub fn run(&self, out: &str, more: &str, threads: usize) -> Result<RunSummary, RunError> {
        let options = RunOptions {
            threads,
            ..RunOptions::default()
        };
        chatmill_engine::run(self.plan(out, more), options, &Silent, &AtomicBool::new(false))
    }

    /// The hashes of every file that a dataset certifies, by path, including the manifest's own.
    pub fn hashes(&self, out: &str) -> BTreeMap<String, String> {
        let root = self.path(out);
        // Without the crate under test: its calls may be made to fail.
        let manifest = std::fs::read(root.join("manifest.json")).expect("a manifest");
        let manifest: chatmill_dataset::Manifest =
            serde_json::from_slice(&manifest).expect("a manifest in JSON");
        let mut hashes: BTreeMap<String, String> = manifest
            .tables
            .iter()
            .flat_map(|table| &table.files)
            .map(|file| (file.path.clone(), hash(&root.join(&file.path))))
            .collect();
        let shard_paths = manifest.shards.iter().map(|shard_entry| shard_entry.path.clone());
        for path in shard_paths.chain(["manifest.json".to_owned()]) {
            let hash = hash(&root.join(&path));
            hashes.insert(path, hash);
        }
        hashes
    }

    /// Checks one file, with a constant current day, and returns its findings and verdict.
    pub fn check(path: &Path) -> (Vec<Checked>, FileVerdict) {
        let options = CheckOptions {
            paths: vec![path.to_string_lossy().into_owned()],
            limits: chatmill_diag::Limits {
                now: "2026-11-22".parse().ok(),
                ..chatmill_diag::Limits::default()
            },
            threads: 1,
            ..CheckOptions::default()
        };
        let mut findings = Vec::new();
        let checkup =
            chatmill_engine::check::check(&options, &Silent, &AtomicBool::new(false), &mut |finding| {
                findings.push(finding);
            })
            .expect("the check ends");
        (findings, checkup.files.iter().next().expect("one file"))
    }
}

/// A record padded with white space to this length.
///
/// Inputs are divided by bytes: padding makes several slices at little cost, since processing text is slow and skipping white space is not.
pub fn padded(record: &str, length: usize) -> String {
    let missing = length.saturating_sub(record.len());
    format!("{record}{}", " ".repeat(missing))
}

/// The texts of a dataset's renderings, each with its token counts in these encodings.
pub fn renderings(root: &Path, encodings: &[&str]) -> Vec<(String, Vec<u64>)> {
    let counts = |encoding: &&str| {
        let counts = rows::numbers(root, "renderings", &format!("tokens_{encoding}"));
        let counts = counts.into_iter().map(|count| count.expect("a count"));
        counts
            .map(|count| u64::try_from(count).expect("a count"))
            .collect()
    };
    let counts: Vec<Vec<u64>> = encodings.iter().map(counts).collect();
    let contents = rows::texts(root, "renderings", "content").into_iter();
    let rows = contents.enumerate().map(|(row, content)| {
        let tokens = counts.iter().map(|column| column[row]).collect();
        (content.unwrap_or_default(), tokens)
    });
    rows.collect()
}

fn hash(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    blake3::hash(&bytes).to_hex().to_string()
}
