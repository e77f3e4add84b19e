//! Writes Parquet: rows go into columns, their values into pages, pages into row groups.
//!
//! This module knows neither the tables nor the meaning of columns, and it opens and reads no files; `tables` and
//! `publish` call it.

pub(crate) mod chunk;
pub(crate) mod column;
pub(crate) mod compression;
pub(crate) mod key;
pub(crate) mod row_group;
