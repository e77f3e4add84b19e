//! Formats that are files: a TOML file says where in a record everything stands, and this reads records by it.
//!
//! | File | Holds |
//! |---|---|
//! | `language.rs`, `condition.rs`, `template.rs`, `path.rs`, `several.rs` | what may be written in a format file |
//! | `check.rs`, `loaded.rs` | a format file that was read |
//! | `read.rs`, `rows.rs`, `order.rs`, `message.rs`, `amended.rs`, `piece.rs` | records, messages and their pieces, read by it |
//! | `request.rs` | records that are requests to a vendor's API |
//! | `file.rs` | a format file as a source |
//!
//! Why: docs/decisions/2026-11-26-a-format-is-a-file.md.

mod amended;
mod below;
mod check;
mod condition;
mod file;
mod language;
mod loaded;
mod message;
mod order;
mod others;
mod path;
mod piece;
mod read;
mod request;
mod rows;
mod several;
mod template;

pub use file::{FormatFile, load, recorded};
pub use loaded::FormatFault;
pub use path::MapPath;

/// The JSON Schema of format files.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(language::Language)
}
