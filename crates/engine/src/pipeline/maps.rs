//! Maps: settings that describe which tables, columns and fields contain messages.

mod field_map;
mod table_map;

pub use field_map::FieldMapSection;
pub use table_map::TableMapSection;
pub(crate) use table_map::{SenderTableSection, TableNames};
