//! Byte-pair encoding: what merges are, and how the pieces of a text are merged into tokens.
//!
//! Where texts are cut into pieces is not known here, nor where a vocabulary comes from.

pub(crate) mod merge;
mod merge_table;
pub(crate) mod merges;
pub(crate) mod model;
mod pairs;
pub(crate) mod reached;
pub(crate) mod symbols;
pub(crate) mod tables;
pub(crate) mod vocabulary;
