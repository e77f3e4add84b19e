//! Writing the manifests of lots: the files of all slices come by in order, and none is kept in memory but while the manifest
//! lists it itself.

use std::io::{BufWriter, Write};
use std::sync::Arc;

use crate::disk::{self, Dir, DiskFile, FileMeasure, Hashed};
use crate::error::DatasetError;
use crate::manifest::{self, LOT_MANIFESTS, LotEntry, TableEntry, TableSums};
use crate::publish::work::staging::Staging;
use crate::tables::part_file::PartFile;
use crate::tables::slice_id::SliceId;

/// The manifests of the lots of a dataset that is being sealed.
pub struct LotManifests {
    folder: Dir,
    aside: Arc<Dir>,
    /// How many slices each lot has.
    slices: Vec<u32>,
    entries: Vec<LotEntry>,
    sums: TableSums,
    open: OpenLot,
}

/// The lot whose files come by.
struct OpenLot {
    lot: u32,
    name: String,
    out: Hashed<BufWriter<DiskFile>>,
    files: u64,
}

impl Staging {
    /// Begins to list the files of a dataset with so many slices in each lot.
    pub fn list_lots(&self, slices: Vec<u32>) -> Result<LotManifests, DatasetError> {
        let aside = Arc::clone(&self.temp);
        Ok(LotManifests {
            folder: self.data.make(LOT_MANIFESTS, disk::USUAL_FOLDER)?,
            slices,
            entries: Vec::new(),
            sums: TableSums::default(),
            open: OpenLot::create(&aside, 0)?,
            aside,
        })
    }
}

impl LotManifests {
    /// Adds the files of a slice. Slices come in order.
    pub fn add(&mut self, slice: SliceId, files: Vec<PartFile>) -> Result<(), DatasetError> {
        let has_it = self
            .slices
            .get(slice.lot as usize)
            .is_some_and(|slices| slice.slice < *slices);
        if !has_it || slice.lot < self.open.lot {
            let reason = format!("slice {slice} is none that was cut, or comes out of order");
            return Err(DatasetError::corrupt(self.folder.path(), reason));
        }
        while self.open.lot < slice.lot {
            self.next_lot()?;
        }
        self.write(files)
    }

    /// Whether a file of a table came by.
    pub(crate) fn has(&self, table: &str) -> bool {
        self.sums.has(table)
    }

    /// Ends the lots of slices, lists what belongs to none in a lot of its own, and gives the lots and the tables.
    pub(crate) fn finish(
        mut self,
        rest: Vec<PartFile>,
    ) -> Result<(Vec<LotEntry>, Vec<TableEntry>), DatasetError> {
        while (self.open.lot as usize) < self.slices.len() {
            self.next_lot()?;
        }
        self.write(rest)?;
        self.close_lot()?;
        self.folder.sync()?;
        Ok((self.entries, self.sums.entries()))
    }

    fn write(&mut self, mut files: Vec<PartFile>) -> Result<(), DatasetError> {
        files.sort_by_cached_key(manifest::order);
        for file in &files {
            if manifest::order(file).is_none() {
                let reason = format!("{} is no file of a table {}", file.path, file.table);
                return Err(DatasetError::corrupt(self.folder.path(), reason));
            }
            self.sums.add(file);
            let mut line = serde_json::to_vec(file)
                .map_err(|error| DatasetError::corrupt(self.folder.path(), error.to_string()))?;
            line.push(b'\n');
            self.open.files += 1;
            let written = self.open.out.write_all(&line);
            written.map_err(|source| DatasetError::io("write", &self.folder.at(&self.open.name), source))?;
        }
        Ok(())
    }

    fn next_lot(&mut self) -> Result<(), DatasetError> {
        self.close_lot()?;
        self.open = OpenLot::create(&self.aside, self.open.lot + 1)?;
        Ok(())
    }

    /// Lets the manifest of the open lot have its name. The folder is synced once, at the end.
    fn close_lot(&mut self) -> Result<(), DatasetError> {
        let open = &mut self.open;
        let name = manifest::lot_file_name(open.lot);
        let synced = open.out.flush().and_then(|()| open.out.inner.get_ref().sync());
        synced.map_err(|source| DatasetError::io("write", &self.folder.at(&name), source))?;
        self.aside.rename_only(&open.name, &self.folder, &name)?;
        let FileMeasure { bytes, hash } = FileMeasure::of(&open.out.hasher);
        self.entries.push(LotEntry {
            path: manifest::lot_path(open.lot),
            // What belongs to no slice is in a lot that has none.
            slices: self.slices.get(open.lot as usize).copied().unwrap_or_default(),
            files: open.files,
            bytes,
            hash,
        });
        Ok(())
    }
}

impl OpenLot {
    fn create(aside: &Dir, lot: u32) -> Result<Self, DatasetError> {
        let (name, file) = aside.create_aside(&manifest::lot_file_name(lot), disk::USUAL_FILE)?;
        Ok(Self {
            lot,
            name,
            out: Hashed::new(BufWriter::new(file)),
            files: 0,
        })
    }
}
