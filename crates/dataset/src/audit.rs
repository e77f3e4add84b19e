//! Whether a folder holds exactly the files that a manifest lists: names, lengths, hashes, footers.
//!
//! Why: docs/decisions/2026-11-22-sealing-demands-completeness.md.

use std::collections::BTreeSet;

use crate::derived::RECORD;
use crate::disk::{Dir, EntryKind};
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
pub(crate) fn files<I>(root: &Dir, manifest: &Manifest<I>) -> Result<Audit, DatasetError> {
    let mut audit = Audit::default();
    for file in manifest.files() {
        let fault = fault(root, file)?;
        if fault.is_none() {
            audit.files += 1;
            audit.rows += file.rows;
            audit.bytes += file.bytes;
        }
        audit.faults.extend(fault);
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
fn fault(root: &Dir, file: &PartEntry) -> Result<Option<String>, DatasetError> {
    let found = match root.look_below(&file.path)? {
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
            "{} has another hash than {MANIFEST} says",
            file.path
        )));
    }
    let rows = part.footer_rows(&path)?;
    Ok((rows != file.rows).then(|| format!("{} has {rows} rows instead of {}", file.path, file.rows)))
}

/// Files that are visibly not what the manifest lists, without reading them.
pub(crate) fn lengths(root: &Dir, manifest: &Manifest) -> Result<Vec<String>, DatasetError> {
    let mut faults = Vec::new();
    for file in manifest.files() {
        let found = root.look_below(&file.path)?;
        if !found.is_some_and(|found| found.is_file_of(file.bytes)) {
            faults.push(format!("{} is missing or has another length", file.path));
        }
    }
    Ok(faults)
}

/// Names below a dataset's root that it does not account for.
pub(crate) fn unlisted<I>(root: &Dir, manifest: &Manifest<I>) -> Result<Vec<String>, DatasetError> {
    let files: BTreeSet<&str> = manifest.files().map(|file| file.path.as_str()).collect();
    let mut folders: BTreeSet<&str> = manifest.tables.iter().map(|table| table.name.as_str()).collect();
    folders.extend(
        files
            .iter()
            .filter_map(|path| path.rsplit_once('/'))
            .map(|(folder, _)| folder),
    );
    let known = [MANIFEST, SUCCESS, RECORD];
    let names = root.walk()?.into_iter().filter(|entry| {
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
