//! From finished slices to a published dataset: empty tables, manifest, marker, derived files, one rename.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::audit;
use crate::derived;
use crate::destination::Destination;
use crate::disk::{Dir, Home, Lock};
use crate::error::DatasetError;
use crate::manifest::{Manifest, TableEntry};
use crate::options::TableOptions;
use crate::slice_id::SliceId;
use crate::staging::Staging;
use crate::tables::{self, REGISTRY};
use crate::workplace::DATA;

/// A complete dataset in staging: it only lacks its derived files and its name.
#[derive(Debug)]
pub struct Sealed {
    destination: Destination,
    home: Home,
    root: Dir,
    fingerprint: String,
    folder: Arc<Dir>,
    temp: Arc<Dir>,
    replace: bool,
    /// Held until the dataset is published; freed after everything else.
    _lock: Option<Lock>,
}

impl Staging {
    /// Turns the finished slices into a dataset that is ready to be published.
    ///
    /// The manifest names the files of all receipts; tables without files get an empty one here and are added to
    /// it, and those that the options leave out are named apart. Folder and manifest must then agree in every name, length, hash and row count.
    pub fn seal<I: Serialize>(
        self,
        manifest: Manifest<I>,
        options: &TableOptions,
    ) -> Result<Sealed, DatasetError> {
        let folder = Arc::clone(&self.data);
        let manifest = with_empty_tables(&self, manifest, options)?;
        if let Some(fault) = audit::files(&folder, &manifest)?.faults.first() {
            return Err(DatasetError::corrupt(folder.path(), fault));
        }
        let temp = Arc::clone(&self.temp);
        manifest.write(&folder, &temp)?;
        Ok(Sealed {
            destination: self.destination,
            home: self.home,
            root: self.root,
            fingerprint: self.fingerprint,
            folder,
            temp,
            replace: self.replace,
            _lock: self.lock,
        })
    }
}

/// Lists all tables that are written, in registry order, with a new file for each that has none, and names the others.
fn with_empty_tables<I>(
    staging: &Staging,
    mut manifest: Manifest<I>,
    options: &TableOptions,
) -> Result<Manifest<I>, DatasetError> {
    if let Some(unknown) = manifest
        .tables
        .iter()
        .find(|table| tables::find(&table.name).is_none())
    {
        return Err(DatasetError::corrupt(
            staging.data.path(),
            format!("the manifest lists an unknown table {}", unknown.name),
        ));
    }
    let given = std::mem::take(&mut manifest.tables);
    manifest.absent_tables.clear();
    for table in REGISTRY {
        let mut files: Vec<_> = given
            .iter()
            .filter(|entry| entry.name == table.name)
            .flat_map(|entry| entry.files.iter().cloned())
            .collect();
        if options.absent.contains(&table.name) {
            if let Some(file) = files.first() {
                let fault = format!("{} belongs to a table that is left out", file.path);
                return Err(DatasetError::corrupt(staging.data.path(), fault));
            }
            manifest.absent_tables.push(table.name.to_owned());
            continue;
        }
        if files.is_empty() {
            files.push((table.write_empty)(&staging.place(SliceId::default()), options)?.into());
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
        self.folder.path()
    }

    /// Writes one of the files that are derived from the tables and not certified ([`DERIVED`]).
    pub fn write_derived(&self, name: &str, bytes: &[u8]) -> Result<(), DatasetError> {
        derived::write(&self.folder, &self.temp, &[(name, bytes)])
    }

    /// Lets the dataset appear at the destination by one rename or, where an old one is replaced, one exchange.
    ///
    /// Returns notices: when the remains of the work cannot be removed, the dataset is complete all the same, and
    /// the next run removes them.
    pub fn publish(self) -> Result<Vec<String>, DatasetError> {
        self.folder.sync()?;
        self.destination.publish(&self.root, DATA, self.replace)?;
        Ok(match self.home.tidy(&self.fingerprint) {
            Ok(()) => Vec::new(),
            Err(error) => vec![format!(
                "the dataset is complete, but its staging stays behind: {error}"
            )],
        })
    }
}
