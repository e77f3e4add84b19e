//! Resolves `[dedup] against`: earlier datasets. A conversation that repeats one of theirs is a duplicate.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chatmill_dataset::Dataset;
use chatmill_intake::discover::{self, Own};

use crate::error::PlanError;
use crate::pipeline::DedupSection;
use crate::plan::require;

/// The key in errors.
const KEY: &str = "dedup.against";

/// The tables that conversations of an earlier dataset are reconstructed from.
const TABLES: [&str; 4] = ["conversations", "messages", "message_references", "alternatives"];

/// An earlier dataset.
#[derive(Clone, Debug)]
pub(crate) struct EarlierDataset {
    pub(crate) folder: PathBuf,
    /// The fingerprint of its run, which identifies its content.
    pub(crate) fingerprint: String,
}

/// Finds the datasets of a section; their paths start at `base`, and none may
/// be the destination `out`. A dataset with several paths is listed once.
pub(crate) fn earlier(
    dedup: &DedupSection,
    base: &Path,
    out: &Path,
) -> Result<Vec<EarlierDataset>, PlanError> {
    let Some(against) = &dedup.against else {
        return Ok(Vec::new());
    };
    let problem = "`dedup.exact` and `dedup.near` are off; set one of them to \"filter\" to exclude conversations that are already there";
    require(dedup.is_on(), KEY, problem)?;
    let problem = "the list is empty; name a dataset or leave the key out";
    require(!against.paths().is_empty(), KEY, problem)?;
    let mut own = Own::new(None, out);
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for path in against.paths() {
        let folder = base.join(path);
        let wrong = |problem: &str| PlanError::value(KEY, format!("{path}: {problem}"));
        let is_own = own.holds(&folder);
        if is_own.map_err(|error| wrong(&error.to_string()))? {
            return Err(wrong("it is where this run writes; name an earlier dataset"));
        }
        // A folder without accessible metadata is refused when it is opened.
        let place = discover::device_and_inode(&folder).ok();
        if place.is_some_and(|place| !known.insert(place)) {
            continue;
        }
        let dataset = Dataset::open(&folder).map_err(|error| wrong(&error.to_string()))?;
        if let Some(table) = TABLES.into_iter().find(|table| !dataset.has(table)) {
            return Err(wrong(&format!("it was made without the table `{table}`")));
        }
        found.push(EarlierDataset {
            fingerprint: dataset.manifest().fingerprint.clone(),
            folder,
        });
    }
    Ok(found)
}
