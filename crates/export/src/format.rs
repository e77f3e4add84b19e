//! The file formats of an export.

use serde::Serialize;

/// The file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One JSON value for each line.
    Jsonl,
    /// A table with columns.
    Parquet,
    /// A page for each rendering in Markdown, with an index.
    Markdown,
}

impl Format {
    /// The extension of a file's name.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Markdown => "md",
        }
    }
}
