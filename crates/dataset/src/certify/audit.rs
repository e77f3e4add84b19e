//! Checks that a folder holds exactly the files that a manifest lists: names, lengths, hashes and footers.
//!
//! Why: docs/decisions/2026-11-22-completeness-check-before-publishing.md.

use crate::disk::{Dir, EntryKind};
use crate::error::{DatasetError, or_corruption};
use crate::manifest::{
    DERIVED, MANIFEST, Manifest, RECORD, SHARD_MANIFESTS, SUCCESS, TableEntry, TableSums, all_files, shard_of,
};
use crate::tables::listed::ListedParts;
use crate::tables::part_file::PartFile;

/// The result of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Audit {
    pub(crate) files: u64,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) problems: Vec<String>,
    /// Problems of files that no manifest lists.
    pub(crate) strangers: Vec<String>,
}

/// Reads every listed file, looks for files that are not listed, and compares the sums of the manifest with the lists.
pub(crate) fn files<I>(root: &Dir, manifest: &Manifest<I>) -> Result<Audit, DatasetError> {
    let mut audit = Audit::default();
    let mut listed = ListedParts::default();
    let mut sums = TableSums::default();
    let mut are_lists_whole = true;
    for file in all_files(root, &manifest.shards) {
        let file = match or_corruption(file)? {
            Ok(file) => file,
            Err(corruption) => {
                are_lists_whole = false;
                audit.problems.push(corruption.to_string());
                continue;
            }
        };
        listed.add(&file.path);
        sums.add(&file);
        let problem = problem(root, &file)?;
        if problem.is_none() {
            audit.files += 1;
            audit.rows += file.rows;
            audit.bytes += file.bytes;
        }
        audit.problems.extend(problem);
    }
    let twice = listed.close().into_iter();
    audit
        .problems
        .extend(twice.map(|path| format!("{path} is listed twice")));
    // Where a list cannot be read, its files are unknown.
    if are_lists_whole {
        audit.problems.extend(sum_problems(manifest, &sums.entries()));
        let unlisted = unlisted(root, manifest, &listed)?.into_iter();
        audit
            .strangers
            .extend(unlisted.map(|name| format!("{name} is not listed in {MANIFEST}")));
    }
    Ok(audit)
}

/// Problems of tables for which the manifest and the manifests of its shards differ.
fn sum_problems<I>(manifest: &Manifest<I>, tables: &[TableEntry]) -> Vec<String> {
    let is_other = |table: &&TableEntry| !manifest.tables.contains(table);
    let missing = tables.iter().filter(is_other);
    let more = manifest.tables.iter().filter(|table| {
        let is_listed = tables.iter().any(|entry| entry.name == table.name);
        !is_listed && (table.parts > 0 || !table.files.is_empty())
    });
    missing
        .chain(more)
        .map(|table| {
            format!(
                "{MANIFEST} and the manifests of the shards list different files of {}",
                table.name
            )
        })
        .collect()
}

/// The problem of a listed file. The hash is checked first: a file with the right hash was written by chatmill, so its
/// footer can be trusted.
fn problem(root: &Dir, file: &PartFile) -> Result<Option<String>, DatasetError> {
    let found = match root.stat_below(&file.path)? {
        Some(found) if found.kind() == EntryKind::File => found,
        Some(_) => return Ok(Some(format!("{} is not a regular file", file.path))),
        None => return Ok(Some(format!("{} is missing", file.path))),
    };
    if found.bytes() != file.bytes {
        return Ok(Some(format!(
            "{} has {} bytes instead of {}",
            file.path,
            found.bytes(),
            file.bytes
        )));
    }
    let path = root.at(&file.path);
    let part = root.read_part(&file.path, file.bytes)?;
    if part.measure(&path)?.hash != file.hash {
        return Ok(Some(format!(
            "the hash of {} differs from the one in {MANIFEST}",
            file.path
        )));
    }
    let rows = part.footer_rows(&path)?;
    Ok((rows != file.rows).then(|| format!("{} has {rows} rows instead of {}", file.path, file.rows)))
}

/// Problems of listed files that are visible without reading them: missing files and other lengths.
pub(crate) fn lengths(root: &Dir, manifest: &Manifest) -> Result<Vec<String>, DatasetError> {
    let mut problems = Vec::new();
    for file in manifest.files(root) {
        match or_corruption(file)? {
            Ok(file) if root.has_file(&file.path, file.bytes)? => {}
            Ok(file) => problems.push(format!("{} is missing or has another length", file.path)),
            Err(corruption) => problems.push(corruption.to_string()),
        }
    }
    Ok(problems)
}

/// Names below the root of a dataset that no manifest lists, and the names of corrupt shard manifests, which leave their lists unknown.
pub(crate) fn strangers(root: &Dir, manifest: &Manifest) -> Result<Vec<String>, DatasetError> {
    let mut listed = ListedParts::default();
    for file in manifest.files(root) {
        match file {
            Ok(file) => listed.add(&file.path),
            Err(DatasetError::Corrupt { path, .. }) => return Ok(vec![path.display().to_string()]),
            Err(error) => return Err(error),
        }
    }
    listed.close();
    unlisted(root, manifest, &listed)
}

/// Names below the root of a dataset that are neither listed nor those of its other files.
fn unlisted<I>(
    root: &Dir,
    manifest: &Manifest<I>,
    listed: &ListedParts,
) -> Result<Vec<String>, DatasetError> {
    let known = [MANIFEST, SUCCESS, RECORD];
    let is_shard_manifest = |name: &str| {
        let below = name
            .strip_prefix(SHARD_MANIFESTS)
            .and_then(|rest| rest.strip_prefix('/'));
        let entry = below
            .and_then(shard_of)
            .and_then(|shard| manifest.shards.get(shard as usize));
        entry.is_some_and(|entry| entry.path == name)
    };
    let names = root.find_below(&mut |entry| {
        let name = entry.name.as_str();
        match entry.kind {
            EntryKind::File => {
                !(listed.has(name)
                    || is_shard_manifest(name)
                    || known.contains(&name)
                    || DERIVED.contains(&name))
            }
            EntryKind::Folder => {
                let is_table = manifest.tables.iter().any(|table| table.name == name);
                let is_shard_folder =
                    name == SHARD_MANIFESTS && manifest.shards.iter().any(|shard| !shard.path.is_empty());
                !(is_table || is_shard_folder || listed.has_below(name))
            }
            // A listed name that is a link is reported when the file is read.
            EntryKind::Other => !(listed.has(name) || is_shard_manifest(name)),
        }
    })?;
    Ok(names.into_iter().map(|entry| entry.name).collect())
}
