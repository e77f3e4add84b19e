//! Opens inputs and cuts them into records: discovery, archives, capped decompression, framing, and the JSON scan.
//!
//! An [`Input`] that discovery found goes into a [`Reader`], which returns events: entries, the byte range of each
//! record, separators and errors with their place. Readers of formats then walk the scanned JSON of a record. No other
//! crate opens inputs.
//!
//! Names in archives are labels and never paths, and nothing is extracted. Unreadable data is an event, never a panic.
//! This crate knows JSON but no chat format.

#![allow(clippy::disallowed_methods, reason = "this is the crate that opens files")]

mod access;
mod archive;
mod columnar;
mod database;
pub mod discover;
mod division;
mod event;
mod foreign;
mod frame;
pub mod json;
mod memory;
mod reader;
mod sketch;
mod sniff;
mod stream;
pub mod table;
mod unpack;

pub use access::{Failure, is_of_the_system, process_status};
pub use discover::{DiscoverError, Input, InputKind, content_hash, discover, read_small};
pub use division::{Division, LineRange, divide};
pub use event::{ErrorContext, Event, Form, Frame, Framing, FramingError, Head, Place, TableName};
pub use foreign::{foreign, may_contain_text};
pub use frame::dated::plain_digit;
pub use frame::text::FramedText;
pub use memory::{MemoryBytes, MemoryForm, MemoryInput};
pub use reader::Reader;
pub use sketch::{Name, RecordSketch, Sketch};
pub use table::copy::CopiedLine;

#[cfg(test)]
mod tests;
