//! Whether a folder holds exactly the files that a manifest lists: names, lengths, hashes, footers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::durable::{self, EntryKind};
use crate::error::DatasetError;
use crate::manifest::{DERIVED, MANIFEST, Manifest, PartEntry, SUCCESS};

/// What an audit saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Audit {
    pub(crate) files: u64,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) faults: Vec<String>,
}

/// Reads every listed file back and looks for files that are not listed.
pub(crate) fn files(root: &Path, manifest: &Manifest) -> Result<Audit, DatasetError> {
    let mut audit = Audit::default();
    let mut seen = BTreeSet::new();
    for table in &manifest.tables {
        for file in &table.files {
            let fault = if !lies_in(&file.path, &table.name) {
                Some(format!(
                    "{MANIFEST} lists {} as a file of {}",
                    file.path, table.name
                ))
            } else if !seen.insert(file.path.as_str()) {
                Some(format!("{MANIFEST} lists {} twice", file.path))
            } else {
                fault(root, file)?
            };
            if fault.is_none() {
                audit.files += 1;
                audit.rows += file.rows;
                audit.bytes += file.bytes;
            }
            audit.faults.extend(fault);
        }
    }
    let unlisted = unlisted(root, manifest)?;
    audit.faults.extend(
        unlisted
            .iter()
            .map(|name| format!("{name} is not listed in {MANIFEST}")),
    );
    Ok(audit)
}

/// What is wrong with a listed file. A file whose hash agrees is ours, so its footer can be trusted.
fn fault(root: &Path, file: &PartEntry) -> Result<Option<String>, DatasetError> {
    let path = root.join(&file.path);
    let found = match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() => found,
        Ok(_) => return Ok(Some(format!("{} is not a regular file", file.path))),
        Err(error) => return Ok(Some(format!("{} is missing: {error}", file.path))),
    };
    if found.len() != file.bytes {
        return Ok(Some(format!(
            "{} has {} bytes instead of {}",
            file.path,
            found.len(),
            file.bytes
        )));
    }
    if durable::measure(&path)?.hash != file.hash {
        return Ok(Some(format!(
            "{} has another hash than {MANIFEST} says",
            file.path
        )));
    }
    let rows = durable::footer_rows(&path)?;
    Ok((rows != file.rows).then(|| format!("{} has {rows} rows instead of {}", file.path, file.rows)))
}

/// Files that are visibly not what the manifest lists, without reading them.
pub(crate) fn lengths(root: &Path, manifest: &Manifest) -> Vec<String> {
    manifest
        .files()
        .filter(|file| {
            let found = fs::symlink_metadata(root.join(&file.path));
            !found.is_ok_and(|found| found.is_file() && found.len() == file.bytes)
        })
        .map(|file| format!("{} is missing or has another length", file.path))
        .collect()
}

/// Names below a dataset's root that it does not account for.
pub(crate) fn unlisted(root: &Path, manifest: &Manifest) -> Result<Vec<String>, DatasetError> {
    let files: BTreeSet<&str> = manifest.files().map(|file| file.path.as_str()).collect();
    let mut folders: BTreeSet<&str> = manifest.tables.iter().map(|table| table.name.as_str()).collect();
    folders.extend(
        files
            .iter()
            .filter_map(|path| path.rsplit_once('/'))
            .map(|(folder, _)| folder),
    );
    let known = [MANIFEST, SUCCESS];
    let names = durable::walk(root)?.into_iter().filter(|entry| {
        let name = entry.name.as_str();
        match entry.kind {
            EntryKind::File => !(files.contains(name) || known.contains(&name) || DERIVED.contains(&name)),
            EntryKind::Folder => !folders.contains(name),
            // A listed name that is a link is reported as such when the file is read.
            EntryKind::Other => !files.contains(name),
        }
    });
    Ok(names.map(|entry| entry.name).collect())
}

/// Whether a listed path stays below the folder of its table.
fn lies_in(path: &str, table: &str) -> bool {
    let mut steps = path.split('/');
    steps.next() == Some(table)
        && path.contains('/')
        && !table.is_empty()
        && path
            .split('/')
            .all(|step| !step.is_empty() && step != "." && step != ".." && !step.contains('\\'))
}
