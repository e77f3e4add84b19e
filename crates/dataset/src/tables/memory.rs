//! A table in memory: the bytes of its files for one slice, and its rows as Arrow batches.
//!
//! The table is written like a file, column by column but without compression, and decoded batch by batch on request. A
//! row is therefore the same as in a dataset (docs/decisions/2026-11-23-in-memory-arrow-tables.md).

use std::path::Path;

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder as Builder;
use parquet::errors::Result;

use crate::error::{DatasetError, each_or_error};

/// The maximum number of rows in a batch.
const BATCH_ROWS: usize = 8192;

/// The rows of a table in one slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryTable {
    name: &'static str,
    files: Vec<Bytes>,
}

impl MemoryTable {
    pub(crate) fn new(name: &'static str, files: Vec<Bytes>) -> Self {
        Self { name, files }
    }

    /// The name of the table.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The rows of the table. Its memory is freed as its batches are read.
    pub fn into_batches(self) -> TableBatches {
        let batches = self
            .files
            .into_iter()
            .flat_map(|file| each_or_error(batches(file)));
        Box::new(batches.map(move |batch| {
            batch.map_err(|error| DatasetError::parquet("read", Path::new(self.name), error))
        }))
    }
}

/// The rows of a table, batch by batch.
pub type TableBatches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, DatasetError>> + Send>;

/// The batches of a file. No batch spans row groups, so that its text always fits into a column of strings.
fn batches(file: Bytes) -> Result<impl Iterator<Item = Result<RecordBatch>>> {
    let groups = 0..Builder::try_new(file.clone())?.metadata().num_row_groups();
    Ok(groups.flat_map(move |group| {
        let builder = Builder::try_new(file.clone()).map(|builder| builder.with_row_groups(vec![group]));
        let reader = builder.and_then(|builder| builder.with_batch_size(BATCH_ROWS).build());
        each_or_error(reader.map(|batches| batches.map(|batch| Ok(batch?))))
    }))
}
