//! A table of one slice as the bytes of its files, and its rows as Arrow batches.

use std::path::Path;

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::error::DatasetError;

/// Rows of a batch at most.
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

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Its rows. The table goes as its batches are read.
    pub fn into_batches(self) -> TableBatches {
        TableBatches {
            name: self.name,
            files: self.files.into_iter(),
            open: None,
        }
    }
}

/// The rows of a table, batch by batch.
pub struct TableBatches {
    name: &'static str,
    files: std::vec::IntoIter<Bytes>,
    /// The file at hand, the row group that is next, and the one that is read.
    open: Option<OpenFile>,
}

struct OpenFile {
    bytes: Bytes,
    next_group: usize,
    groups: usize,
    /// A batch does not reach over row groups: the text of one always fits into a column of strings.
    reader: Option<ParquetRecordBatchReader>,
}

impl OpenFile {
    fn of(bytes: Bytes) -> parquet::errors::Result<Self> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes.clone())?;
        Ok(Self {
            groups: builder.metadata().num_row_groups(),
            bytes,
            next_group: 0,
            reader: None,
        })
    }

    fn next(&mut self) -> parquet::errors::Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.reader.as_mut().and_then(Iterator::next) {
                return Ok(Some(batch?));
            }
            if self.next_group == self.groups {
                return Ok(None);
            }
            let builder = ParquetRecordBatchReaderBuilder::try_new(self.bytes.clone())?;
            let group = builder.with_row_groups(vec![self.next_group]);
            self.reader = Some(group.with_batch_size(BATCH_ROWS).build()?);
            self.next_group += 1;
        }
    }
}

impl Iterator for TableBatches {
    type Item = Result<RecordBatch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.name;
        let failed = |error| Some(Err(DatasetError::parquet("read", Path::new(name), error)));
        loop {
            let open = match &mut self.open {
                Some(open) => open,
                none => match OpenFile::of(self.files.next()?) {
                    Ok(open) => none.insert(open),
                    Err(error) => return failed(error),
                },
            };
            match open.next() {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Ok(None) => self.open = None,
                Err(error) => return failed(error),
            }
        }
    }
}
