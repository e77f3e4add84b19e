//! From finished slices to a published dataset: empty tables, manifest, marker, derived files, one rename.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::audit;
use crate::destination::Destination;
use crate::durable;
use crate::error::DatasetError;
use crate::manifest::{self, DERIVED, MANIFEST, Manifest, SUCCESS, TableEntry};
use crate::options::TableOptions;
use crate::staging::Staging;
use crate::tables::{self, REGISTRY};

/// A complete dataset in staging: it only lacks its derived files and its name.
#[derive(Debug)]
pub struct Sealed {
    destination: Destination,
    root: PathBuf,
    folder: PathBuf,
    temp: PathBuf,
    replace: bool,
    manifest: Manifest,
    /// Held until the dataset is published.
    _lock: File,
}

/// Completes the staged folder.
pub(crate) fn seal(
    staging: Staging,
    manifest: &Manifest,
    options: &TableOptions,
) -> Result<Sealed, DatasetError> {
    let folder = staging.data();
    let manifest = with_empty_tables(&staging, manifest, options)?;
    if let Some(fault) = audit::files(&folder, &manifest)?.faults.first() {
        return Err(DatasetError::corrupt(&folder, fault));
    }
    let path = folder.join(MANIFEST);
    let bytes = manifest
        .to_json()
        .map_err(|error| DatasetError::corrupt(&path, format!("it cannot be written as JSON: {error}")))?;
    let temp = staging.temp();
    durable::write(&temp.join(MANIFEST), &path, &bytes)?;
    durable::write(
        &temp.join(SUCCESS),
        &folder.join(SUCCESS),
        manifest::marker_of(&bytes).as_bytes(),
    )?;
    Ok(Sealed {
        destination: staging.destination,
        root: staging.root,
        folder,
        temp,
        replace: staging.replace,
        manifest,
        _lock: staging.lock,
    })
}

/// Lists all tables in registry order and writes a file for each that has none.
fn with_empty_tables(
    staging: &Staging,
    given: &Manifest,
    options: &TableOptions,
) -> Result<Manifest, DatasetError> {
    if let Some(unknown) = given
        .tables
        .iter()
        .find(|table| tables::find(&table.name).is_none())
    {
        return Err(DatasetError::corrupt(
            &staging.data(),
            format!("the manifest lists an unknown table {}", unknown.name),
        ));
    }
    let mut manifest = Manifest {
        tables: Vec::new(),
        ..given.clone()
    };
    for table in REGISTRY {
        let mut files: Vec<_> = given
            .tables
            .iter()
            .filter(|entry| entry.name == table.name)
            .flat_map(|entry| entry.files.iter().cloned())
            .collect();
        if files.is_empty() {
            files.push((table.write_empty)(&staging.place(0), options)?.into());
        }
        manifest.tables.push(TableEntry {
            name: table.name.to_owned(),
            files,
        });
    }
    Ok(manifest)
}

impl Sealed {
    /// The folder that holds the dataset until it is published.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The manifest as it was written, empty tables included.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Writes one of the files that are derived from the tables and not certified ([`DERIVED`]).
    pub fn write_derived(&self, name: &str, bytes: &[u8]) -> Result<(), DatasetError> {
        let path = self.folder.join(name);
        if !DERIVED.contains(&name) {
            return Err(DatasetError::corrupt(&path, "no derived file has this name"));
        }
        durable::write(&self.temp.join(name), &path, bytes)
    }

    /// Lets the dataset appear at the destination by one rename or, where an old one is replaced, one exchange.
    ///
    /// Returns notices: when the remains of the work cannot be removed, the dataset is complete all the same, and
    /// the next run removes them.
    pub fn publish(self) -> Result<Vec<String>, DatasetError> {
        durable::sync_folder(&self.folder)?;
        self.destination.publish(&self.folder, self.replace)?;
        Ok(match tidy(&self.destination, &self.root) {
            Ok(()) => Vec::new(),
            Err(error) => vec![format!(
                "the dataset is complete, but its staging stays behind: {error}"
            )],
        })
    }
}

/// Removes what a published run leaves in staging, and staging itself when nobody else's work is in it.
pub(crate) fn tidy(destination: &Destination, root: &Path) -> Result<(), DatasetError> {
    durable::remove_all(root)?;
    let home = destination.staging();
    match fs::remove_dir(&home) {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty
            ) =>
        {
            Err(DatasetError::io("remove", &home, error))
        }
        _ => Ok(()),
    }
}
