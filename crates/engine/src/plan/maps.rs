//! Resolved maps: where tables and records of any form have their messages.

pub(super) mod field_map;
pub(super) mod table_map;
