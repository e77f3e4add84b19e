//! Resolves maps: the sections of a pipeline file become the maps that sources read tables and records by.

pub(super) mod field_map;
pub(super) mod table_map;
