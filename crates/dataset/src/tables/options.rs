//! The settings of the plan that concern files: encodings, compression, partitioning and tables.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parquet::compression::Compression;

/// The settings that all part files of a run share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// The encodings in plan order; each gives a column `tokens_<encoding>` in messages and renderings.
    pub encodings: Vec<String>,
    /// Compression of the pages.
    pub compression: Compression,
    /// The partitioning of the files of `renderings`.
    pub partition: Partition,
    /// The tables that are not written, in registry order: those that [`absent_tables`](crate::absent_tables) returns.
    pub absent: Vec<&'static str>,
}

/// The partitioning of the files of `renderings`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "PartitionSetting")]
pub enum Partition {
    /// All dialects of a conversation side by side: a third of the bytes, see `docs/performance.md`.
    #[default]
    None,
    /// A file per dialect, in folders `renderings/dialect=<id>/`.
    Dialect,
}
