//! Resolves maps: sections of a pipeline file become the maps with which sources read tables and records.
//!
//! `table_map` is for rows of databases and dumps: which table has messages, and what its columns mean. `field_map` is
//! for JSON records of any form: the paths of messages and of their fields. `inputs` calls `choose` for each section.

pub(super) mod field_map;
pub(super) mod table_map;
