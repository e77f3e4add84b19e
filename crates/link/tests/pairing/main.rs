//! Calls and results.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

#[path = "../build/mod.rs"]
mod build;
mod ids;
mod metadata;
mod order;

use build::calls;
use chatmill_model::Message;

/// An assistant message of this id with calls.
fn calls_of(id: &str, texts: &[&str]) -> Message {
    Message {
        id: Some(id.to_owned()),
        ..calls(texts)
    }
}
