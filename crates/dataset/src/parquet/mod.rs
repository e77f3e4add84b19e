//! Parquet as this program writes it: rows go into columns, their values into pages, pages into row groups.
//!
//! This module knows neither tables nor the meaning of columns; it opens and reads no file.

pub(crate) mod chunk;
pub(crate) mod column;
pub(crate) mod compression;
pub(crate) mod key;
pub(crate) mod row_group;
