//! Formats as files: a TOML file gives the paths of all values in a record, and this module reads records according to it. A [`FormatFile`]
//! is a source like those in Rust: built-in ones are in the list of the crate, [`load`] parses files from outside, and [`mapped`] makes one
//! of a field map.
//!
//! | File | Holds |
//! |---|---|
//! | `language/` | the language of format files: tables, paths, conditions, texts, and the bound on their output |
//! | `check.rs`, `loaded.rs` | a parsed and checked format file |
//! | `read.rs`, `rows.rs`, `tree_messages.rs`, `order.rs`, `message/`, `piece.rs` | reading records, messages and their pieces |
//! | `request.rs` | records that are requests to a vendor's API |
//! | `field_map.rs` | field maps of pipeline files, as format files |
//! | `file.rs` | a format file as a source |
//!
//! Why: docs/decisions/2026-11-26-format-files.md.

mod check;
mod field_map;
mod file;
mod language;
mod loaded;
mod message;
mod order;
mod piece;
mod read;
mod request;
mod rows;
mod tree_messages;

#[cfg(test)]
mod tests;

pub use field_map::FieldMap;
pub(crate) use file::embedded;
pub use file::{FormatFile, load, mapped, recorded};
pub use language::path::MapPath;
pub use loaded::FormatError;

/// The JSON Schema of format files.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(language::Language)
}
