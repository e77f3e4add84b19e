//! Writes, publishes, certifies and reads datasets: Parquet tables with fixed Arrow schemas, and a manifest that lists
//! every file with its hash.
//!
//! The engine puts values into the columns of a [`PartSet`], the table files of one slice of the input. A slice is done
//! once its files are closed and its receipt is written. [`Staging::seal`] proves that the folder and its manifest
//! agree, and [`Sealed::publish`] lets the dataset appear at its destination by one rename. Exports, report files and
//! the store of nights use the same guarded file access. No other crate writes output files; this one decides no value
//! of a column and reads no input.

mod certify;
mod disk;
mod error;
mod manifest;
mod parquet;
mod publish;
mod read;
mod store;
mod tables;

pub use certify::account::{InputRows, account_problems};
pub use certify::{Certificate, certify, has_traces_of_a_run, is_dataset};
pub use disk::{FileMeasure, Spill, SpillFolder};
pub use error::DatasetError;
pub use manifest::{
    DERIVED, FORMAT, InputEntry, Inputs, MANIFEST, Manifest, PROGRAM, PartEntry, RECORD, ShardEntry, Spread,
    SpreadTotals, TableEntry, overview, read_manifest,
};
pub use parquet::column::{Member, NestedValue, Shape};
pub use parquet::compression::Compression;
pub use parquet::key::Key;
pub use publish::derived::write_derived;
pub use publish::folder::{Folder, FolderFile};
pub use publish::free_table::{FreeCell, FreeKind, FreeTable};
pub use publish::guard::{EXPORT_SUMMARY, OwnOutput, own_output};
pub use publish::report_file::{ReportFile, create_report};
pub use publish::temporary::TemporaryDataset;
pub use publish::work::comparison::WriteBody;
pub use publish::work::receipt::Receipt;
pub use publish::work::seal::Sealed;
pub use publish::work::shard_manifests::ShardManifests;
pub use publish::work::shared::{PlannedWork, ShardOutcome, planned_work};
pub use publish::work::staging::{Claim, DatasetParent, Opening, Staging, claim};
pub use read::statistics;
pub use read::{
    AnyColumn, Batch, Batches, ColumnKind, Columns, Components, Dataset, Elements, Flags, Numbers,
    PlaceLists, Reals, RowVisit, Rows, Spans, TextLists, Texts, Times,
};
pub use store::{
    LatestLink, METRICS, NIGHT_JSON, NIGHT_NOTE, NIGHTS_PAGE, NightName, NightStore, RecordBytes,
};
pub use tables::memory::{MemoryTable, TableBatches};
pub use tables::options::{Partition, TableOptions};
pub use tables::part_file::PartFile;
pub use tables::registry::{PartSet, TABLES, absent_tables, describe, table_schema};
pub use tables::slice_id::SliceId;

/// The row types of all tables, one struct per table; the fields have the names of the columns.
pub mod rows {
    pub use crate::tables::registry::{
        AlternativeRow, ConversationRow, FindingRow, LossRow, MessageRow, ParticipantCell, ReferenceRow,
        RejectRow, RenderingRow, TokenCountRow, ToolCallRow, TotalRow,
    };
}

#[cfg(test)]
mod tests;
