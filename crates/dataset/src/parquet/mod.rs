//! Parquet as this program writes it: rows go into columns, their values into pages, pages into row groups.
//!
//! What a column means, and which table it is of, is not known here; nothing is opened, and nothing is read back.

pub(crate) mod chunk;
pub(crate) mod column;
pub(crate) mod compression;
pub(crate) mod key;
pub(crate) mod row_group;
