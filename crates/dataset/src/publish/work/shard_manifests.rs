//! Writes the manifests of shards. The files of all slices arrive in order, and an entry is kept in memory only until
//! the manifest that lists it is written.

use std::io::{BufWriter, Write};
use std::sync::Arc;

use crate::disk::{self, Dir, DiskFile, FileMeasure, Hashed};
use crate::error::DatasetError;
use crate::manifest::{self, SHARD_MANIFESTS, ShardEntry, TableEntry, TableSums};
use crate::publish::work::staging::Staging;
use crate::tables::part_file::PartFile;
use crate::tables::slice_id::SliceId;

/// The manifests of the shards of a dataset that is being sealed.
pub struct ShardManifests {
    folder: Dir,
    temp: Arc<Dir>,
    /// The number of slices in each shard.
    slices: Vec<u32>,
    entries: Vec<ShardEntry>,
    sums: TableSums,
    open: OpenShard,
}

/// The shard to which the arriving files belong.
struct OpenShard {
    shard: u32,
    name: String,
    out: Hashed<BufWriter<DiskFile>>,
    files: u64,
}

impl Staging {
    /// Begins to list the files of a dataset; `slices` is the number of slices in each shard.
    pub fn list_shards(&self, slices: Vec<u32>) -> Result<ShardManifests, DatasetError> {
        let temp = Arc::clone(&self.temp);
        Ok(ShardManifests {
            folder: self.data.make(SHARD_MANIFESTS, disk::USUAL_FOLDER)?,
            slices,
            entries: Vec::new(),
            sums: TableSums::default(),
            open: OpenShard::create(&temp, 0)?,
            temp,
        })
    }
}

impl ShardManifests {
    /// Adds the files of a slice. The slices must come in order.
    pub fn add(&mut self, slice: SliceId, files: Vec<PartFile>) -> Result<(), DatasetError> {
        let has_it = self
            .slices
            .get(slice.shard as usize)
            .is_some_and(|slices| slice.slice < *slices);
        if !has_it || slice.shard < self.open.shard {
            let reason = format!("slice {slice} is not in the plan, or comes out of order");
            return Err(DatasetError::corrupt(self.folder.path(), reason));
        }
        while self.open.shard < slice.shard {
            self.next_shard()?;
        }
        self.write(files)
    }

    /// Whether a file of this table was added.
    pub(crate) fn has(&self, table: &str) -> bool {
        self.sums.has(table)
    }

    /// Closes the last shard, lists the files that belong to no slice in a separate shard, and returns the shards and the tables.
    pub(crate) fn finish(
        mut self,
        rest: Vec<PartFile>,
    ) -> Result<(Vec<ShardEntry>, Vec<TableEntry>), DatasetError> {
        while (self.open.shard as usize) < self.slices.len() {
            self.next_shard()?;
        }
        self.write(rest)?;
        self.close_shard()?;
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

    fn next_shard(&mut self) -> Result<(), DatasetError> {
        self.close_shard()?;
        self.open = OpenShard::create(&self.temp, self.open.shard + 1)?;
        Ok(())
    }

    /// Gives the manifest of the open shard its name. The folder is synced once, at the end.
    fn close_shard(&mut self) -> Result<(), DatasetError> {
        let open = &mut self.open;
        let name = manifest::shard_file_name(open.shard);
        let synced = open.out.flush().and_then(|()| open.out.inner.get_ref().sync());
        synced.map_err(|source| DatasetError::io("write", &self.folder.at(&name), source))?;
        self.temp.rename_only(&open.name, &self.folder, &name)?;
        let FileMeasure { bytes, hash } = FileMeasure::of(&open.out.hasher);
        self.entries.push(ShardEntry {
            path: manifest::shard_path(open.shard),
            // Files that belong to no slice are in a shard without slices.
            slices: self.slices.get(open.shard as usize).copied().unwrap_or_default(),
            files: open.files,
            bytes,
            hash,
        });
        Ok(())
    }
}

impl OpenShard {
    fn create(temp: &Dir, shard: u32) -> Result<Self, DatasetError> {
        let (name, file) = temp.create_temp(&manifest::shard_file_name(shard), disk::USUAL_FILE)?;
        Ok(Self {
            shard,
            name,
            out: Hashed::new(BufWriter::new(file)),
            files: 0,
        })
    }
}
