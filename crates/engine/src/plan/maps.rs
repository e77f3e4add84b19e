//! Maps, which say where tables and records of any form have messages, resolved.

pub(super) mod field_map;
pub(super) mod table_map;
