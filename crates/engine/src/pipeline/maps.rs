//! Maps, which say where tables and records of any form have messages.

mod field_map;
mod table_map;

pub use field_map::FieldMapSection;
pub use table_map::TableMapSection;
pub(crate) use table_map::{SenderTableSection, TableNames};
