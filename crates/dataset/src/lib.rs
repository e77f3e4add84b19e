//! The dataset: Arrow schemas, Parquet parts, staging and commit, manifest and certification.
//!
//! Only this crate writes the output. Rows go into the columns of a [`PartSet`], value by value; its closed files and a receipt are what
//! *done* means; [`Staging::seal`] proves that folder and manifest agree; [`Sealed::publish`] makes the dataset appear
//! by one rename. It decides no column's value and reads no input.

pub mod overview;
pub mod rows;

mod account;
mod audit;
mod certify;
mod chunk;
mod column;
mod comparison;
mod derived;
mod describe;
mod destination;
mod disk;
mod error;
mod folder;
mod format;
mod free_table;
mod hashed;
mod interim;
mod key;
mod listed;
mod lot_manifests;
pub mod manifest;
mod memory;
mod memory_table;
mod options;
mod part;
mod parts;
mod read;
mod receipt;
mod row_group;
mod seal;
mod shared;
mod slice_id;
mod spill;
mod spread;
mod staging;
mod store;
mod table;
mod tables;
mod workplace;

pub use account::{InputRows, account_faults};
pub use certify::{Certificate, certify, has_traces_of_a_run, is_dataset};
pub use column::{Member, NestedValue, Shape};
pub use comparison::WriteBody;
pub use derived::{RECORD, write_derived};
pub use disk::{ReportFile, create_report};
pub use error::DatasetError;
pub use folder::{FileMeasure, Folder, FolderFile};
pub use format::FORMAT;
pub use free_table::{FreeCell, FreeKind, FreeTable};
pub use interim::Interim;
pub use key::Key;
pub use lot_manifests::LotManifests;
pub use manifest::{
    DERIVED, FILES_LISTED, InputEntry, Inputs, LotEntry, MANIFEST, Manifest, PROGRAM, PartEntry, SUCCESS,
    TableEntry, read_manifest,
};
pub use memory::{MemoryParts, table_schema};
pub use memory_table::{MemoryTable, TableBatches};
pub use options::{Compression, Partition, TableOptions};
pub use parts::PartFile;
pub use read::{
    Batch, Batches, Dataset, Elements, Flags, Numbers, PlaceLists, Reals, Spans, TextLists, Texts, Times,
};
pub use receipt::Receipt;
pub use seal::Sealed;
pub use shared::{LotOutcome, PlannedWork, planned_work};
pub use slice_id::SliceId;
pub use spill::{Spill, SpillFolder};
pub use spread::{Spread, SpreadTotals};
pub use staging::{Opening, Staging, open};
pub use store::{
    HISTORY, LatestLink, METRICS, NIGHT_DATASET, NIGHT_JSON, NIGHT_NOTE, NIGHTS_PAGE, NightFolder, NightName,
    NightStore, RecordBytes,
};
pub use tables::{ALWAYS_WRITTEN, PartSet, TABLES, absent_tables, describe};

#[cfg(test)]
mod tests;
