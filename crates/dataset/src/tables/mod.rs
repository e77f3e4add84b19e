//! The tables: which there are, which columns each has, and its part file in a slice, on disk or in memory.
//!
//! A table is declared in `registry`; everything else here treats all alike. The facts about a dataset's files are in its manifest.

mod describe;
pub(crate) mod listed;
pub(crate) mod memory;
pub(crate) mod options;
pub(crate) mod part;
pub(crate) mod part_file;
pub(crate) mod registry;
pub(crate) mod slice_id;
pub(crate) mod table;

pub(crate) use registry::{
    ALWAYS_WRITTEN, ConversationColumns, PartSet, REGISTRY, RejectColumns, TABLES, added, find,
};
