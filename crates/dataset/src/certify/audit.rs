//! Whether a folder holds exactly the files that a manifest lists: names, lengths, hashes, footers.
//!
//! Why: docs/decisions/2026-11-22-sealing-demands-completeness.md.

use crate::disk::{Dir, EntryKind};
use crate::error::{DatasetError, or_damage};
use crate::manifest::{
    DERIVED, LOT_MANIFESTS, MANIFEST, Manifest, RECORD, SUCCESS, TableEntry, TableSums, all_files, lot_of,
};
use crate::tables::listed::ListedParts;
use crate::tables::part_file::PartFile;

/// What an audit saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Audit {
    pub(crate) files: u64,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) faults: Vec<String>,
    /// The faults of names that nothing lists.
    pub(crate) strangers: Vec<String>,
}

/// Reads every listed file back, looks for files that are not listed, and holds the sums of the manifest against the lists.
pub(crate) fn files<I>(root: &Dir, manifest: &Manifest<I>) -> Result<Audit, DatasetError> {
    let mut audit = Audit::default();
    let mut listed = ListedParts::default();
    let mut sums = TableSums::default();
    let mut are_lists_whole = true;
    for file in all_files(root, &manifest.lots) {
        let file = match or_damage(file)? {
            Ok(file) => file,
            Err(damage) => {
                are_lists_whole = false;
                audit.faults.push(damage.to_string());
                continue;
            }
        };
        listed.add(&file.path);
        sums.add(&file);
        let fault = fault(root, &file)?;
        if fault.is_none() {
            audit.files += 1;
            audit.rows += file.rows;
            audit.bytes += file.bytes;
        }
        audit.faults.extend(fault);
    }
    let twice = listed.close().into_iter();
    audit
        .faults
        .extend(twice.map(|path| format!("{path} is listed twice")));
    // What a list that cannot be read would have named is not known.
    if are_lists_whole {
        audit.faults.extend(sum_faults(manifest, &sums.entries()));
        let unlisted = unlisted(root, manifest, &listed)?.into_iter();
        audit
            .strangers
            .extend(unlisted.map(|name| format!("{name} is not listed in {MANIFEST}")));
    }
    Ok(audit)
}

/// Tables of which the manifest says something else than the manifests of its lots.
fn sum_faults<I>(manifest: &Manifest<I>, tables: &[TableEntry]) -> Vec<String> {
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
                "{MANIFEST} says something else of the files of {} than the manifests of its lots",
                table.name
            )
        })
        .collect()
}

/// What is wrong with a listed file. A file whose hash agrees is ours, so its footer can be trusted.
fn fault(root: &Dir, file: &PartFile) -> Result<Option<String>, DatasetError> {
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
    for file in manifest.files(root) {
        match or_damage(file)? {
            Ok(file) if root.has_file(&file.path, file.bytes)? => {}
            Ok(file) => faults.push(format!("{} is missing or has another length", file.path)),
            Err(damage) => faults.push(damage.to_string()),
        }
    }
    Ok(faults)
}

/// Names below a dataset's root that the manifests do not account for, and that of a lot's manifest that is damaged: nobody
/// knows what it listed.
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

/// Names below a dataset's root that are neither in a list nor those of its other files.
fn unlisted<I>(
    root: &Dir,
    manifest: &Manifest<I>,
    listed: &ListedParts,
) -> Result<Vec<String>, DatasetError> {
    let known = [MANIFEST, SUCCESS, RECORD];
    let is_lot = |name: &str| {
        let below = name
            .strip_prefix(LOT_MANIFESTS)
            .and_then(|rest| rest.strip_prefix('/'));
        let entry = below
            .and_then(lot_of)
            .and_then(|lot| manifest.lots.get(lot as usize));
        entry.is_some_and(|entry| entry.path == name)
    };
    let names = root.find_below(&mut |entry| {
        let name = entry.name.as_str();
        match entry.kind {
            EntryKind::File => {
                !(listed.has(name) || is_lot(name) || known.contains(&name) || DERIVED.contains(&name))
            }
            EntryKind::Folder => {
                let is_table = manifest.tables.iter().any(|table| table.name == name);
                let is_of_lots =
                    name == LOT_MANIFESTS && manifest.lots.iter().any(|lot| !lot.path.is_empty());
                !(is_table || is_of_lots || listed.has_below(name))
            }
            // A listed name that is a link is reported as such when the file is read.
            EntryKind::Other => !(listed.has(name) || is_lot(name)),
        }
    })?;
    Ok(names.into_iter().map(|entry| entry.name).collect())
}
