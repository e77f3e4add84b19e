//! The only crate that opens inputs: discovery, archives, capped decompression, framing, and the JSON pre-scan.
//!
//! Names found in archives are labels and never paths; nothing is extracted. What cannot be read becomes an event
//! with its place, never a panic. It knows JSON, but no chat format.

#![allow(clippy::disallowed_methods, reason = "this is the crate that opens files")]

mod archive;
mod columnar;
mod database;
pub mod discover;
mod door;
mod event;
mod foreign;
mod frame;
pub mod json;
mod memory;
mod reader;
mod sketch;
mod sniff;
mod stream;
mod stretch;
pub mod table;
mod unpack;

pub use discover::{DiscoverError, Input, InputKind, content_hash, discover, read_small};
pub use door::{Failure, is_of_the_system, process_status};
pub use event::{Event, FaultBytes, Form, Frame, Framing, FramingError, Head, Place};
pub use foreign::{foreign, may_hold_words};
pub use frame::text::FramedText;
pub use memory::{Held, HeldBytes, HeldForm};
pub use reader::Reader;
pub use sketch::{Name, RecordSketch, Sketch};
pub use stretch::{Division, Stretch, divide};
pub use table::copy::CopiedLine;

#[cfg(test)]
mod tests;
