//! Calls and results.

mod ids;
mod metadata;
mod order;

use crate::build::calls;
use chatmill_model::Message;

/// An assistant message of this id with calls.
fn calls_of(id: &str, texts: &[&str]) -> Message {
    Message {
        id: Some(id.to_owned()),
        ..calls(texts)
    }
}
