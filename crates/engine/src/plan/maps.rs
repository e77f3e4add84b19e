//! Resolves maps: sections of a pipeline file become the maps with which sources read tables and records.

pub(super) mod field_map;
pub(super) mod table_map;
