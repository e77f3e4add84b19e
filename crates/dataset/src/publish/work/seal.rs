//! The last steps from finished slices to a published dataset: empty tables, manifest, marker, derived files, one rename.

use std::path::Path;

use serde::Serialize;

use crate::certify::audit;
use crate::error::DatasetError;
use crate::manifest::Manifest;
use crate::publish::derived;
use crate::publish::work::names::DATA;
use crate::publish::work::shard_manifests::ShardManifests;
use crate::publish::work::staging::Staging;
use crate::tables::REGISTRY;
use crate::tables::options::TableOptions;
use crate::tables::part;
use crate::tables::part_file::PartFile;
use crate::tables::slice_id::SliceId;

/// A complete dataset in staging that still lacks its derived files and its name.
#[derive(Debug)]
pub struct Sealed(Staging);

impl Staging {
    /// Turns the finished slices into a dataset that is ready to be published.
    ///
    /// `shards` lists the files of all receipts; `rest` are the files that belong to no slice. A table without files
    /// gets an empty one here, and the tables that the options leave out are listed as absent. Folder and manifests
    /// must then agree in every name, length, hash and row count.
    pub fn seal<I: Serialize>(
        self,
        mut manifest: Manifest<I>,
        shards: ShardManifests,
        mut rest: Vec<PartFile>,
        options: &TableOptions,
    ) -> Result<Sealed, DatasetError> {
        let is_written = |table: &&str| !options.absent.contains(table);
        let names = REGISTRY.iter().map(|table| table.name);
        manifest.absent_tables = names
            .filter(|table| !is_written(table))
            .map(str::to_owned)
            .collect();
        let (place, mut empty) = (self.place(SliceId::default()), Vec::new());
        for table in REGISTRY {
            let has_files = shards.has(table.name) || rest.iter().any(|file| file.table == table.name);
            if is_written(&table.name) && !has_files {
                empty.push((table.write_empty)(&place, options)?);
            }
        }
        rest.extend(part::finish(empty, &place)?);
        (manifest.shards, manifest.tables) = shards.finish(rest)?;
        if let Some(table) = manifest
            .tables
            .iter()
            .find(|table| !is_written(&table.name.as_str()))
        {
            let problem = format!("{} belongs to a table that is left out", table.folders.join(", "));
            return Err(DatasetError::corrupt(self.data.path(), problem));
        }
        let audit = audit::files(&self.data, &manifest)?;
        if let Some(problem) = audit.problems.first().or(audit.strangers.first()) {
            return Err(DatasetError::corrupt(self.data.path(), problem));
        }
        manifest.write(&self.data, &self.temp)?;
        Ok(Sealed(self))
    }
}

impl Sealed {
    /// The folder that holds the dataset until it is published.
    pub fn folder(&self) -> &Path {
        self.0.data.path()
    }

    /// Writes one of the files that are derived from the tables and not certified (`DERIVED`).
    pub fn write_derived(&self, name: &str, bytes: &[u8]) -> Result<(), DatasetError> {
        derived::write(&self.0.data, &self.0.temp, &[(name, bytes)])
    }

    /// Publishes the dataset at its destination by one rename or, where an old one is replaced, one exchange.
    ///
    /// Returns notices. If the remains of the work cannot be removed, the dataset is nevertheless complete, and the
    /// next run removes them.
    pub fn publish(self) -> Result<Vec<String>, DatasetError> {
        let staging = self.0;
        staging.data.sync()?;
        staging
            .destination
            .publish(&staging.root, DATA, staging.replace)?;
        Ok(match staging.work_dir.tidy(&staging.fingerprint) {
            Ok(()) => Vec::new(),
            Err(error) => vec![format!(
                "the dataset is complete, but its staging folder could not be removed: {error}"
            )],
        })
    }
}
