//! The tables of a dataset: their columns, and the part file of each table in a slice, on disk or in memory. The engine
//! pushes rows into a `PartSet`, which returns closed part files.
//!
//! Each table is declared in `registry`; everything else here treats all tables alike. The facts about the files of a
//! dataset are in its manifest.

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
