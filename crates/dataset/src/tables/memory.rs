//! Tables that nobody writes to a disk: the parts of a slice in memory, and their rows as Arrow batches.
//!
//! They are filled as files are, column by column and without compression, and decoded batch by batch when somebody asks: so a
//! row is the same whether it comes out of a dataset or out of here (docs/decisions/2026-11-23-tables-without-a-dataset.md).

use arrow_schema::SchemaRef;

use crate::error::DatasetError;
use crate::parquet::compression::Compression;
use crate::tables::memory_table::MemoryTable;
use crate::tables::options::TableOptions;
use crate::tables::part::Medium;
use crate::tables::registry::{self, PartSet};

/// The parts of a slice, in memory.
pub struct MemoryParts(PartSet);

impl MemoryParts {
    /// An empty set. Whatever the options say, nothing is compressed.
    pub fn new(options: &TableOptions) -> Self {
        let options = TableOptions {
            compression: Compression::None,
            ..options.clone()
        };
        Self(PartSet::new(Medium::Memory, options))
    }

    /// Where rows go.
    pub fn set(&mut self) -> &mut PartSet {
        &mut self.0
    }

    /// Finishes the tables, in the order of the registry; those without rows are empty.
    pub fn close(self) -> Result<Vec<MemoryTable>, DatasetError> {
        self.0.read_back()
    }
}

/// The Arrow schema of a table in a plan with these encodings; none where there is no table of that name.
pub fn table_schema(table: &str, encodings: &[String]) -> Option<SchemaRef> {
    registry::find(table).map(|table| (table.schema)(encodings))
}
